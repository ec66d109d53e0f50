"""The queue in a Redis stream, on a real server, which may be away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.refine._entry import QueueFault, pack
from gateway.refine._queue_redis import RedisReviewing, RedisSink
from gateway.refine.docket import RedisDocket
from tests.redis_server import RedisServer, redis_server
from tests.refine.entries import ONE, entry, ids, until, until_listed

STREAM = "queue"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _empty(server: RedisServer) -> None:
    server.ask("FLUSHALL")


async def fill(server: RedisServer, count: int, most: int = 1000) -> int:
    sink = RedisSink(server.url, STREAM, most)
    try:
        return await sink.write([pack(entry(f"x-{n}")) for n in range(count)])
    finally:
        await sink.close()


def reviewing(server: RedisServer, lease: float = 1000.0) -> RedisReviewing:
    return RedisReviewing(server.url, STREAM, 1000, lease)


async def test_what_was_added_waits_until_somebody_deals_with_it(server: RedisServer) -> None:
    queue = reviewing(server)
    assert await queue.pending() == ((), 0)
    await fill(server, 3)
    listing = await queue.pending()
    assert ids(listing) == ["x-0", "x-1", "x-2"]
    assert listing.waiting[0].entry == entry("x-0")
    ticket = listing.waiting[1].ticket
    assert await queue.done(ticket, "wrong", "利率是4%", "王")
    assert not await queue.done(ticket, "right")
    assert not await queue.done("no ticket", "right")
    assert ids(await queue.pending()) == ["x-0", "x-2"]
    assert ids(await queue.pending(1)) == ["x-0"]
    ((_, kept),) = server.ask("XRANGE", f"{STREAM}:done", "-", "+")
    assert kept[b"verdict"] == b"wrong"
    assert kept[b"note"].decode() == "利率是4%"
    assert kept[b"reviewer"].decode() == "王"
    assert kept[b"entry"] == pack(entry("x-1"))


async def test_two_reviewers_never_take_the_same(server: RedisServer) -> None:
    await fill(server, 4)
    queue = reviewing(server)
    assert ids(await queue.take(2, "王")) == ["x-0", "x-1"]
    assert ids(await queue.take(5, "Li")) == ["x-2", "x-3"]
    assert ids(await queue.take(5, "Zoe")) == []
    assert [one.reviewer for one in (await queue.pending()).waiting] == ["王", "王", "Li", "Li"]
    assert ids(await queue.take(5, "王")) == ["x-0", "x-1"]


async def test_who_has_taken_it_is_known_when_it_is_done(server: RedisServer) -> None:
    await fill(server, 1)
    queue = reviewing(server)
    (one,) = (await queue.take(1, "王")).waiting
    assert await queue.done(one.ticket, "right")
    assert server.ask("XRANGE", f"{STREAM}:done", "-", "+")[0][1][b"reviewer"].decode() == "王"
    assert server.ask("XPENDING", STREAM, "reviewers")["pending"] == 0


async def test_what_was_left_lying_may_be_taken_by_another(server: RedisServer) -> None:
    await fill(server, 3)
    assert ids(await reviewing(server).take(1, "王")) == ["x-0"]
    assert ids(await reviewing(server).take(1, "Li")) == ["x-1"]
    assert ids(await reviewing(server, lease=0.0).take(3, "Li")) == ["x-1", "x-0", "x-2"]


async def test_a_full_stream_gives_up_the_oldest_and_tells_how_many(server: RedisServer) -> None:
    dropped = await fill(server, 500, most=200)
    left = ids(await reviewing(server).pending(1000))
    assert dropped == 500 - len(left) > 0
    assert 200 <= len(left) <= 300
    assert left[-1] == "x-499"


async def test_what_has_left_the_stream_is_nobody_s_task_any_more(server: RedisServer) -> None:
    await fill(server, 2)
    queue = reviewing(server)
    first, second = (await queue.take(2, "王")).waiting
    server.ask("XDEL", STREAM, first.ticket)
    listing = await queue.take(2, "王")
    assert [one.ticket for one in listing.waiting] == [second.ticket]
    assert listing.unread == 1
    assert (await queue.take(2, "王")).unread == 0


async def test_what_is_no_entry_is_told(server: RedisServer) -> None:
    server.ask("XADD", STREAM, "*", "other", "x")
    server.ask("XADD", STREAM, "*", "entry", "{")
    await fill(server, 1)
    listing = await reviewing(server).pending()
    assert (ids(listing), listing.unread) == (["x-0"], 2)


async def test_a_name_that_is_something_else_s_is_a_fault(server: RedisServer) -> None:
    server.ask("SET", STREAM, "x")
    sink = RedisSink(server.url, STREAM, 10)
    with pytest.raises(QueueFault) as told:
        await sink.write([pack(ONE)])
    assert told.value.kind == "refused"
    await sink.close()
    with pytest.raises(QueueFault):
        await reviewing(server).pending()


async def test_a_server_without_room_is_a_fault_and_nothing_is_written_by_halves(server: RedisServer) -> None:
    server.ask("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(QueueFault) as told:
            await fill(server, 3)
    finally:
        server.ask("CONFIG", "SET", "maxmemory", "0")
    assert told.value.kind == "refused"
    assert server.all_keys() == []


async def test_a_server_that_goes_and_comes_back_costs_no_entry(tmp_path: Path) -> None:
    with redis_server() as server:
        heard: list[str] = []
        spec = RedisDocket(url=server.url, stream=STREAM)
        docket = spec.connect(tmp_path, heard.append)
        await docket.start()
        docket.add(entry("before"))
        assert await until_listed(spec.reviewing(tmp_path).pending, 1) == ["before"]
        server.kill()
        docket.add(entry("a"))
        docket.add(entry("b"))
        await until(lambda: "unreachable" in heard)
        with pytest.raises(QueueFault):
            await spec.reviewing(tmp_path).pending()
        assert len(docket) == 2
        server.start()
        assert await until_listed(spec.reviewing(tmp_path).pending, 2) == ["a", "b"]
        await docket.stop()
        assert "lost" not in heard


async def test_a_server_that_says_nothing_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.refine._queue_redis._PATIENCE", 0.1)
    with redis_server() as server:
        heard: list[str] = []
        docket = RedisDocket(url=server.url).connect(tmp_path, heard.append)
        await docket.start()
        server.freeze()
        docket.add(entry("a"))
        await until(lambda: "timeout" in heard)
        assert len(docket) == 1
        server.thaw()
        await until(lambda: len(docket) == 0)
        async with asyncio.timeout(5):
            await docket.stop()
