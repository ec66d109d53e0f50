"""The thread of the model: it loads, works, breaks and recovers without ever holding up the event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from gateway.tiers import TierFault
from gateway.tiers._batcher import RETRY, Batcher
from gateway.tiers._line import Line
from gateway.tiers._model import Asked, Scorer
from tests.rig import until
from tests.tiers.scorers import ByLength, Held, Squeamish


def asked(answer: str, question: str = "q") -> Asked:
    return Asked(question, "", answer)


class Clock:
    """A clock that goes when it is told."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@asynccontextmanager
async def batcher(
    model: Callable[[], Scorer], *, batch: int = 8, now: Callable[[], float] | None = None
) -> AsyncIterator[Batcher]:
    made = Batcher(model, Line(batch, 99), patience=0.05, now=now or Clock())
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def test_what_gathers_in_one_step_is_scored_together() -> None:
    model = ByLength()
    async with batcher(lambda: model) as made:
        jobs = [made.want(asked("x" * length)) for length in (1, 2, 3)]
        assert await asyncio.gather(*(job.score for job in jobs)) == [0.01, 0.02, 0.03]
    assert model.seen == [["x", "xx", "xxx"]]


async def test_while_one_batch_is_at_work_the_next_gathers() -> None:
    model = Held()
    async with batcher(lambda: model) as made:
        first = made.want(asked("a"))
        await asyncio.to_thread(model.begun.wait, 5)
        others = [made.want(asked(answer)) for answer in ("b", "c")]
        assert not first.score.done()  # and the loop runs
        model.gate.set()
        await asyncio.gather(*(job.score for job in (first, *others)))
    assert model.seen == [["a"], ["b", "c"]]


async def test_the_model_is_loaded_and_asked_off_the_event_loop() -> None:
    threads = []

    class Watched(ByLength):
        def __init__(self) -> None:
            super().__init__()
            threads.append(threading.get_ident())

    async with batcher(Watched) as made:
        await made.want(asked("a")).score
    assert threads
    assert threading.get_ident() not in threads


async def test_a_text_that_the_model_cant_bear_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    model = Squeamish()
    async with batcher(lambda: model) as made:
        jobs = [made.want(asked(answer)) for answer in ("a", "poison", "bb", "nonsense")]
        scores = await asyncio.gather(*(job.score for job in jobs))
    assert (scores[0], scores[2]) == (0.01, 0.02)
    for score, why in ((scores[1], "wrong shape"), (scores[3], "probabilities")):
        assert isinstance(score, TierFault)
        assert score.kind == "broken"
        assert why in str(score)
    assert "wrong shape" in caplog.text


async def test_a_model_that_cant_be_loaded_is_tried_again_in_time(caplog: pytest.LogCaptureFixture) -> None:
    clock, tries = Clock(), []

    def load() -> Scorer:
        tries.append(clock.time)
        if len(tries) < 3:
            raise OSError("no such folder")
        return ByLength()

    with caplog.at_level(logging.ERROR):
        async with batcher(load, now=clock) as made:
            for clock.time in (0.0, RETRY - 1, RETRY, RETRY, 2 * RETRY):
                with pytest.raises(TierFault, match="no such folder") as fault:
                    made.model()
                assert fault.value.kind == "broken"
                await until(lambda: made._task is None or made._task.done())
            assert isinstance(made.model(), ByLength)
    assert tries == [0.0, RETRY, 2 * RETRY]
    assert caplog.text.count("no such folder") == 2


async def test_a_model_that_is_stuck_is_not_waited_for_until_it_is_free() -> None:
    model, clock = Held(), Clock()
    async with batcher(lambda: model, now=clock) as made:
        job = made.want(asked("a"))
        await asyncio.to_thread(model.begun.wait, 5)
        assert made.model() is model
        clock.time = 1.0
        with pytest.raises(TierFault, match="stuck") as fault:
            made.model()
        assert fault.value.kind == "slow"
        model.gate.set()
        await job.score
        assert made.model() is model


async def test_at_the_end_nobody_is_left_waiting() -> None:
    model = Held()
    async with batcher(lambda: model, batch=1) as made:
        jobs = [made.want(asked(answer)) for answer in ("a", "b")]
        made.foresee(asked("c", "other"))
        await asyncio.to_thread(model.begun.wait, 5)
    assert ["stopped" in str(job.score.result()) for job in jobs] == [True, True]
    with pytest.raises(TierFault, match="stopped"):
        made.model()
    made.foresee(asked("d"))
    model.gate.set()  # its thread ends


async def test_before_the_start_there_is_no_model() -> None:
    made = Batcher(ByLength, Line(8, 99), patience=1.0)
    made.foresee(asked("a"))
    with pytest.raises(TierFault, match="not loaded yet"):
        made.model()
    await made.stop()
