"""Where lines wait for the clerk: put here by requests, handed over in letters, kept until they are written.

What waits is bounded in lines and bytes. What finds no room is counted and lost; the next line that can be written
says how many were. If the clerk dies, the next one is given again what he did not say to be written.

All of it happens in the event loop, which never waits for any of it. What is to be told of exchanges is gathered when
a letter is written, of all of them at one go: that costs a third of what it would at the end of each.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from gateway.audit import _letters
from gateway.audit._hire import Hire
from gateway.audit._letters import Batch, Begin, News, Standing
from gateway.audit._log import Bounds
from gateway.audit._row import Fields, Plain
from gateway.audit._writer import Count

log = logging.getLogger(__name__)

ROOM = 64 << 20  # bytes that may be with the clerk
LETTER = 64  # lines that go together
_UNTELLABLE = (TypeError, ValueError)

T = TypeVar("T")  # an exchange that is over


class Parcel(NamedTuple):
    """A letter on its way: what it says, how many lines of it are to be written, and under which configuration."""

    letter: bytes
    standing: bytes
    lines: int = 1
    skip: int = 0  # lines of it that are written


class Desk(Generic[T]):
    """One chain's, from `start` to `stop`. `tell` gives the fields of an exchange's `Row`; `count` hears what becomes
    of lines."""

    def __init__(self, folder: Path, bounds: Bounds, most: int, tell: Callable[[T], Fields], count: Count) -> None:
        self._folder, self._bounds, self._most, self._tell, self._count = folder, bounds, most, tell, count
        self._items: list[T | Plain] = []
        self._sent: deque[Parcel] = deque()
        self._again = 0  # lines in them that a clerk had who is no more
        self._standing = b""
        self._waiting = self._held = self._lost = 0
        self._wait = 0.0 if bounds.fsync == "line" else bounds.desk
        self._timer: asyncio.TimerHandle | None = None
        self._clerk = Hire(self._brief, self._hear, self._gone)
        self.start = self._clerk.start

    @property
    def handed(self) -> int:
        """Lines that are with the clerk, and not written yet as far as is known."""
        return sum(parcel.lines for parcel in self._sent)

    def stand(self, standing: Standing) -> None:
        """This configuration holds for what is put from now on."""
        self._hand_over()
        self._standing = _letters.written(standing)
        self._waiting += 1
        self._send(Parcel(self._standing, self._standing))

    def put(self, item: T | Plain) -> None:
        """Have it written; what there is to tell of it is asked a moment later."""
        if self._waiting >= self._most or self._held > ROOM:
            self._lost += 1
            self._count("lost", 1)
            return
        self._items.append(item)
        self._waiting += 1
        if len(self._items) >= LETTER:
            self._hand_over()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait, self._ring)

    async def stop(self) -> None:
        """What waits is written, as far as that can be done within a few seconds."""
        self._hand_over()
        await self._clerk.stop()
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting:
            log.error("%d lines of the audit log are lost: nobody has written them", self._waiting)
            self._count("lost", self._waiting)

    def _ring(self) -> None:
        self._timer = None
        self._hand_over()

    def _hand_over(self) -> None:
        """What was gathered goes to the clerk."""
        items, lost = self._items, self._lost
        if not items:
            return
        self._items, self._lost = [], 0
        try:
            letter = self._written(items, lost)
        except _UNTELLABLE:
            self._lost = lost
            items = [item for item in items if self._is_tellable(item)]
            letter, self._lost = self._written(items, self._lost), 0
        self._send(Parcel(letter, self._standing, len(items)))

    def _written(self, items: Sequence[T | Plain], lost: int) -> bytes:
        rows = [item if isinstance(item, dict) else self._tell(item) for item in items]
        return _letters.written(Batch(rows, lost))

    def _is_tellable(self, item: T | Plain) -> bool:
        """Else it is lost."""
        try:
            self._written([item], 0)
        except _UNTELLABLE as fault:
            log.error("a line of the audit log is lost: %r", fault)
            self._count("lost", 1)
            self._lost += 1
            self._waiting -= 1
            return False
        return True

    def _send(self, parcel: Parcel) -> None:
        self._sent.append(parcel)
        self._held += len(parcel.letter)
        self._clerk.tell(parcel.letter)

    def _brief(self) -> Iterator[bytes]:
        """All that a new clerk needs to know, and what waits."""
        head = self._sent[0] if self._sent else None
        yield _letters.written(Begin(self._folder, self._bounds, self._again, head.skip if head else 0))
        standing = head.standing if head else self._standing
        if standing and (head is None or head.letter is not standing):
            self._sent.appendleft(Parcel(standing, standing))
            self._held += len(standing)
            self._waiting += 1
        for parcel in self._sent:
            yield parcel.letter

    def _gone(self) -> None:
        """The clerk has died."""
        self._again = self.handed
        self._count("failed", 1)
        log.error("the process that writes the audit log is gone; %d lines wait for another", self._waiting)

    def _hear(self, news: News) -> None:
        if news.event == "log":
            log.log(news.level, "%s", news.words)
            return
        self._count(news.event, news.lines)
        if news.event in ("written", "lost"):
            self._settled(news.lines)

    def _settled(self, lines: int) -> None:
        """The first lines that wait need wait no longer."""
        self._waiting -= lines
        while lines:
            parcel = self._sent.popleft()
            done = min(lines, parcel.lines)
            lines -= done
            if done < parcel.lines:
                self._sent.appendleft(parcel._replace(lines=parcel.lines - done, skip=parcel.skip + done))
            else:
                self._held -= len(parcel.letter)
