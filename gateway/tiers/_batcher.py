"""One thread that loads a model and asks it, batch by batch, so that the event loop never waits for either.

A model that can't be loaded is tried again at most every `RETRY` seconds, when somebody asks. A batch that fails is
asked once more, each text alone, so that one text that a model can't bear does no harm to others.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gateway.tiers import TierFault
from gateway.tiers._line import Job, Line
from gateway.tiers._model import Asked, Load, Scorer, broken

log = logging.getLogger(__name__)

RETRY = 30.0  # seconds


class Batcher:
    """`patience`: seconds after which a batch counts as stuck. `now` tells seconds."""

    def __init__(self, load: Load, line: Line, *, patience: float, now: Callable[[], float] = time.monotonic) -> None:
        self._load, self._line, self._patience, self._now = load, line, patience, now
        self._pool: ThreadPoolExecutor | None = None
        self._model: Scorer | None = None
        self._fault = TierFault("the classifier is not loaded yet", kind="broken")
        self._tried = -math.inf
        self._at_work: Sequence[Job] = ()
        self._since = 0.0  # when these began
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load the model. If it can't be, say so in the log, and to everybody who asks."""
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="classifier")
        self._begin_load()
        if self._task:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Whoever waits is told. A batch at work is given the time to end; the thread of one that is stuck is left."""
        pool, self._pool, self._model = self._pool, None, None
        self._fault = TierFault("the classifier is stopped", kind="broken")
        self._line.close(self._fault)
        for job in self._at_work:
            job.settle(self._fault)
        if self._task:
            await asyncio.wait({self._task}, timeout=self._patience)
            self._task.cancel()
            await asyncio.wait({self._task})
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)

    def model(self) -> Scorer:
        """The model. TierFault if there is none, or if it is stuck."""
        if self._model is None:
            self._begin_load()
            raise TierFault(str(self._fault), kind=self._fault.kind)
        if self._at_work and self._now() - self._since > self._patience:
            raise TierFault("the classifier is stuck in a batch", kind="slow")
        return self._model

    def foresee(self, asked: Asked) -> None:
        """Score a text when there is time."""
        if self._model:
            self._line.foresee(asked)
            self._wake()

    def want(self, asked: Asked) -> Job:
        """Score a text now. TierFault if too many wait already."""
        job = self._line.want(asked)
        self._wake()
        return job

    def withdraw(self, job: Job) -> None:
        """Nobody waits for it any more."""
        self._line.withdraw(job)

    def _begin_load(self) -> None:
        idle = self._task is None or self._task.done()
        if self._pool and idle and self._now() - self._tried >= RETRY:
            self._tried = self._now()
            self._task = asyncio.create_task(self._loaded(self._pool))

    async def _loaded(self, pool: ThreadPoolExecutor) -> None:
        loading = asyncio.get_running_loop().run_in_executor(pool, self._load)
        await _over(loading)
        if fault := loading.exception():
            log.error("the classifier can't be loaded, the next try is in %.0f s at least: %s", RETRY, fault)
            self._fault = broken(fault)
        elif self._pool:  # else it was stopped meanwhile
            self._model = loading.result()

    def _wake(self) -> None:
        if self._pool and self._model and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work(self._pool, self._model))

    async def _work(self, pool: ThreadPoolExecutor, model: Scorer) -> None:
        while jobs := self._line.take():
            self._at_work, self._since = jobs, self._now()
            asked = [job.asked for job in jobs]
            scoring = asyncio.get_running_loop().run_in_executor(pool, _scored, model, asked)
            await _over(scoring)
            self._at_work = ()
            if fault := scoring.exception():
                self._failed(jobs, fault)
                continue
            for job, risk in zip(jobs, scoring.result(), strict=True):
                job.settle(risk)

    def _failed(self, jobs: Sequence[Job], fault: BaseException) -> None:
        if len(jobs) > 1:
            self._line.again(jobs)
            return
        log.warning("the classifier failed: %s: %s", type(fault).__name__, fault)
        for job in jobs:
            job.settle(broken(fault))


async def _over(future: asyncio.Future[Any]) -> None:
    """Wait for the end of it, whatever it is; if nobody waits any more, its end tells nobody."""
    try:
        await asyncio.wait({future})
    finally:
        future.cancel()


def _scored(model: Scorer, asked: Sequence[Asked]) -> list[float]:
    """In the thread. ValueError if what the model says are no probabilities."""
    risks = [float(risk) for risk in model.risks(asked)]
    if len(risks) != len(asked) or not all(0 <= risk <= 1 for risk in risks):
        raise ValueError(f"{len(asked)} probabilities were asked for, and {risks[:4]} came")
    return risks
