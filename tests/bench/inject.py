"""What an exact injection saves, and whether the answer is the one the engine's own cache would have given.

    python -m tests.bench.inject [--models qwen,gemma] [--prompts 20] [--data DIR]

ttft       time to first token / full prefill, at 256, 1,024 and 2,048 tokens (and 8), pair by pair; and over a
           prefix-cache hit of the same prompt (`vs_prefix_cache_hit`, of which 1 is the best there can be)
identical  real prompts, 64 greedy tokens (--answer): injected against a prefix-cache hit, before and after the engine
           is restarted
capture    what capturing adds to a request, on and off in turn: its time and, steadier, the engine's processor time

The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import httpx
import psutil
from rich.console import Console

from deploy.setup.engine import Engine, ensure
from deploy.vllm.launch import Launch
from tests.bench import docs
from tests.bench.client import Answer, Client, client
from tests.bench.prompts import FEW_BLOCKS, framed, opening, worn_in

console = Console(highlight=False)

LENGTHS = (256, 1024, 2048)
TAIL = 8  # tokens beyond whole blocks, so that a cache hit and an injection have the same left to compute
SALT = "bench"


class Bench:
    """One engine under measurement."""

    def __init__(self, engine: Client, url: str, pid: int | None) -> None:
        self.engine, self._url, self._pid = engine, url, pid

    def forget(self) -> None:
        """Empty the engine's own prefix cache, so that only the pool can help."""
        httpx.post(f"{self._url}/reset_prefix_cache", trust_env=False).raise_for_status()

    def captured(self, prompt: Sequence[int]) -> tuple[str, Answer]:
        name = secrets.token_hex(8)
        answer = self.engine.ask(prompt, retrace={"capture": name}, salt=SALT)
        self.engine.keep(name)
        return name, answer

    def injected(self, prompt: Sequence[int], donor: str, tokens: int = 1) -> Answer:
        self.forget()
        answer = self.engine.ask(prompt, max_tokens=tokens, retrace={"donor": donor, "mode": "prefix"}, salt=SALT)
        if answer.retrace.get("mode") != "prefix":
            raise SystemExit(f"the engine did not inject: {answer.retrace}")
        return answer

    def ttft(self, prompts: Sequence[Sequence[int]]) -> dict[str, float]:
        """Medians over prompts of one length."""
        ratios: dict[str, list[float]] = defaultdict(list)
        for number, prompt in enumerate(prompts):
            full = self.engine.ask(prompt, salt=secrets.token_hex(8)).seconds
            donor, _ = self.captured(prompt)
            first = self.engine.ask(prompt, salt=SALT).seconds  # whoever comes second finds the processor warm
            ours = self.injected(prompt, donor).seconds
            hit = first if number % 2 else self.engine.ask(prompt, salt=SALT).seconds
            ratios["ratio"].append(ours / full)
            ratios["vs_hit"].append(ours / hit)
            ratios["full"].append(full)
            self.engine.drop(donor)
        return {name: statistics.median(values) for name, values in ratios.items()}

    def identical(self, prompts: Sequence[Sequence[int]], donors: Sequence[str], tokens: int) -> int:
        """How many answers are token by token those of a prefix-cache hit."""
        same = 0
        for prompt, donor in zip(prompts, donors, strict=True):
            ours = self.injected(prompt, donor, tokens)
            hit = self.engine.ask(prompt, max_tokens=tokens, salt=SALT)
            same += ours.ids == hit.ids
        return same

    def capture_cost(self, prompts: Sequence[Sequence[int]]) -> dict[str, float]:
        """Capturing over not capturing, each prompt both ways, the order turned round each time."""
        spent: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for number, prompt in enumerate(prompts):
            for captures in (True, False) if number % 2 else (False, True):
                asked = {"capture": secrets.token_hex(8)} if captures else None
                before = self._processor()
                answer = self.engine.ask(prompt, retrace=asked, salt=secrets.token_hex(8))
                spent[captures].append((answer.seconds, self._processor() - before))
        ratios = [[on[part] / off[part] for on, off in zip(spent[True], spent[False], strict=True)] for part in (0, 1)]
        return {"time": statistics.median(ratios[0]), "cpu": statistics.median(ratios[1])}

    def _processor(self) -> float:
        """Processor seconds of the engine's processes so far."""
        if self._pid is None:
            return float("nan")
        whole = psutil.Process(self._pid)
        times = [process.cpu_times() for process in (whole, *whole.children(recursive=True))]
        return sum(used.user + used.system for used in times)


def prompts(made: Client, options: argparse.Namespace, length: int, count: int, *, chat: bool) -> list[list[int]]:
    """Real documents with their questions, zh and en in turn, as prompts of just `length` tokens."""
    out: list[list[int]] = []
    sources = [iter(docs.load(options.data, lang, least=length)) for lang in ("zh", "en")]
    while len(out) < count:
        doc = next(sources[len(out) % 2])
        question = made.tokenize("\n\n" + doc.questions[0], special=False)[:40]
        head = opening(made, doc.lang, 24, len(out))
        room = length - len(framed(made, head, (), question, chat=chat))
        body = made.tokenize(doc.text, special=False)
        if len(body) >= room:
            out.append(framed(made, head, body[:room], question, chat=chat))
    return out


def measured(engine: Engine, launch: Launch, options: argparse.Namespace) -> dict[str, Any]:
    """All of one model; the engine is restarted in between."""
    chat = launch.served == "qwen"
    out: dict[str, Any] = {}
    with client(engine.url, launch.served) as made:
        bench = Bench(made, engine.url, engine.pid)
        worn_in(made)
        for length in LENGTHS:
            told = bench.ttft(prompts(made, options, length + TAIL, options.rounds, chat=chat))
            console.print(f"  {launch.served} {length} tokens: {told}")
            out[f"ttft_ratio_{length}"] = round(told["ratio"], 4)
            out[f"vs_prefix_cache_hit_{length}"] = round(told["vs_hit"], 4)
            out[f"full_seconds_{length}"] = round(told["full"], 3)
        out["vs_prefix_cache_hit"] = max(out[f"vs_prefix_cache_hit_{length}"] for length in LENGTHS)
        cost = bench.capture_cost(prompts(made, options, 1024, options.rounds * 6, chat=chat))
        out["capture_time_ratio"], out["capture_cpu_ratio"] = round(cost["time"], 4), round(cost["cpu"], 4)
        asked = prompts(made, options, 600, options.prompts, chat=chat)
        donors = [bench.captured(prompt)[0] for prompt in asked]
        before = bench.identical(asked, donors, options.answer)
    console.print(f"  {launch.served}: {before} of {len(asked)} identical; now restarting the engine")
    engine.stop()
    again = ensure(wanted=launch)
    with client(again.url, launch.served) as made:
        some = options.after or len(asked)
        after = Bench(made, again.url, again.pid).identical(asked[:some], donors[:some], options.answer)
    again.stop()
    out["identical_to_prefix_cache_hit"] = f"{before}/{len(asked)}"
    out["identical_after_restart"] = f"{after}/{some}"
    out["answer_tokens"] = options.answer
    return out


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.inject", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--models", default="qwen,gemma", help="which of our models, separated by commas")
    made.add_argument("--prompts", type=int, default=20, help="real prompts that must be identical (default: 20)")
    made.add_argument("--answer", type=int, default=64, help="greedy tokens to compare (default: 64)")
    made.add_argument("--after", type=int, default=0, help="prompts after the restart (default: all)")
    made.add_argument("--rounds", type=int, default=5, help="pairs a length (default: 5)")
    docs.add_option(made)
    options = made.parse_args()
    began, out = time.monotonic(), dict[str, Any]()
    names = options.models.split(",")
    for name in names:
        launch = Launch(model=name, served=name, flags=FEW_BLOCKS[name], env={"VLLM_SERVER_DEV_MODE": "1"})
        engine = ensure(wanted=launch, replace=True)
        try:
            out[name] = measured(engine, launch, options)
        finally:
            engine.stop()
    figures = [f"ttft_ratio_{length}" for length in LENGTHS]
    worst = {figure: max(out[name][figure] for name in names) for figure in (*figures, "vs_prefix_cache_hit")}
    rows = [out[name][row].split("/") for name in names for row in SAME]
    worst["identical_to_prefix_cache_hit"] = f"{sum(int(same) for same, _ in rows)}/{sum(int(of) for _, of in rows)}"
    print(json.dumps(out | worst | {"minutes": round((time.monotonic() - began) / 60, 1)}))


SAME = ("identical_to_prefix_cache_hit", "identical_after_restart")

if __name__ == "__main__":
    try:
        main()
    except docs.NoData as missing:
        raise SystemExit(str(missing)) from None
