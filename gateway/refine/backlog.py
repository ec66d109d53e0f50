"""Answers that nobody waits for any more, worked off one at a time when little else is going on.

When that is: within windows of the day, or while few requests are in flight. What the work gives is the caller's; here
it is only decided when there is time for it.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Generic, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, Field, model_validator

from gateway.errors import Fault
from gateway.plug import Strict

Item = TypeVar("Item")
Observe: TypeAlias = Callable[[str], None]

TRIES = 3  # of an item
SLOWEST = 32  # times the pause, after faults in a row
_DAY = 24 * 60
_WINDOW = re.compile(r"([01]?\d|2[0-4]):([0-5]\d) ?[-–] ?([01]?\d|2[0-4]):([0-5]\d)", re.ASCII)


class Window(NamedTuple):
    """Minutes of the day, from `start` on and before `end`; over midnight if it ends before it begins."""

    start: int
    end: int

    def holds(self, minute: int) -> bool:
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end


def window(text: str) -> Window:
    """The window that is written so; ValueError tells what is wrong with it."""
    match = _WINDOW.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r:.40} is no window; write it as 02:00-05:00, in local time")
    from_hour, from_minute, to_hour, to_minute = map(int, match.groups())
    start, end = 60 * from_hour + from_minute, 60 * to_hour + to_minute
    if start >= _DAY or end > _DAY:
        raise ValueError(f"{text!r} is not within a day; it begins at 23:59 at the latest, and ends at 24:00")
    if start == end:
        raise ValueError(f"{text!r} has no length; for all day write 00:00-24:00")
    return Window(start, end)


def _readable(text: str) -> str:
    window(text)
    return text


class BacklogSpec(Strict):
    """What YAML says of it."""

    most: int = Field(default=1000, ge=1, description="Answers that wait at most; of more, the oldest are given up.")
    windows: tuple[Annotated[str, AfterValidator(_readable)], ...] = Field(
        default=(), description="When there is time for them, local: 02:00-05:00; 22:00-06:00 goes over midnight."
    )
    load_below: int | None = Field(
        default=None, ge=1, description="There is time, too, while fewer requests than this are in flight."
    )
    pause_seconds: float = Field(
        default=5.0, gt=0, le=3600, description="Between two looks at the time and the load; longer after a fault."
    )

    @model_validator(mode="after")
    def _ever(self) -> Self:
        if not self.windows and self.load_below is None:
            raise ValueError("there would never be time; name `windows` (02:00-05:00), `load_below`, or both")
        return self

    def may_work(self, now: datetime, in_flight: int) -> bool:
        """Whether there is time: it is within a window, or little is going on. `now` is local."""
        minute = 60 * now.hour + now.minute
        if any(window(text).holds(minute) for text in self.windows):
            return True
        return self.load_below is not None and in_flight < self.load_below


class Backlog(Generic[Item]):
    """A bounded queue and who works it off.

    `observe` hears `added`, `displaced` (given up for a newer one), `worked`, `failed` (a try), `given_up` (after
    TRIES). `faults`: what work may raise, after which it waits longer and tries again; all else ends `run`.
    """

    def __init__(
        self,
        spec: BacklogSpec,
        observe: Observe,
        faults: type[Exception] | tuple[type[Exception], ...] = Fault,
        now: Callable[[], datetime] = datetime.now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._spec, self._observe, self._faults, self._now, self._sleep = spec, observe, faults, now, sleep
        self._queue: deque[tuple[Item, int]] = deque()  # and how often it was tried
        self._news = asyncio.Event()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._queue)

    def add(self, item: Item) -> None:
        """It is worked off when there is time. Nothing is awaited."""
        self._queue.append((item, 0))
        self._observe("added")
        self._cut()
        self._news.set()

    async def run(self, work: Callable[[Item], Awaitable[None]], in_flight: Callable[[], int]) -> None:
        """For ever. An item whose work is cancelled waits again."""
        slow = 1
        while True:
            if not self._queue:
                self._news.clear()
                await self._news.wait()
            if not self._spec.may_work(self._now(), in_flight()):
                await self._sleep(self._spec.pause_seconds)
                continue
            if await self._one(work):
                slow = 1
            else:
                await self._sleep(slow * self._spec.pause_seconds)
                slow = min(2 * slow, SLOWEST)

    async def _one(self, work: Callable[[Item], Awaitable[None]]) -> bool:
        """Work off the oldest; whether that went well."""
        item, tried = self._queue.popleft()
        try:
            await work(item)
        except asyncio.CancelledError:
            self._again(item, tried)
            raise
        except self._faults:
            self._observe("failed")
            if tried + 1 < TRIES:
                self._again(item, tried + 1)
            else:
                self._observe("given_up")
            return False
        self._observe("worked")
        return True

    def _again(self, item: Item, tried: int) -> None:
        self._queue.appendleft((item, tried))
        self._cut()

    def _cut(self) -> None:
        while len(self._queue) > self._spec.most:
            self._queue.popleft()
            self._observe("displaced")
