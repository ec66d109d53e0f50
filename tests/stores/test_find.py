"""The script that finds: it changes nothing, and what is damaged does not stop it."""

from __future__ import annotations

import pytest

from gateway.stores import Near
from tests.redis_server import RedisServer
from tests.stores.conftest import Clock, Shared, filled
from tests.stores.sketches import kept, names, sketch


async def test_it_only_reads(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    await filled(store, *(kept(n, sketch(range(n, n + 40), codes=(n,))) for n in range(20)))
    with server.watched() as seen:
        for n in range(20):
            assert await store.find(sketch(range(n, n + 40), codes=(n,)), Near(64, 7))
    commands = {line.split(b'"')[1].upper() for line in seen if b" lua]" in line}
    assert commands == {b"HGET"}


async def test_it_asks_for_no_more_of_the_prefix_once_there_are_enough(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    store = await shared()
    asked = sketch(range(30))
    await filled(store, *(kept(n, asked) for n in range(9)))
    with server.watched() as seen:
        assert len(await store.find(asked._replace(chunks=b"", sizes=()))) == 8
    assert sum(b" lua]" in line for line in seen) == 1 + 8


@pytest.mark.parametrize("damage", [b"", b"R1", b"K1 something else altogether", b"R1" + b"\xff" * 700])
async def test_a_value_that_is_not_ours_is_skipped_and_taken_out(
    server: RedisServer, clock: Clock, shared: Shared, damage: bytes
) -> None:
    store = await shared()
    asked = sketch(range(5), codes=(9,))
    await filled(store, kept("good", asked), kept("bad", asked))
    (records,) = store.own_keys(":r")
    for ident, value in server.ask("HGETALL", records).items():
        if b"capture-bad" in value:
            server.ask("HSET", records, ident, damage)
    assert names(await store.find(asked)) == ["good"]
    await store._teller.flush(20)
    assert names(await store.find(asked)) == ["good"]
    assert set(store.faults) <= {"garbage"}


async def test_keys_of_another_kind_are_skipped(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    asked = sketch(range(5), codes=(9,))
    await filled(store, kept("a", asked))
    for key in store.own_keys():
        server.ask("DEL", key)
        server.ask("SET", key, "a string")
    assert names(await store.find(asked)) == []
    await filled(store, kept("b", asked))
    assert names(await store.find(asked)) == ["b"]
    assert store.up
