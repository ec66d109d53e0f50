"""What changes is told in order, and never at anybody's cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.stores._link import Command, Link
from gateway.stores._scripts import Script
from gateway.stores._teller import QUEUED, Teller
from tests.redis_server import RedisServer, redis_server
from tests.stores.servers import until

NOTES = Script("if ARGV[1] == '' then return redis.error_reply('OOM full') end "
               "return redis.call('RPUSH', KEYS[1], ARGV[1])", "")  # fmt: skip


def named(server: RedisServer) -> Script:
    """The script, which this server does not know."""
    name = server.ask("SCRIPT", "LOAD", NOTES.text).decode()
    server.ask("SCRIPT", "FLUSH")
    return NOTES._replace(name=name)


@asynccontextmanager
async def telling(server: RedisServer, opened: bool = True) -> AsyncIterator[tuple[Teller, Script, list[str], Link]]:
    link, script, seen = Link(server.url), named(server), list[str]()
    if opened:
        await link.open(20)
    teller = Teller(link, script, seen.append)
    running = asyncio.create_task(teller.run())
    yield teller, script, seen, link
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await link.close()


def note(script: Script, number: object, where: str = "notes") -> Command:
    return ("EVALSHA", script.name, 1, where, str(number))


def noted(server: RedisServer, where: str = "notes") -> list[int]:
    return [int(one) for one in server.ask("LRANGE", where, 0, -1)]


async def test_all_is_told_in_order_to_a_server_that_has_never_heard_of_the_script() -> None:
    with redis_server() as server:
        async with telling(server) as (teller, script, seen, _):
            for n in range(100):
                teller.tell(note(script, n))
            await teller.flush(20)
            assert noted(server) == [*range(100)]
            server.ask("SCRIPT", "FLUSH")
            for n in range(100, 200):
                teller.tell(note(script, n))
            await teller.flush(20)
            assert noted(server) == [*range(200)]
            assert seen == []


async def test_what_is_refused_is_said_and_not_told_again() -> None:
    with redis_server() as server:
        async with telling(server) as (teller, script, seen, _):
            for number in (1, "", 2, "", 3):
                teller.tell(note(script, number))
            await teller.flush(20)
            assert noted(server) == [1, 2, 3]
            assert seen == ["refused", "refused"]


async def test_the_oldest_are_given_up_when_too_many_wait_and_the_rest_is_told_in_the_end() -> None:
    with redis_server() as server:
        async with telling(server, opened=False) as (teller, script, seen, link):
            for n in range(QUEUED + 30):
                teller.tell(note(script, n))
            assert seen == ["displaced"] * 30
            await link.open(20)
            await teller.flush(20)
            assert noted(server) == [*range(30, QUEUED + 30)]


async def test_what_was_not_answered_is_told_again() -> None:
    with redis_server() as server:
        async with telling(server) as (teller, script, seen, link):
            server.freeze()
            for n in range(20):
                teller.tell(note(script, n))
            await until(lambda: "timeout" in seen)
            server.thaw()
            await until(lambda: set(noted(server)) == set(range(20)))
            assert link.is_open


async def test_tidying_waits_for_the_rest_and_is_done_once_for_each_place() -> None:
    with redis_server() as server:
        async with telling(server, opened=False) as (teller, script, _, link):
            for n in range(5):
                teller.tidy("here", note(script, 100 + n))
                teller.tell(note(script, n))
            await link.open(20)
            await teller.flush(20)
            await until(lambda: noted(server) == [0, 1, 2, 3, 4, 104])
