"""One stream repaired as its client sees it, with the seconds at which it came; first in Chinese, then in English.

    python -m tests.bench.rewound

The engine is asked directly what it would say; a word from the middle of that becomes a rule. The same request then
goes through the gateway: what arrives, when, and where the answer left the draft. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import aiohttp
from rich.console import Console

from deploy.setup.engine import Engine, ensure
from deploy.vllm.launch import Launch
from tests.bench.rewind import gateway
from tests.bench.rewind_contenders import Places, drafted, events, finish, said
from tests.bench.rewind_drafts import Ask, Breach, Draft, asks, breach_at, found

console = Console(highlight=False, markup=False, stderr=True, width=110)

STEP = 0.5  # seconds of a stream that stand in one line
MIDDLE = 0.5  # of the draft, where the word is looked for
SHOWN = 40  # characters of the draft on either side of the word


class Heard(NamedTuple):
    """What the client was told: pieces with their seconds, how it ended, and the usage."""

    pieces: list[tuple[float, str]]
    finish: str
    usage: dict[str, Any]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


def common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def lines(pieces: Sequence[tuple[float, str]], parts: int, step: float = STEP) -> Iterator[tuple[float, str, bool]]:
    """Pieces gathered to lines of `step` seconds: when each began, its text, and whether it is the first piece that
    does not belong to the first `parts` characters."""
    line, began, length, turned = "", 0.0, 0, False
    for at, text in pieces:
        turns = not turned and length + len(text) > parts
        if line and (turns or at - began >= step):
            yield began, line, False
            line = ""
        if turns:
            turned = True
            yield at, text, True
        else:
            began = began if line else at
            line += text
        length += len(text)
    if line:
        yield began, line, False


async def heard(places: Places, ask: Ask, breach: Breach) -> Heard:
    """The request through the gateway."""
    pieces, end, usage = list[tuple[float, str]](), "", dict[str, Any]()
    async for at, event in events(places.http, places.gateway, ask.body(), breach.tenant):
        pieces += [(at, text)] if (text := said(event)) else []
        end, usage = end or finish(event), event.get("usage") or usage
    return Heard(pieces, end, usage)


def shown(ask: Ask, draft: Draft, breach: Breach, told: Heard) -> dict[str, Any]:
    """The transcript; its figures."""
    at = draft.text.index(breach.word)
    near = draft.text[max(at - SHOWN, 0) : at], draft.text[at + len(breach.word) :][:SHOWN]
    console.print(f"\n> {ask.messages[-1]['content']}")
    console.print(f"  the rule: never say “{breach.word}”   the draft: ... {near[0]}[{breach.word}]{near[1]} ...")
    same, before, gap = common(draft.text, told.text), 0.0, 0.0
    for seconds, text, turns in lines(told.pieces, same):
        if turns:
            gap = seconds - max(when for when, _ in told.pieces if when < seconds)
            console.print(f"          cut back to here, and on; nothing came for {1000 * gap:.0f} ms")
        before = seconds
        console.print(f"{before:7.2f} s  {text.strip()}")
    console.print(f"  {told.finish}, {told.usage.get('completion_tokens')} tokens, {told.usage.get('retrace')}")
    return {"word": breach.word, "gap_ms": round(1000 * gap), "seconds": round(told.pieces[-1][0], 2)} | {
        "clean": found(breach.lanes, told.text) is None,
        "attempts": told.usage.get("retrace", {}).get("attempts", 1),
    }


async def story(engine: Engine) -> dict[str, Any]:
    """Both languages."""
    out = dict[str, Any]()
    async with aiohttp.ClientSession() as http:
        direct = Places(http, engine.url)
        for ask in asks(2):
            draft = await drafted(direct, ask)
            breach = breach_at(draft, MIDDLE, "story")
            if breach is None:
                raise SystemExit(f"no word of the draft can be forbidden: {draft.text!r}")
            async with gateway(engine, [breach.ruled()], [breach.tenant]) as url:
                places = direct._replace(gateway=url)
                await heard(places, ask._replace(messages=ask.messages[-1:]), breach)  # the first pays for connections
                out[ask.lang] = shown(ask, draft, breach, await heard(places, ask, breach))
    return out


def main() -> None:
    """Tell it, and stop the engine if it was started for this."""
    engine = ensure(None, Launch(env={"OMP_NUM_THREADS": "1"}), replace=True)
    try:
        out = asyncio.run(story(engine))
    finally:
        if engine.started_by_us:
            engine.stop()
    print(json.dumps(out, ensure_ascii=False))


if __name__ == "__main__":
    main()
