"""What rewinding costs an answer that breaks no rule: the time to its first piece, and what is held back on the way.

Times to first piece are those of a gateway with rewinding rules beside the plainest proxy (bare.py), before the same
engine, pair by pair. What anchors hold back is told by the gateway's own window (gateway.anchored), fed with streams of
the engine piece by piece at the times at which they came.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, NamedTuple

import numpy as np

from gateway import workers
from gateway.anchored import Anchored
from gateway.anchors import AnchorSpec
from gateway.judge import Judge, Lane
from gateway.plug import plugs
from gateway.rules import Place, Rule
from gateway.types import Side
from tests.bench import bare
from tests.bench.rewind_contenders import Places, events, said
from tests.bench.rewind_drafts import MODEL, Ask, Draft

FIRST = 6  # tokens of an answer whose first piece is timed
# What no answer here says. Whole words and beginnings of what is said: so that text must wait for its next word, too.
WORDS = ("guaranteed profit", "risk-free return", "the bank promises", "稳赚不赔", "保本保息", "绝对安全", "内部消息")
RULE: dict[str, Any] = {
    "id": "promises",
    "side": "output",
    "check": {"type": "words", "words": list(WORDS)},
    "action": "rewind",
    "reason": "R101",
}


class First(NamedTuple):
    """Seconds to the first event of an answer, and to the first that says something."""

    ask: str
    event: Mapping[str, float]
    text: Mapping[str, float]


class Held(NamedTuple):
    """Of each step the characters that wait behind it; of each character the milliseconds for which it waited."""

    chars: list[int]
    waits: list[float]

    def figures(self, name: str) -> dict[str, float]:
        """Median and 90th percentile of the characters, mean and 90th percentile of the milliseconds."""
        return {
            f"held_chars_{name}": round(float(np.median(self.chars)), 1),
            f"held_chars_{name}_p90": round(float(np.quantile(self.chars, 0.9)), 1),
            f"held_ms_{name}": round(float(np.mean(self.waits)), 1),
            f"held_ms_{name}_p90": round(float(np.quantile(self.waits, 0.9)), 1),
        }


@contextmanager
def plain_proxy(url: str) -> Iterator[str]:
    """A bare proxy in a process of its own: its address."""
    sock = workers.bound("127.0.0.1", 0)
    child = multiprocessing.get_context("spawn").Process(target=bare.run, args=(sock, url), daemon=True)
    child.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        child.terminate()
        child.join()


async def pair(places: Places, proxy: str, ask: Ask, number: int) -> First:
    """One request by both ways, in an order that changes; each with a first line of its own, so that it is cached for
    neither."""
    ways = {"gateway": places.gateway, "bare": proxy}
    event, text = dict[str, float](), dict[str, float]()
    for place, name in enumerate(sorted(ways, reverse=bool(number % 2))):
        system, *rest = ask.messages
        marked = {**system, "content": f"{name[0]}-{number:06}. {system['content']}"}
        body = ask.body(messages=[marked, *rest], max_tokens=FIRST, cache_salt=f"{number}.{place}")
        async with aclosing(events(places.http, ways[name], body)) as told:
            async for at, one in told:
                event.setdefault(name, at)
                if said(one):
                    text.setdefault(name, at)
    return First(ask.id, event, text)


def lanes() -> Sequence[Lane]:
    """What judges the streams that are held back."""
    place = Place(Side.OUTPUT, "chat", MODEL, "anybody", "standard", "assistant")
    return Judge([Rule.model_validate(RULE)]).lanes(place)


def anchor(name: str) -> AnchorSpec:
    """An anchor as it is by default; `json_word`: the one of `mode: word`. KeyError if there is none of this name."""
    kind, _, mode = name.partition("_")
    made: AnchorSpec = plugs("anchors")[kind](**({"mode": mode} if mode else {}))
    return made


def held(draft: Draft, anchors: Sequence[AnchorSpec], judged: Sequence[Lane]) -> Held:
    """What waits of a stream that breaks no rule, as its pieces come."""
    window = Anchored(judged, anchors)
    waiting: list[tuple[int, float]] = []  # where each piece ends, and when it came
    chars, waits, end, left = list[int](), list[float](), 0, 0
    for number, (at, text) in enumerate(draft.pieces):
        end += len(text)
        waiting.append((end, at))
        window.feed(text, final=number == len(draft.pieces) - 1)
        while waiting and left < window.frontier:
            until, came = waiting[0]
            gone = min(until, window.frontier) - left
            waits += [1000 * (at - came)] * gone
            left += gone
            if left == until:
                waiting.pop(0)
        chars.append(end - window.frontier)
    return Held(chars, waits)


def held_by(drafts: Mapping[str, Sequence[Draft]]) -> dict[str, float]:
    """Figures of every anchor, each over the streams that it is meant for."""
    out, judged = dict[str, float](), lanes()
    for name, streams in drafts.items():
        each = [held(draft, [anchor(name)], judged) for draft in streams]
        if each:
            out |= Held([n for one in each for n in one.chars], [w for one in each for w in one.waits]).figures(name)
    return out
