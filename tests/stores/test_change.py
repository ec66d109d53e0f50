"""The script that changes: it leaves nothing behind, and mends what others have broken."""

from __future__ import annotations

import random

from tests.redis_server import RedisServer
from tests.stores.conftest import MANY, Clock, InRedis, Shared, filled
from tests.stores.sketches import kept, names, sketch


def ids_anywhere(store: InRedis) -> set[bytes]:
    """All ids that any hash or code leads to."""
    found = set()
    for key in store.own_keys():
        last = key.rpartition(":")[2]
        if last not in ("r", "u", "t"):
            width = 16 if last.startswith("b") else 8
            for value in store.server.ask("HVALS", key):
                assert len(value) % width == 0
                found |= {value[at : at + 8] for at in range(0, len(value), width)}
    return found


def ids_known(store: InRedis) -> set[bytes]:
    return {ident for key in store.own_keys(":r") for ident in store.server.ask("HKEYS", key)} - {b"bytes"}


async def test_after_many_came_and_went_there_is_no_trace_of_those_gone(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    store = await shared(MANY._replace(most=30))
    rng = random.Random(1)
    for n in range(300):
        of = sketch(rng.sample(range(500), 20), codes=(rng.getrandbits(64), rng.getrandbits(64)))
        store.add(kept(n, of, until=clock() + rng.choice([5, 1000])))
        clock.seconds += 0.1
        if rng.random() < 0.2:
            store.forget(kept(rng.randrange(n + 1), of))
    await store.settled()
    known = ids_known(store)
    assert 0 < len(known) <= 30
    assert ids_anywhere(store) == known
    for key in (*store.own_keys(":u"), *store.own_keys(":t")):
        assert set(server.ask("ZRANGE", key, 0, -1)) == known


async def test_when_the_last_is_forgotten_no_key_is_left(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    all_kept = [kept(n, sketch(range(n, n + 60), codes=(n, n))) for n in range(20)]
    await filled(store, *all_kept)
    assert len(store.own_keys()) > 100
    for one in all_kept:
        store.forget(one)
    await store.settled()
    assert store.own_keys() == []


async def test_what_ended_is_taken_out_when_it_is_met(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    await filled(store, *(kept(n, sketch([n, 99]), until=clock() + 10) for n in range(50)))
    clock.seconds += 20
    for _ in range(8):  # a few at a time
        assert names(await store.find(sketch([99]))) == []
        await store.settled()
    assert store.own_keys() == []


async def test_what_leads_nowhere_is_taken_out_when_it_is_met(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    store = await shared()
    asked = sketch(range(5), codes=(9,))
    await filled(store, *(kept(n, asked) for n in range(5)))
    for key in store.own_keys(":r"):  # as a server does that has to make room for others
        server.ask("DEL", key)
    assert len(ids_anywhere(store)) == 5
    assert names(await store.find(asked)) == []
    await store._teller.flush(20)
    await store.settled()
    assert ids_anywhere(store) == set()


async def test_a_partition_of_which_a_part_is_lost_begins_anew(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    for lost in (":r", ":u", ":t"):
        store = await shared(MANY._replace(most=10))
        await filled(store, *(kept(n, sketch([n])) for n in range(10)))
        server.ask("DEL", *store.own_keys(lost))
        await filled(store, *(kept(n, sketch([n])) for n in range(20, 27)))
        assert store.count() == 7
        assert [n for n in range(30) if await store.find(sketch([n]))] == [*range(20, 27)]


async def test_who_was_used_long_ago_is_not_moved_by_news_of_somebody_else(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    store = await shared()
    store.used(kept("never added", sketch([1])))
    await store.settled()
    assert store.own_keys() == []
