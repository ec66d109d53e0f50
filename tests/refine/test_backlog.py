"""When there is time for what nobody waits for, and how it is worked off."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta

import pytest
from pydantic import ValidationError

from gateway.errors import Fault
from gateway.refine.backlog import SLOWEST, TRIES, Backlog, BacklogSpec


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2024, 3, 1, hour, minute)


@pytest.mark.parametrize(
    ("windows", "now", "may"),
    [
        (["02:00-05:00"], at(1, 59), False),
        (["02:00-05:00"], at(2), True),
        (["02:00-05:00"], at(4, 59), True),
        (["02:00-05:00"], at(5), False),
        (["22:00-06:00"], at(21, 59), False),
        (["22:00-06:00"], at(23, 59), True),
        (["22:00-06:00"], at(0), True),
        (["22:00-06:00"], at(5, 59), True),
        (["22:00-06:00"], at(6), False),
        (["12:00-13:00", "2:30 - 3:00"], at(12, 30), True),
        (["12:00-13:00", "2:30 - 3:00"], at(2, 45), True),
        (["12:00-13:00", "2:30 - 3:00"], at(13), False),
        (["00:00-24:00"], at(23, 59), True),
        (["20:00-24:00"], at(0), False),
        (["22:00-00:00"], at(0), False),
        (["22:00-00:00"], at(23), True),
    ],
)
def test_windows_of_the_day(windows: list[str], now: datetime, may: bool) -> None:
    assert BacklogSpec(windows=tuple(windows)).may_work(now, 1000) is may


def test_there_is_time_while_little_is_going_on() -> None:
    spec = BacklogSpec(load_below=4)
    assert [spec.may_work(at(12), load) for load in (0, 3, 4, 100)] == [True, True, False, False]
    both = BacklogSpec(load_below=4, windows=("02:00-05:00",))
    assert [both.may_work(at(hour), 100) for hour in (3, 12)] == [True, False]
    assert both.may_work(at(12), 0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "there would never be time"),
        ({"windows": []}, "there would never be time"),
        ({"windows": ["2am-5am"]}, "write it as 02:00-05:00"),
        ({"windows": ["02:00-05:00", "02:60-05:00"]}, "write it as 02:00-05:00"),
        ({"windows": ["25:00-26:00"]}, "write it as 02:00-05:00"),
        ({"windows": ["24:00-02:00"]}, "not within a day"),
        ({"windows": ["02:00-24:30"]}, "not within a day"),
        ({"windows": ["02:00-02:00"]}, "00:00-24:00"),
        ({"windows": ["０２:00-05:00"]}, "write it as 02:00-05:00"),
        ({"load_below": 0}, "load_below"),
        ({"load_below": 1, "pause_seconds": 0}, "pause_seconds"),
        ({"load_below": 1, "most": 0}, "most"),
    ],
)
def test_what_makes_no_backlog_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as told:
        BacklogSpec.model_validate(fields)
    assert said in str(told.value)


class Day:
    """A day in fast time, a backlog in it, and who works it off."""

    def __init__(self, spec: BacklogSpec, start: datetime) -> None:
        self.time, self.load, self.words = start, 0, list[str]()
        self.slept: list[float] = []
        self.done: list[tuple[str, datetime]] = []
        self.faults: list[Exception] = []
        self.backlog: Backlog[str] = Backlog(spec, self.words.append, now=lambda: self.time, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    async def work(self, item: str) -> None:
        await asyncio.sleep(0)
        if self.faults:
            raise self.faults.pop(0)
        self.done.append((item, self.time))
        self.time += timedelta(minutes=1)

    async def run(self, until: int) -> None:
        """Until so many are done."""
        task = asyncio.create_task(self.backlog.run(self.work, lambda: self.load))
        async with asyncio.timeout(20):
            while len(self.done) < until and not task.done():  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_items_wait_for_the_window_and_for_the_next_one() -> None:
    day = Day(BacklogSpec(windows=("02:00-02:03",), pause_seconds=30), at(1))
    for n in range(5):
        day.backlog.add(f"x-{n}")
    await day.run(5)
    assert [item for item, _ in day.done] == [f"x-{n}" for n in range(5)]
    assert [moment.strftime("%d %H:%M") for _, moment in day.done] == [
        *("01 02:00", "01 02:01", "01 02:02", "02 02:00", "02 02:01")
    ]
    assert Counter(day.words) == {"added": 5, "worked": 5}


async def test_while_much_is_going_on_nothing_is_worked() -> None:
    day = Day(BacklogSpec(load_below=2), at(12))
    day.load = 2
    day.backlog.add("a")
    task = asyncio.create_task(day.backlog.run(day.work, lambda: day.load))
    while len(day.slept) < 10:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert day.done == []
    assert len(day.backlog) == 1
    day.load = 1
    while not day.done:  # noqa: ASYNC110
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert set(day.slept) == {5.0}


async def test_of_too_many_the_oldest_are_given_up() -> None:
    day = Day(BacklogSpec(load_below=1, most=3), at(12))
    for n in range(5):
        day.backlog.add(f"x-{n}")
    assert len(day.backlog) == 3
    await day.run(3)
    assert [item for item, _ in day.done] == ["x-2", "x-3", "x-4"]
    assert Counter(day.words) == {"added": 5, "displaced": 2, "worked": 3}


async def test_after_a_fault_it_waits_longer_and_tries_again() -> None:
    day = Day(BacklogSpec(load_below=1, pause_seconds=1), at(12))
    day.faults = [Fault("away"), Fault("away")]
    day.backlog.add("a")
    day.backlog.add("b")
    await day.run(2)
    assert [item for item, _ in day.done] == ["a", "b"]
    assert day.slept == [1, 2]
    assert Counter(day.words)["failed"] == 2


async def test_an_item_is_given_up_after_some_tries_and_the_pause_has_an_end() -> None:
    day = Day(BacklogSpec(load_below=1, pause_seconds=1), at(12))
    day.faults = [Fault("away") for _ in range(3 * TRIES)]
    for name in "abcd":
        day.backlog.add(name)
    await day.run(1)
    assert [item for item, _ in day.done] == ["d"]
    assert Counter(day.words) == {"added": 4, "failed": 9, "given_up": 3, "worked": 1}
    assert day.slept == [1, 2, 4, 8, 16, SLOWEST, SLOWEST, SLOWEST, SLOWEST]


async def test_a_fault_that_nobody_named_ends_it() -> None:
    day = Day(BacklogSpec(load_below=1), at(12))
    day.faults = [KeyError("a bug")]
    day.backlog.add("a")
    with pytest.raises(KeyError):
        await day.backlog.run(day.work, lambda: 0)


async def test_what_is_cancelled_in_between_waits_again() -> None:
    day = Day(BacklogSpec(load_below=1), at(12))
    day.backlog.add("a")
    day.backlog.add("b")
    began = asyncio.Event()

    async def work(item: str) -> None:
        began.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(day.backlog.run(work, lambda: 0))
    await began.wait()
    assert len(day.backlog) == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(day.backlog) == 2
    await day.run(2)
    assert [item for item, _ in day.done] == ["a", "b"]


async def test_it_sleeps_until_there_is_something() -> None:
    day = Day(BacklogSpec(load_below=1), at(12))
    task = asyncio.create_task(day.backlog.run(day.work, lambda: 0))
    for _ in range(20):
        await asyncio.sleep(0)
    assert day.slept == []
    day.backlog.add("a")
    while not day.done:  # noqa: ASYNC110
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
