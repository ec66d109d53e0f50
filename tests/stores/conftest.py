"""Every store, with a clock of the test's own; the one in Redis on a real server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from gateway.stores import Kept
from gateway.stores.memory import Memory
from gateway.stores.redis import Budget, Redis
from tests.redis_server import RedisServer, redis_server

MANY = Budget(100_000, 1 << 30)
_numbers = count()


@dataclass
class Clock:
    """Seconds of the epoch, which pass when a test says so."""

    seconds: float = field(default_factory=time.time)

    def __call__(self) -> float:
        self.seconds += 1e-5  # no two things happen at once
        return self.seconds


class InMemory(Memory):
    """What tests want to know of a store beside its contract."""

    async def settled(self) -> None:
        """What was told is known."""

    def count(self) -> int:
        return len(self)

    def held(self) -> int:
        return self._held


class InRedis(Redis):
    """The same of the one in Redis; its namespace is its own."""

    def __init__(self, server: RedisServer, budget: Budget, clock: Clock) -> None:
        self.server, self.faults = server, list[str]()
        self.namespace = f"test{next(_numbers)}"
        super().__init__(server.url, 10.0, budget, self.namespace, self.faults.append, clock)

    async def settled(self) -> None:
        await self._teller.flush(20)
        assert self.faults == []

    def own_keys(self, ends_in: str = "") -> list[str]:
        return [key.decode() for key in self.server.ask("KEYS", f"{self.namespace}:*{ends_in}")]

    def count(self) -> int:
        return sum(self.server.ask("ZCARD", key) for key in self.own_keys(":u"))

    def held(self) -> int:
        return sum(int(self.server.ask("HGET", key, "bytes")) for key in self.own_keys(":r"))


AnyStore = InMemory | InRedis
Make = Callable[..., Awaitable[AnyStore]]
Shared = Callable[..., Awaitable[InRedis]]


@pytest.fixture(scope="session")
def server() -> Iterator[RedisServer]:
    """A server that tests leave as it is."""
    with redis_server() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis"])
async def make(request: pytest.FixtureRequest, clock: Clock) -> AsyncIterator[Make]:
    """Makes a store of either kind, started; `most` and `bytes` bound it."""
    made: list[AnyStore] = []

    async def store(most: int = MANY.most, bytes: int = MANY.bytes) -> AnyStore:
        if request.param == "memory":
            one: AnyStore = InMemory(most, bytes, clock)
        else:
            one = InRedis(request.getfixturevalue("server"), Budget(most, bytes), clock)
        await one.start()
        made.append(one)
        return one

    yield store
    for one in made:
        await one.stop()


@pytest.fixture
async def shared(server: RedisServer, clock: Clock) -> AsyncIterator[Shared]:
    """Makes stores in Redis, started."""
    made: list[InRedis] = []

    async def store(budget: Budget = MANY) -> InRedis:
        made.append(InRedis(server, budget, clock))
        await made[-1].start()
        return made[-1]

    yield store
    for one in made:
        await one.stop()


async def filled(store: AnyStore, *all_kept: Kept) -> None:
    """All of these are known."""
    for one in all_kept:
        store.add(one)
    await store.settled()
