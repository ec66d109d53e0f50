"""The line in front of the model: who waits for a score, who is next, and what was scored before. No threads in here.

What somebody waits for goes first, and in company of its like only. What was merely foreseen comes when nobody waits,
and of each exchange only the newest text. Both are bounded, and so is what is remembered.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.tiers import TierFault
from gateway.tiers._model import Asked

Key: TypeAlias = tuple[str, str]
Score: TypeAlias = "float | TierFault"


@dataclass(eq=False, slots=True)
class Job:
    """A text to be scored. `score` is a value even where scoring failed, so that nobody must listen."""

    asked: Asked
    score: asyncio.Future[Score] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    begun: bool = False
    alone: bool = False  # it was in a batch that failed, and may have been the reason

    @property
    def key(self) -> Key:
        """Of the exchange: what was asked."""
        return self.asked[:2]

    def settle(self, score: Score) -> None:
        if not self.score.done():
            self.score.set_result(score)


class Line:
    """`most`: how many may wait, of either kind; as many foreseen scores are remembered."""

    def __init__(self, batch: int, most: int) -> None:
        self._batch, self._most = batch, most
        self._wanted: deque[Job] = deque()
        self._foreseen: OrderedDict[Key, Job] = OrderedDict()

    def foresee(self, asked: Asked) -> None:
        """Score it when there is time. What the same exchange foresaw before is forgotten."""
        old = self._foreseen.pop(asked[:2], None)
        self._foreseen[asked[:2]] = old if old and old.asked == asked else Job(asked)
        if len(self._foreseen) > self._most:
            self._foreseen.popitem(last=False)

    def want(self, asked: Asked) -> Job:
        """A job somebody waits for: the foreseen one, if it is for this very text. TierFault if too many wait."""
        job = self._foreseen.pop(asked[:2], None)
        if job and job.asked == asked and job.begun and not _failed(job):
            return job
        if len(self._wanted) >= self._most:
            raise TierFault(f"{self._most} answers wait for the classifier already", kind="busy")
        job = Job(asked)
        self._wanted.append(job)
        return job

    def withdraw(self, job: Job) -> None:
        """Nobody waits for it any more."""
        if job in self._wanted:
            self._wanted.remove(job)

    def again(self, jobs: Sequence[Job]) -> None:
        """Those of a failed batch: each alone, before all others."""
        for job in reversed(jobs):
            job.begun, job.alone = False, True
            self._wanted.appendleft(job)

    def take(self) -> list[Job]:
        """The next batch: what has gathered, without waiting for more."""
        jobs: list[Job] = []
        while self._wanted and len(jobs) < self._batch and not (jobs and self._wanted[0].alone):
            jobs.append(self._wanted.popleft())
            if jobs[-1].alone:
                break
        jobs = jobs or [job for job in self._foreseen.values() if not job.begun][: self._batch]
        for job in jobs:
            job.begun = True
        return jobs

    def close(self, fault: TierFault) -> None:
        """Nobody is served any more."""
        for job in (*self._wanted, *self._foreseen.values()):
            job.settle(fault)
        self._wanted.clear()
        self._foreseen.clear()


def _failed(job: Job) -> bool:
    return job.score.done() and isinstance(job.score.result(), TierFault)
