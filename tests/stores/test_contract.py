"""What every store promises, tried on each."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.stores import Kept, Near, Sketch
from gateway.stores.memory import Memory
from tests.redis_server import RedisServer
from tests.stores.conftest import MANY, AnyStore, Clock, InMemory, InRedis, Make, filled
from tests.stores.sketches import OTHERS, WHOSE, kept, names, sketch

ALL = (1 << 64) - 1


async def test_what_is_added_is_found_as_it_was(make: Make) -> None:
    store = await make()
    one = Kept("c", "http://r", "R101", "会话 \udcff", 4e9 + 0.25, sketch(range(30), codes=(ALL, 0)))
    await filled(store, one)
    assert list(await store.find(one.sketch)) == [one]
    assert store.up


async def test_the_longest_prefix_comes_first(make: Make) -> None:
    store = await make()
    await filled(store, *(kept(n, sketch([*range(n), *range(100 + n, 110)])) for n in (2, 7, 4, 1, 6)))
    assert names(await store.find(sketch(range(10))))[:5] == ["7", "6", "4", "2", "1"]


async def test_a_passage_is_found_wherever_it_stands(make: Make) -> None:
    store = await make()
    passage = [*range(50, 60)]
    await filled(
        store,
        kept("half", sketch([1, 2, *passage[:5]])),
        kept("whole", sketch([3, *passage, 4])),
        kept("none", sketch([5, 6, 7])),
    )
    assert names(await store.find(sketch([8, 9, 10, 11, *passage, 12]))) == ["whole", "half"]


async def test_bytes_of_text_count_not_chunks(make: Make) -> None:
    store = await make()
    await filled(store, kept("many", sketch([1, 2, 3])), kept("large", sketch([4])))
    asked = sketch([9, 1, 2, 3, 4], sizes=[10, 10, 10, 10, 500])
    assert names(await store.find(asked)) == ["large", "many"]


async def test_a_near_code_is_found_and_a_far_one_is_not(make: Make) -> None:
    store = await make()
    code = 0x0123_4567_89AB_CDEF
    rng = random.Random(5)
    for bits in range(9):
        for name in range(4):
            changed = code
            for bit in rng.sample(range(64), bits):
                changed ^= 1 << bit
            store.add(kept(f"{bits}-{name}", sketch([1000 + 10 * bits + name], codes=(ALL, changed))))
    await store.settled()
    for radius, found in ((0, 4), (1, 8), (2, 8), (3, 8)):
        by_code = names(await store.find(sketch([1], codes=(0, code)), Near(64, radius)))
        assert len(by_code) == found
        bits_off = [int(name.split("-")[0]) for name in by_code]
        assert bits_off == sorted(bits_off)
        assert max(bits_off) <= radius
    for bits in range(1, 8):
        for name in range(4):
            store.forget(kept(f"{bits - 1}-{name}", sketch([1])))
        await store.settled()
        by_code = names(await store.find(sketch([1], codes=(0, code)), Near(64, bits)))
        assert sorted(by_code) == [f"{bits}-{name}" for name in range(4)]


async def test_only_the_lowest_bits_of_a_code_count_if_so_many_are_named(make: Make) -> None:
    store = await make()
    await filled(store, kept("same", sketch([1], codes=(0xABCD_0000_0000_0007,))))
    asked = sketch([2], codes=(0x7,))
    assert names(await store.find(asked, Near(32, 0))) == ["same"]
    assert names(await store.find(asked, Near(32, 1))) == ["same"]
    assert names(await store.find(asked, Near(64, 3))) == []


async def test_codes_of_two_kinds_are_not_compared(make: Make) -> None:
    store = await make()
    await filled(store, kept("one", sketch([1], codes=(ALL, 0))), kept("two", sketch([2], codes=(0,))))
    assert names(await store.find(sketch([3], codes=(0, ALL)))) == []
    assert names(await store.find(sketch([3], codes=(ALL,)))) == []
    assert names(await store.find(sketch([3], codes=(ALL ^ 1, ALL)))) == ["one"]


async def test_what_has_ended_is_not_found(make: Make, clock: Clock) -> None:
    store = await make()
    asked = sketch(range(5), codes=(1,))
    await filled(store, kept("soon", asked, until=clock() + 10), kept("late", asked, until=clock() + 100))
    assert sorted(names(await store.find(asked))) == ["late", "soon"]
    clock.seconds += 20
    assert names(await store.find(asked)) == ["late"]
    clock.seconds += 100
    assert names(await store.find(asked)) == []
    await store.settled()
    assert store.count() == 0


async def test_what_is_forgotten_is_not_found(make: Make) -> None:
    store = await make()
    asked = sketch(range(5), codes=(1,))
    await filled(store, kept("a", asked), kept("b", asked))
    store.forget(kept("a", asked))
    store.forget(kept("never there", asked))
    store.used(kept("never there", asked))
    await store.settled()
    assert names(await store.find(asked)) == ["b"]


async def test_who_is_added_again_is_there_once_as_he_is_now(make: Make, clock: Clock) -> None:
    store = await make()
    await filled(store, kept("a", sketch(range(5)), until=clock() + 10), kept("a", sketch(range(3, 9))))
    clock.seconds += 50
    assert list(await store.find(sketch(range(9)))) == [kept("a", sketch(range(3, 9)))]
    assert store.count() == 1


async def test_the_same_name_at_another_replica_is_another_capture(make: Make) -> None:
    store = await make()
    await filled(store, kept("a", sketch([1])), kept("a", sketch([1]), replica="http://b:8000"))
    assert [one.replica for one in await store.find(sketch([1]))] == ["http://b:8000", "http://a:8000"]


async def test_of_equal_ones_the_newest_are_found(make: Make) -> None:
    store = await make()
    asked = sketch(range(5), codes=(7,))
    await filled(store, *(kept(n, asked) for n in range(30)))
    found = names(await store.find(asked))
    assert found[:8] == [str(n) for n in range(29, 21, -1)]


async def test_never_more_than_eight_of_each_kind_and_none_twice(make: Make) -> None:
    store = await make()
    head, passage, code = [*range(4)], [*range(50, 54)], 99
    for n in range(12):
        store.add(kept(f"head{n}", sketch([*head, 1000 + n])))
        store.add(kept(f"passage{n}", sketch([2000 + n, *passage])))
        store.add(kept(f"code{n}", sketch([3000 + n], codes=(code,))))
        store.add(kept(f"all{n}", sketch([*head, *passage], codes=(code,))))
    await store.settled()
    found = names(await store.find(sketch([*head, 5, *passage], codes=(code,))))
    assert 8 <= len(found) <= 24
    assert len(set(found)) == len(found)
    only_head, only_passage = sketch([*head, 7]), sketch([7, 8, *passage])
    assert len(await store.find(only_head._replace(chunks=b"", sizes=()))) == 8
    assert len(await store.find(only_passage)) == 8
    assert len(await store.find(sketch([7], codes=(code,)))) == 8


async def test_a_crowd_that_shares_a_start_does_not_hide_the_one_that_shares_more(make: Make) -> None:
    store = await make()
    head = [*range(4)]
    await filled(store, kept("mine", sketch([*head, 10, 11, 12])))
    await filled(store, *(kept(n, sketch([*head, 1000 + n])) for n in range(100)))
    assert names(await store.find(sketch([*head, 10, 11, 13])))[0] == "mine"


async def test_long_and_short_prompts_meet(make: Make) -> None:
    store = await make()
    await filled(store, kept("long", sketch(range(700))), kept("other", sketch(range(5000, 5700))))
    assert names(await store.find(sketch([*range(700), *range(900, 1300)]))) == ["long"]  # it goes on
    assert names(await store.find(sketch([*range(650), *range(900, 1300)]))) == ["long"]  # it turns off
    assert names(await store.find(sketch([*range(900, 1300), *range(700)]))) == ["long"]  # it is in the middle
    assert names(await store.find(sketch([0, 1, 2, 3]))) == ["long"]  # it has only begun


async def test_sketches_may_be_empty(make: Make) -> None:
    store = await make()
    await filled(store, kept("empty", sketch([])), kept("one", sketch([1])))
    assert names(await store.find(sketch([]))) == []
    assert names(await store.find(sketch([1]))) == ["one"]
    store.forget(kept("empty", sketch([])))
    await store.settled()
    assert store.count() == 1


async def test_who_was_used_stays_when_others_have_to_go(make: Make) -> None:
    store = await make(most=10)
    all_kept = [kept(n, sketch([n])) for n in range(20)]
    await filled(store, *all_kept[:10])
    for one in (all_kept[3], all_kept[0]):
        store.used(one)
    await filled(store, *all_kept[10:18])
    left = [n for n in range(20) if await store.find(sketch([n]))]
    assert left == [0, 3, *range(10, 18)]


async def test_never_more_than_so_many_nor_more_than_so_many_bytes(make: Make) -> None:
    store = await make(most=25)
    for n in range(60):
        await filled(store, kept(n, sketch(range(n, n + 10))))
        assert store.count() == min(n + 1, 25)
    room = store.held()  # of 25, about
    narrow = await make(bytes=room)
    for n in range(60):
        await filled(narrow, kept(n, sketch(range(n, n + 1 + n % 40))))
        assert 0 < narrow.held() <= room
    assert 10 < narrow.count() < 40
    assert names(await narrow.find(sketch(range(59, 59 + 20)))) != []
    before = narrow.count()
    await filled(narrow, kept("huge", sketch(range(50_000, 56_000))))
    assert narrow.count() == before
    assert names(await narrow.find(sketch(range(50_000, 56_000)))) == []


async def test_who_is_left_after_many_came_and_went_is_found(make: Make) -> None:
    store = await make(most=50)
    all_kept = [
        kept(n, sketch([n % 5, *range(10 * n, 10 * n + 8)], codes=(n * 0x9E3779B97F4A7C15 & ALL,))) for n in range(200)
    ]
    await filled(store, *all_kept)
    for one in all_kept[:150]:
        assert one not in await store.find(one.sketch)
    for one in all_kept[150:]:
        assert (await store.find(one.sketch))[0] == one
        by_code = await store.find(sketch([99_999], codes=one.sketch.codes))
        assert list(by_code) == [one]


async def test_many_ask_and_tell_at_once(make: Make) -> None:
    store = await make(most=200)
    all_kept = [kept(n, sketch(range(10 * n, 10 * n + 10))) for n in range(300)]

    async def lives(numbers: Sequence[int]) -> Counter[bool]:
        seen: Counter[bool] = Counter()
        for n in numbers:
            store.add(all_kept[n])
            await asyncio.sleep(0)
            found = await store.find(all_kept[n].sketch)
            assert set(found) <= {all_kept[n]}
            seen[bool(found)] += 1
            store.used(all_kept[n])
            if n % 7 == 0:
                store.forget(all_kept[n])
        return seen

    await asyncio.gather(*(lives(range(start, 300, 20)) for start in range(20)))
    await store.settled()
    left = [n for n in range(300) if await store.find(all_kept[n].sketch)]
    assert 150 < len(left) == store.count() <= 200
    assert not [n for n in left if n % 7 == 0]


# What a reading of the promise, word by word, would find: all that have anything in common, if they are few.


def in_common(one: Sketch, other: Sketch, radius: int) -> bool:
    def words(raw: bytes) -> set[bytes]:
        return {raw[at : at + 8] for at in range(0, len(raw), 8)}

    near = len(one.codes) == len(other.codes) and any(
        (a ^ b).bit_count() <= radius for a, b in zip(one.codes, other.codes, strict=True)
    )
    return near or bool(words(one.chunks) & words(other.chunks)) or bool(words(one.prefix) & words(other.prefix))


sketches = st.builds(
    lambda numbers, whose, codes: sketch(numbers, whose=whose, codes=codes),
    st.lists(st.integers(0, 9), max_size=6),
    st.sampled_from([WHOSE, OTHERS, b"", bytes(16)]),
    st.one_of(st.just(()), st.tuples(st.sampled_from([0, 1, 3, 0xFF, ALL, ALL << 40 & ALL]))),
)
steps = st.lists(st.tuples(st.sampled_from(["add", "add", "forget", "used"]), st.integers(0, 7), sketches), max_size=20)


async def agrees_with_the_promise(store: AnyStore, told: list[tuple[str, int, Sketch]], asked: list[Sketch]) -> None:
    known: dict[tuple[bytes, int], Kept] = {}
    for what, name, of in told:
        one = kept(name, of)
        getattr(store, what)(one)
        if what == "add":
            known[of.whose, name] = one
        elif what == "forget":
            known.pop((of.whose, name), None)
    await store.settled()
    for of in asked:
        wanted = {one for one in known.values() if one.sketch.whose == of.whose and in_common(one.sketch, of, 3)}
        found = await store.find(of)
        assert len(found) == len(set(found))
        assert set(found) == wanted


@settings(max_examples=150, deadline=None)
@given(steps, st.lists(sketches, min_size=1, max_size=4))
def test_memory_finds_exactly_what_has_something_in_common_and_is_of_the_same(
    told: list[tuple[str, int, Sketch]], asked: list[Sketch]
) -> None:
    asyncio.run(agrees_with_the_promise(InMemory(*MANY, Clock()), told, asked))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.lists(sketches, min_size=1, max_size=4))
def test_redis_finds_exactly_what_has_something_in_common_and_is_of_the_same(
    server: RedisServer, told: list[tuple[str, int, Sketch]], asked: list[Sketch]
) -> None:
    async def tried() -> None:
        store = InRedis(server, MANY, Clock())
        await store.start()
        try:
            await agrees_with_the_promise(store, told, asked)
        finally:
            await store.stop()

    asyncio.run(tried())


def test_both_have_what_a_store_has() -> None:
    for kind in (Memory, InRedis):
        assert {"up", "start", "find", "add", "used", "forget", "stop"} <= set(dir(kind))


@pytest.mark.parametrize("bits", [0, 8, 24])
async def test_few_bits_are_no_reason_to_fail(make: Make, bits: int) -> None:
    store = await make()
    await filled(store, kept("a", sketch([1], codes=(5,))))
    for one in await store.find(sketch([2], codes=(5,)), Near(bits, 0)):
        assert one.capture == "capture-a"


async def test_who_never_ends_and_who_has_ended_before_he_comes(make: Make, clock: Clock) -> None:
    store = await make()
    await filled(
        store, kept("never", sketch([1]), until=float("inf")), kept("before", sketch([1]), until=clock.seconds - 5)
    )
    assert store.count() == 1
    clock.seconds += 1e9
    assert names(await store.find(sketch([1]))) == ["never"]
