"""What refining costs and what it holds: the classifier's time, the tail of an answer, an outage, the real engine.

    python -m tests.bench.refine [--data DIR] [--parts classifier,cache,quiet,down,engine]

classifier  milliseconds for 128 tokens, one text a call, one thread                                    assessing.py
cache       readings that are served again in other words, and those that must never be                 recalled.py
quiet       what refining adds to a streamed answer that needs none, pair by pair                       untriggered.py
down        the reader is killed under load and comes back: failed, tagged, seconds to the first correction  outage.py
engine      a real model reads its own answers: cached share of the prompt, time over the plain answer's  reread.py

The first four need a quiet machine; `engine` starts the engine if none runs. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from deploy.setup.engine import ensure
from tests.bench import assessing, docs, outage, recalled, reread, untriggered

Part = Callable[[argparse.Namespace], dict[str, Any]]


def _engine(options: argparse.Namespace) -> dict[str, Any]:
    engine = ensure(replace=True)
    try:
        return asyncio.run(reread.measured(engine, options.data, options.prompts, options.skip))
    finally:
        if engine.started_by_us:
            engine.stop()


PARTS: Mapping[str, Part] = {
    "classifier": lambda options: assessing.measured(rounds=options.calls),
    "cache": lambda _: recalled.measured(),
    "quiet": lambda options: asyncio.run(untriggered.measured(options.rounds)),
    "down": lambda _: asyncio.run(outage.measured()),
    "engine": _engine,
}


def named(text: str) -> list[str]:
    """The parts that a list names; ArgumentTypeError tells which there are."""
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return names


def main() -> None:
    """Run the parts in order."""
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.refine", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--parts", type=named, default=list(PARTS), help=f"of {','.join(PARTS)} (default: all)")
    made.add_argument("--calls", type=int, default=100, help="classifier: calls a text (default: 100)")
    made.add_argument("--rounds", type=int, default=8, help="quiet: pairs an answer (default: 8, of 8 answers)")
    made.add_argument("--prompts", type=int, default=20, help="engine: prompts (default: 20)")
    made.add_argument("--skip", type=int, default=0, help="engine: less so many first, to measure in pieces")
    docs.add_option(made)
    options = made.parse_args()
    began, out = time.monotonic(), dict[str, Any]()
    for name in options.parts:
        out |= PARTS[name](options)
    print(json.dumps(out | {"minutes": round((time.monotonic() - began) / 60, 1)}, ensure_ascii=False))


if __name__ == "__main__":
    main()
