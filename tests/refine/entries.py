"""Entries of a review queue, and a queue that may be made to fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from gateway.refine._entry import Entry, Listing, QueueFault, unpack

SOON = 20.0  # seconds, for what takes one or two on an idle machine

ONE = Entry(
    id="x-1",
    time=1_700_000_000.5,
    tenant="银行",
    surface="chat",
    model="m",
    why=("unreachable", "risk"),
    language="zh",
    question="利率是多少？",
    answer="利率是5%。\n请核对。",
    spans=((3, 5, "percent"),),
    domain="finance",
)


def entry(name: str) -> Entry:
    return replace(ONE, id=name)


def ids(listing: Listing) -> list[str]:
    return [waiting.entry.id for waiting in listing.waiting]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


async def until_listed(listed: Callable[[], Awaitable[Listing]], count: int) -> list[str]:
    """The entries of a queue, once there are so many."""
    async with asyncio.timeout(SOON):
        while len(found := ids(await listed())) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found


class Shelf:
    """A queue in memory, of which the test says whether it can be written."""

    def __init__(self) -> None:
        self.fault = ""
        self.written: list[str] = []
        self.tries = self.dropped = 0
        self.closed = False

    async def write(self, lines: Sequence[bytes]) -> int:
        self.tries += 1
        await asyncio.sleep(0)
        if self.fault:
            raise QueueFault(self.fault)
        self.written += [unpack(line).id for line in lines]
        return self.dropped

    async def close(self) -> None:
        self.closed = True
