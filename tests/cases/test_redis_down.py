"""Cases on a store that is away: requests go on as if there were none, and it comes back by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.plugin import asked, engine, in_front
from tests.redis_server import RedisServer, redis_server
from tests.rig import RawUpstream, Running, answers, completion, quiet, until

LONG = "the terms of settlement, clause after clause " * 80


@asynccontextmanager
async def two(folder: Path, server: RedisServer) -> AsyncIterator[tuple[Running, Running, RawUpstream]]:
    """Two gateways in front of one engine that share a Redis and keep everything."""
    retrace = {"capture": "all", "store": {"type": "redis", "url": server.url, "timeout_ms": 100}}
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    async with (
        engine(answers(completion("fine"))) as (url, up, _),
        in_front(folder / "a", [url], retrace=retrace) as one,
        in_front(folder / "b", [url], retrace=retrace) as other,
    ):
        yield one, other, up


async def ask(running: Running, text: str = LONG) -> int:
    async with await running.chat(text) as answer:
        await answer.read()
        return answer.status


async def known(running: Running, up: RawUpstream, text: str) -> bool:
    """Whether a request with this text is offered a donor."""
    assert await ask(running, text) == 200
    return asked(up.calls[-1])["donor"] is not None


async def soon_known(running: Running, up: RawUpstream, text: str, seconds: float) -> bool:
    async with asyncio.timeout(seconds):
        while not await known(running, up, text):  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.2)
    return True


async def test_what_one_gateway_kept_the_other_finds_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRACE_SALT", "shared by both")
    with redis_server() as server:
        async with two(tmp_path, server) as (one, other, up):
            assert await ask(one) == 200
            await quiet(one)
            await asyncio.sleep(1)
            assert await known(other, up, LONG)
            assert asked(up.calls[-1])["donor"] == asked(up.calls[0])["capture"]


AWAY: dict[str, tuple[Callable[[RedisServer], None], Callable[[RedisServer], None]]] = {
    "frozen": (lambda server: server.freeze(), lambda server: server.thaw()),
    "killed": (lambda server: server.kill(), lambda server: server.start()),
}


@pytest.mark.long
@pytest.mark.parametrize("how", AWAY)
async def test_nothing_fails_while_redis_is_away_and_it_comes_back_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("RETRACE_SALT", "shared by both")
    away, back = AWAY[how]
    with redis_server() as server:
        async with two(tmp_path, server) as (one, other, up):
            await ask(one)
            assert await soon_known(other, up, LONG, 5)
            load = asyncio.gather(*(ask(running, f"{n} {LONG}") for n in range(60) for running in (one, other)))
            await asyncio.sleep(0.02)
            await asyncio.to_thread(away, server)
            assert set(await load) == {200}
            async with asyncio.timeout(20):
                assert {await ask(running) for _ in range(20) for running in (one, other)} == {200}
            ready = await (await one.http.get(f"{one.url}/readyz")).json()
            assert (ready["ready"], ready["store"]) == (True, False)
            assert (await one.metrics())["retrace_store_up"] == 0
            await asyncio.to_thread(back, server)
            await until(lambda: one.server._pipeline.store_up and other.server._pipeline.store_up, 40)
            await ask(one, "new " + LONG)
            assert await soon_known(other, up, "new " + LONG, 10)
