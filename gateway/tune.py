"""What other settings of the search for donors would have given back of the prompts of a sample of traffic.

The sample is replayed: each request is looked up among those before it and then remembered as captured. What a donor
really shares with a request is told from finer chunks than any that are tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from gateway import context
from gateway.donors import alike, choose, passages
from gateway.errors import Complaint, ConfigFault
from gateway.rules import Inject, Recompute
from gateway.stores import Kept, Near, Sketch
from gateway.stores.memory import Plug as Memory
from gateway.terms import Lookup

FINEST = 5  # bits of the chunks by which the truth is told
POOR = 64  # tokens; a donor that shares less was not worth its name
MOST = 1000  # requests of a sample that are replayed
FALSE = 0.05  # part of named donors that may be poor
_SPLICE = Inject(mode="splice", sensitive="allow", min_tokens=POOR, recompute=Recompute(first=0, share=0))
_FOREVER = float("inf")


class Sample(NamedTuple):
    """One request of the traffic: whose, and its body."""

    tenant: str
    body: Mapping[str, Any]


class Row(NamedTuple):
    """One setting, and what it would have done: parts of requests, and parts of the tokens that could be reused.

    `by` chunks, as the gateway chooses its donors; or by codes alone: the nearest question's, whatever it holds.
    """

    by: Literal["chunks", "codes"]
    lookup: Lookup
    named: float  # requests that a donor was named for
    reused: float  # of the tokens that the best donors share
    poor: float  # of the donors that were named


def read(path: Path) -> list[Sample]:
    """A sample out of JSONL: a request body a line, or {"tenant": ..., "body": {...}}. ConfigFault names a bad line."""
    samples = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as fault:
        raise ConfigFault(
            [Complaint(path, None, "", f"can't be read: {fault.strerror}", "name a JSONL file")]
        ) from fault
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = orjson.loads(line)
        except orjson.JSONDecodeError as fault:
            raise ConfigFault([Complaint(path, number, "", f"is not JSON: {fault}", "one object a line")]) from fault
        body = told.get("body", told) if isinstance(told, dict) else None
        if not isinstance(body, dict) or not ("messages" in body or "prompt" in body):
            fix = 'write a request body, or {"tenant": "...", "body": {...}}'
            raise ConfigFault([Complaint(path, number, "", "holds neither `messages` nor `prompt`", fix)])
        samples.append(Sample(str(told.get("tenant", "")), body))
    return samples[-MOST:]


Codes = Callable[[str, int], Sequence[int]]  # of a question, with so many words to an n-gram


def curve(
    samples: Sequence[Sample], settings: Iterable[Lookup], step: Callable[[], None] = lambda: None
) -> Iterator[Row]:
    """A row for each setting, by chunks. `step` is called for each request of each, for whoever shows progress."""
    replay = _Replay(samples, step)
    for lookup in settings:
        yield replay.row("chunks", lookup, partial(_chunks, lookup))


def codes_curve(
    samples: Sequence[Sample], settings: Iterable[Lookup], codes: Codes, step: Callable[[], None] = lambda: None
) -> Iterator[Row]:
    """The same for codes alone."""
    replay = _Replay(samples, step)

    def coded(lookup: Lookup, sample: Sample) -> Sketch:
        found = codes(context.question(sample.body), lookup.window)
        return Sketch(_owner(sample), b"", b"", (), tuple(found))

    for lookup in settings:
        yield replay.row("codes", lookup, partial(coded, lookup))


def settings(now: Lookup) -> list[Lookup]:
    """What is worth trying: the present setting with other chunks."""
    return [now.model_copy(update={"chunk_bits": bits}) for bits in range(6, 13)]


def codes_settings(now: Lookup) -> list[Lookup]:
    """The present setting with fewer bits, other thresholds, other n-grams."""
    tried = [{"bits": bits} for bits in (48, 56, 64)]
    tried += [{"radius": radius} for radius in (0, 1, 3, 5, 7)] + [{"window": window} for window in (1, 2, 3, 4)]
    rows = [now.model_copy(update=one) for one in tried]
    return [row for number, row in enumerate(rows) if row not in rows[:number]]


def chosen(rows: Iterable[Row]) -> Row | None:
    """The setting that would have reused the most without naming many poor donors; None if none would have."""
    good = [row for row in rows if row.by == "chunks" and row.named and row.poor <= FALSE]
    return max(good, key=lambda row: (row.reused, row.lookup.chunk_bits), default=None)


def shared(asked: Sketch, donor: Sketch) -> int:
    """Bytes of a request's text that a donor has too, as the engine could use them."""
    if asked.whose != donor.whose:
        return 0
    same = alike(asked, donor)
    return sum(asked.sizes[:same]) + sum(passages(asked, donor, same, POOR * 4))


def _owner(sample: Sample) -> bytes:
    return context.whose(sample.tenant, str(sample.body.get("model", "")))


def _chunks(lookup: Lookup, sample: Sample) -> Sketch:
    return context.sketch(_owner(sample), sample.body, lookup.chunk_bits)


class _Replay:
    """A sample with what is true of it: of each request the sketch in the finest chunks, and the best there is."""

    def __init__(self, samples: Sequence[Sample], step: Callable[[], None]) -> None:
        self._samples, self._step = samples, step
        self._truth = [context.sketch(_owner(sample), sample.body, FINEST) for sample in samples]
        self._best = sum(
            max((shared(one, other) for other in self._truth[:number]), default=0)
            for number, one in enumerate(self._truth)
        )

    def row(self, by: Literal["chunks", "codes"], lookup: Lookup, sketch: Callable[[Sample], Sketch]) -> Row:
        """What a setting would have done."""
        return asyncio.run(self._row(by, lookup, sketch))

    async def _row(self, by: Literal["chunks", "codes"], lookup: Lookup, sketch: Callable[[Sample], Sketch]) -> Row:
        store = Memory(most=MOST).connect(lambda _kind: None)
        given = named = poor = 0
        for number, sample in enumerate(self._samples):
            made = sketch(sample)
            found = await store.find(made, Near(lookup.bits, lookup.radius))
            if by == "chunks":
                offer = choose(made, "", found, lambda _reason: _SPLICE, lookup.bytes_per_token)
                found = [offer.kept] if offer else []
            for kept in found[:1]:
                real = shared(self._truth[number], self._truth[int(kept.capture)])
                named, given = named + 1, given + real
                poor += real < POOR * lookup.bytes_per_token
            store.add(Kept(str(number), "", "", "", _FOREVER, made))
            self._step()
        return Row(by, lookup, named / max(len(self._samples), 1), given / max(self._best, 1), poor / max(named, 1))
