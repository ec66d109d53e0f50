"""What all lines of a log come to, held in little memory: counts, a fair sample of lengths, the newest requests.

Tokens are as the log tells them. Where it doesn't they are estimated from bytes: by the ratio that the log itself
shows where it tells both, or else by a usual one.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from gateway.assess._line import Line
from gateway.donors import BYTES
from gateway.watch.bounds import Bounds, wilson

SAMPLED = 20_000  # lengths that medians are told from
RECENT = 1000  # requests that are compared with each other
RECENT_BYTES = 64 << 20  # of their texts
ENOUGH = 30  # lines that tell bytes and tokens, by which the ratio is told


class Lengths(NamedTuple):
    """Tokens of one request; what a log doesn't tell is estimated. `told`: whether all of it was told."""

    prompt: float
    completion: float
    told: bool


class Figures(NamedTuple):
    """All of it. None is what the log doesn't tell."""

    requests: int
    judged: int  # of which it is known whether they were rejected
    rejected: int
    reject_rate: float | None
    reject_bounds: Bounds
    prompt: float | None  # medians, in tokens
    completion: float | None
    both: float | None
    mean: float | None  # of both
    mean_prompt: float | None
    told: float  # share of lengths that the log tells
    bytes_per_token: float
    measured: bool  # whether that ratio is the log's own
    seconds: float | None  # from its first to its last request
    qps: float | None


class Tally:
    """Lines go in, figures come out. `seed`: of the sample of lengths."""

    def __init__(self, seed: int = 0, recent: int = RECENT) -> None:
        self._random = random.Random(seed)
        self._sample: list[Line] = []
        self._seen = self._judged = self._rejected = 0
        self._first, self._last = math.inf, -math.inf
        self._bytes = self._tokens = self._both = 0
        self._recent: deque[Line] = deque()
        self._held, self._most = 0, recent

    def add(self, line: Line) -> None:
        """One more."""
        self._seen += 1
        self._judged += line.rejected is not None
        self._rejected += bool(line.rejected)
        if line.at is not None:
            self._first, self._last = min(line.at, self._first), max(line.at, self._last)
        if line.body is not None and line.asked and line.prompt:
            self._both, self._bytes, self._tokens = self._both + 1, self._bytes + line.asked, self._tokens + line.prompt
        self._remember(line)
        self._choose(line)

    def _remember(self, line: Line) -> None:
        if line.body is None:
            return
        self._recent.append(line._replace(answer="", question=""))
        self._held += line.asked or 0
        while len(self._recent) > self._most or (self._held > RECENT_BYTES and len(self._recent) > 1):
            self._held -= self._recent.popleft().asked or 0

    def _choose(self, line: Line) -> None:
        """Algorithm R (Vitter 1985), of sizes alone."""
        kept = Line(asked=line.asked, said=line.said, prompt=line.prompt, completion=line.completion)
        if len(self._sample) < SAMPLED:
            self._sample.append(kept)
        elif (place := self._random.randrange(self._seen)) < SAMPLED:
            self._sample[place] = kept

    @property
    def recent(self) -> Sequence[Line]:
        """The newest requests whose words are known, the oldest first: neighbours, as they came."""
        return self._recent

    def figures(self) -> Figures:
        """What is known now."""
        measured = self._both >= ENOUGH
        ratio = self._bytes / self._tokens if measured else BYTES
        lengths = [found for line in self._sample if (found := _lengths(line, ratio))]
        seconds = self._last - self._first if self._last > self._first else None
        judged = self._judged
        return Figures(
            requests=self._seen,
            judged=judged,
            rejected=self._rejected,
            reject_rate=self._rejected / judged if judged else None,
            reject_bounds=wilson(self._rejected, judged),
            prompt=_median([one.prompt for one in lengths]),
            completion=_median([one.completion for one in lengths]),
            both=_median([one.prompt + one.completion for one in lengths]),
            mean=statistics.fmean(one.prompt + one.completion for one in lengths) if lengths else None,
            mean_prompt=statistics.fmean(one.prompt for one in lengths) if lengths else None,
            told=sum(one.told for one in lengths) / len(lengths) if lengths else 0.0,
            bytes_per_token=ratio,
            measured=measured,
            seconds=seconds,
            qps=(self._seen - 1) / seconds if seconds else None,
        )


def _lengths(line: Line, ratio: float) -> Lengths | None:
    """None if nothing tells how long the prompt was. An answer that is not there has no length."""
    if line.prompt is None and line.asked is None:
        return None
    prompt = float(line.prompt) if line.prompt is not None else (line.asked or 0) / ratio
    completion = float(line.completion) if line.completion is not None else (line.said or 0) / ratio
    return Lengths(prompt, completion, line.prompt is not None and (line.completion is not None or not line.said))


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
