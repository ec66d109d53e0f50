"""The store in Redis, and all that can happen to a server: nobody waits for it, and it is found again by itself."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import ValidationError

from gateway.breaker import FAULTS
from gateway.plug import plugs
from gateway.stores import Kept
from gateway.stores._teller import QUEUED
from gateway.stores.redis import Plug
from gateway.stores.redis import Redis as Store
from tests.redis_server import RedisServer, redis_server
from tests.stores.servers import SOON, far_from, listening, says, until
from tests.stores.sketches import kept, names, sketch

ONE = kept("one", sketch(range(10), codes=(5,)))


@asynccontextmanager
async def store(url: str, **fields: object) -> AsyncIterator[tuple[Store, list[str]]]:
    """As YAML makes it, but with time for a machine that is busy; and the faults that it tells of."""
    faults: list[str] = []
    spec = Plug.model_validate({"url": url, "timeout_ms": 1000, **fields})
    made = spec.connect(faults.append)
    assert isinstance(made, Store)
    await made.start()
    yield made, faults
    await made.stop()


async def known(made: Store, *all_kept: Kept) -> None:
    for one in all_kept:
        made.add(one)
    await made._teller.flush(SOON)


async def up_again(made: Store) -> None:
    """Without any request: it is found out by itself."""
    await until(lambda: made.up)


async def asked(made: Store, times: int) -> int:
    """How many of so many requests in a row have found something; nothing may raise, nor take for ever."""
    async with asyncio.timeout(SOON):
        return sum([bool(await made.find(ONE.sketch)) for _ in range(times)])


async def test_two_processes_share_what_they_know(server: RedisServer) -> None:
    async with store(server.url) as (here, _), store(server.unix_url) as (there, faults):
        here.add(ONE)
        async with asyncio.timeout(SOON):
            while not await there.find(ONE.sketch):  # noqa: ASYNC110 - nobody is told of it
                await asyncio.sleep(0.01)
        assert list(await there.find(ONE.sketch)) == [ONE]
        there.forget(ONE)
        await there._teller.flush(SOON)
        assert list(await here.find(ONE.sketch)) == []
        assert faults == []


async def test_namespaces_and_databases_are_apart(server: RedisServer) -> None:
    async with (
        store(server.url, namespace="a") as (a, _),
        store(server.url, namespace="b") as (b, _),
        store(server.url.replace("/0", "/1"), namespace="a") as (other, _),
    ):
        await known(a, ONE)
        assert [names(await one.find(ONE.sketch)) for one in (a, b, other)] == [["one"], [], []]


async def test_a_frozen_server_costs_three_requests_a_moment_and_the_others_nothing() -> None:
    with redis_server() as server:
        async with store(server.url, timeout_ms=50) as (made, faults):
            await known(made, ONE)
            server.freeze()
            assert await asked(made, 200) == 0
            assert not made.up
            assert Counter(faults)["timeout"] >= FAULTS
            assert len(faults) <= FAULTS + 4  # those, and one or two looks at it meanwhile
            server.thaw()
            await up_again(made)
            assert await asked(made, 5) == 5


@pytest.mark.long
async def test_a_server_that_was_frozen_from_the_start_is_found_when_it_wakes() -> None:
    with redis_server() as server:
        server.freeze()
        async with asyncio.timeout(SOON):
            async with store(server.url, timeout_ms=50) as (made, _):
                assert not made.up
                assert await asked(made, 200) == 0
                made.add(ONE)
                server.thaw()
                await up_again(made)
                await made._teller.flush(SOON)
                assert await asked(made, 1) == 1


async def test_many_at_once_wait_no_longer_than_one() -> None:
    with redis_server() as server:
        async with store(server.url, timeout_ms=50) as (made, faults):
            server.freeze()
            async with asyncio.timeout(SOON):
                found = await asyncio.gather(*(made.find(ONE.sketch) for _ in range(300)))
            assert not any(found)
            assert set(faults) <= {"timeout", "unreachable"}
            assert not made.up
            server.thaw()
            await up_again(made)


async def test_a_server_that_is_gone_is_unreachable_until_it_is_back_and_told_all_anew() -> None:
    with redis_server() as server:
        async with store(server.url) as (made, faults):
            await known(made, ONE)
            server.kill()
            await until(lambda: not made.up)
            assert await asked(made, 200) == 0
            assert "unreachable" in faults
            assert set(faults) <= {"unreachable"}
            two = kept("two", sketch(range(5)))
            made.add(two)
            server.start()
            await up_again(made)
            await until(lambda: server.all_keys())
            assert names(await made.find(two.sketch)) == ["two"]  # the server knows neither the scripts nor the rest


async def test_a_server_that_was_never_there_is_found_when_it_comes() -> None:
    with redis_server() as server:
        server.kill()
        async with store(server.url) as (made, _):
            assert not made.up
            await known(made, ONE)
            server.start()
            await up_again(made)
            await until(lambda: server.all_keys())
            assert await asked(made, 1) == 1


async def test_a_server_that_has_forgotten_all_is_no_fault() -> None:
    with redis_server() as server:
        async with store(server.url) as (made, faults):
            await known(made, ONE)
            server.ask("FLUSHALL")
            server.ask("SCRIPT", "FLUSH")
            assert await asked(made, 1) == 0
            await known(made, ONE)
            assert await asked(made, 1) == 1
            server.ask("SCRIPT", "FLUSH")
            assert await asked(made, 5) == 5
            assert made.up
            assert faults == []


async def test_a_full_server_refuses_what_is_new_and_still_finds_what_it_knows() -> None:
    with redis_server() as server:
        async with store(server.url) as (made, faults):
            await known(made, ONE)
            server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
            server.ask("CONFIG", "SET", "maxmemory", "1")
            await known(made, kept("two", sketch(range(50, 60))))
            assert faults == ["refused"]
            assert await asked(made, 10) == 10
            assert names(await made.find(sketch(range(50, 60)))) == []
            assert made.up
            server.ask("SCRIPT", "FLUSH")
            assert await asked(made, 10) == 10
            server.ask("CONFIG", "SET", "maxmemory", "0")
            await known(made, kept("two", sketch(range(50, 60))))
            assert names(await made.find(sketch(range(50, 60)))) == ["two"]


async def test_a_server_that_makes_room_by_itself_loses_captures_and_nothing_else() -> None:
    with redis_server("--maxmemory", "3mb", "--maxmemory-policy", "allkeys-random") as server:
        async with store(server.url) as (made, faults):
            rng = random.Random(1)
            for n in range(1500):
                whose = bytes([n % 3]) * 16
                made.add(kept(n, sketch(rng.choices(range(400), k=20), whose=whose, codes=(rng.getrandbits(64),))))
                if n % 100 == 99:
                    await made._teller.flush(SOON)
                    await made.find(sketch(rng.choices(range(400), k=20), whose=whose))
            assert int(server.ask("INFO", "stats")["evicted_keys"]) > 100
            assert faults == []
            await known(made, ONE)
            assert await asked(made, 1) == 1


async def test_a_slow_server_is_left_alone() -> None:
    with redis_server() as server:
        async with listening(far_from(server.port, 0.3)) as url, store(url, timeout_ms=50) as (made, faults):
            assert await asked(made, 100) == 0
            assert set(faults) == {"timeout"}
            assert not made.up


async def test_a_server_far_away_is_as_good_as_any_if_requests_may_wait_for_it() -> None:
    with redis_server() as server:
        async with listening(far_from(server.port, 0.1)) as url, store(url) as (made, faults):
            await known(made, ONE)
            assert await asked(made, 3) == 3
            assert faults == []


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", {"garbage"}),
        (b"+OK\r\n", {"garbage"}),
        (b"*2\r\n:0\r\n*1\r\n:7\r\n", {"garbage"}),
        (b"\x00" * 5000, {"garbage"}),
        (b"-DENIED nobody may\r\n", {"refused"}),
        (b"-LOADING the dataset\r\n", {"refused"}),
        (b"$1000000000\r\nlong", {"timeout"}),
        (b"", {"timeout"}),
    ],
)
async def test_whatever_it_says_nothing_is_found_and_nothing_raises(words: bytes, kinds: set[str]) -> None:
    async with listening(says(words)) as url, store(url, timeout_ms=50) as (made, faults):
        made.add(ONE)
        assert await asked(made, 100) == 0
        assert not made.up
        assert kinds <= set(faults) <= kinds | {"unreachable"}


async def test_a_record_that_is_garbage_is_no_reason_to_give_up() -> None:
    async with listening(says(b"*2\r\n:0\r\n*1\r\n$3\r\nabc\r\n")) as url, store(url) as (made, faults):
        assert await asked(made, 5) == 0
        assert made.up
        assert set(faults) == {"garbage"}


async def test_a_wrong_password_is_refused_and_never_written_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with redis_server("--requirepass", "right-one") as server:
        monkeypatch.setenv("TEST_REDIS", server.url.replace("//", "//:wrong-one@"))
        faults: list[str] = []
        made = Plug(url_env="TEST_REDIS").connect(faults.append)
        await made.start()
        assert list(await made.find(ONE.sketch)) == []
        assert not made.up
        assert "refused" in faults
        assert set(faults) <= {"refused", "unreachable"}
        await made.stop()
        monkeypatch.setenv("TEST_REDIS", server.url.replace("//", "//:right-one@"))
        made = Plug(url_env="TEST_REDIS").connect(faults.append)
        await made.start()
        assert made.up
        await made.stop()
    assert "down" in caplog.text
    assert "wrong-one" not in caplog.text
    assert "wrong-one" not in repr(Plug(url_env="TEST_REDIS"))


async def test_what_is_told_to_nobody_is_bounded_and_the_newest_stay() -> None:
    with redis_server() as server:
        async with store(server.url) as (made, faults):
            server.kill()
            await until(lambda: not made._telling.is_open)
            for n in range(QUEUED + 5):
                made.add(kept(n, sketch([n])))
            assert faults.count("displaced") == 5
            server.start()
            await up_again(made)
            await until(lambda: made._telling.is_open)
            await made._teller.flush(SOON)
            assert [names(await made.find(sketch([n]))) for n in (4, 5, QUEUED + 4)] == [[], ["5"], [str(QUEUED + 4)]]


async def test_what_was_told_last_is_not_lost_when_it_stops(server: RedisServer) -> None:
    async with store(server.url, namespace="last") as (made, _):
        for n in range(200):
            made.add(kept(n, sketch([n])))
    async with store(server.url, namespace="last") as (made, _):
        assert names(await made.find(sketch([199]))) == ["199"]


async def test_who_has_not_started_or_has_stopped_finds_nothing(server: RedisServer) -> None:
    made = Plug(url=server.url).connect(lambda _: None)
    assert not made.up
    assert list(await made.find(ONE.sketch)) == []
    await made.stop()
    await made.start()
    await made.stop()
    assert list(await made.find(ONE.sketch)) == []


def test_yaml_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugs("stores")["redis"] is Plug
    monkeypatch.setenv("GOOD", "rediss://:secret-word@example.org/2")
    monkeypatch.setenv("BAD", "http://:secret-word@example.org")
    assert Plug(url="unix:///run/redis.sock").address == "unix:///run/redis.sock"
    assert Plug(url_env="GOOD").address.startswith("rediss")
    for wrong in (
        {},
        {"url": "redis://a", "url_env": "GOOD"},
        {"url": "http://a"},
        {"url": "redis://:secret-word@a"},
        {"url": "unix:///run/redis.sock?password=secret-word"},
        {"url_env": "BAD"},
        {"url_env": "NOT_THERE"},
        {"url": "redis://a", "timeout_ms": 0},
        {"url": "redis://a", "namespace": "a{b}"},
        {"url": "redis://a", "most": 0},
    ):
        with pytest.raises(ValidationError) as refused:
            Plug.model_validate(wrong)
        if "url_env" in wrong:
            assert "secret-word" not in str(refused.value)
