"""The layout in Redis: which keys there are, and what they hold."""

from __future__ import annotations

import re

from gateway.stores._change import CHANGE
from gateway.stores._find import FIND
from gateway.stores._scripts import script
from tests.redis_server import RedisServer
from tests.stores.conftest import Clock, Shared, filled
from tests.stores.sketches import OTHERS, WHOSE, kept, sketch

KEY = re.compile(r"test\d+:1:\{([0-9a-f]{32})\}:([rut]|\d{1,3}|b\d{3})")


def test_the_server_knows_each_script_by_the_name_that_we_do(server: RedisServer) -> None:
    for one in (FIND, CHANGE, script("return 1")):
        assert server.ask("SCRIPT", "LOAD", one.text).decode() == one.name


async def test_each_call_keeps_to_one_hash_tag_and_no_key_holds_a_word(
    server: RedisServer, clock: Clock, shared: Shared
) -> None:
    store = await shared()
    whole = [
        kept(n, sketch(range(n, n + 50), whose=whose, codes=(n, n << 40)))
        for n in range(9)
        for whose in (WHOSE, OTHERS)
    ]
    with server.watched() as seen:
        await filled(store, *whole)
        for one in whole:
            await store.find(one.sketch)
            store.used(one)
            store.forget(one)
        await store.settled()
    calls, tags = 0, set[str]()
    for line in (told.decode("latin-1") for told in seen):
        words = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
        if " lua]" in line:
            key = KEY.fullmatch(words[1])
            assert key, line
            tags.add(key[1])
        else:
            assert len(tags) <= 1, "a script has touched keys of two tags"
            tags.clear()
            calls += words[0].startswith("EVAL")
    assert calls >= 4 * len(whole)


async def test_keys_live_about_as_long_as_what_is_in_them(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    await filled(store, kept("long", sketch(range(3), codes=(1,)), until=clock() + 500))
    await filled(store, kept("short", sketch(range(2, 9), codes=(1,)), until=clock() + 100))
    lives = {key: server.ask("PTTL", key) / 1000 for key in store.own_keys()}
    assert len(lives) > 10
    assert all(90 < seconds < 570 for seconds in lives.values())
    assert min(lives.values()) < 170
    assert all(lives[key] > 490 for end in (":r", ":u", ":t") for key in store.own_keys(end))


async def test_the_count_of_bytes_is_near_to_what_redis_says(server: RedisServer, clock: Clock, shared: Shared) -> None:
    store = await shared()
    before = server.ask("INFO", "memory")["used_memory"]
    await filled(
        store, *(kept(n, sketch(range(30 * n, 30 * n + 24), codes=(n * 7**19, n * 5**22))) for n in range(900))
    )
    taken = server.ask("INFO", "memory")["used_memory"] - before
    assert 0.5 < taken / store.held() < 1.5
