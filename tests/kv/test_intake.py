"""Records that come together: all of them or the first few, in order, within the bound, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv.nouns import Block, State
from gateway.kv.pool import Pool
from tests.kv.pools import OWNER, RECORD, TOKENS, block, fill, known, lying, record, small, sound


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    pool = Pool(small(tmp_path, records=8))
    yield pool
    usage = pool.usage()
    assert usage.bytes == lying(tmp_path / "pool") <= usage.size
    pool.close()


def some(id: str, *numbers: int) -> list[tuple[Block, bytes]]:
    return [(block(id, number), record(id, number)) for number in numbers]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=5, unique=True).map(sorted), max_size=8))
def test_together_is_as_one_after_the_other(tmp_path_factory: pytest.TempPathFactory, turns: list[list[int]]) -> None:
    pools = [Pool(small(tmp_path_factory.mktemp("pool"))) for _ in range(2)]
    for pool in pools:
        assert pool.begin("a", OWNER, TOKENS, RECORD)
    for numbers in turns:
        together = pools[0].put("a", *some("a", *numbers))
        single = 0
        for number in numbers:
            if not pools[1].put("a", *some("a", number)):
                break
            single += 1
        assert together == single
    for pool in pools:
        pool.keep("a", "R203")
        assert not known(pool, "a").blocks or sound(pool, "a")
    one, other = (known(pool, "a") for pool in pools)
    assert (one.tokens, one.holes) == (other.tokens, other.holes)
    assert pools[0].usage() == pools[1].usage()
    for pool in pools:
        pool.close()


def test_room_is_made_for_as_many_as_can_be(pool: Pool) -> None:
    for id in ("x", "y", "z"):
        fill(pool, id, 2)
    pool.begin("a", OWNER, TOKENS, RECORD)
    with pool.lease("z"):
        assert pool.put("a", *some("a", *range(8))) == 6, "all but what is being read makes way"
        assert known(pool, "a").blocks == 6
    assert known(pool, "z").state == State.KEPT
    assert pool.put("a", *some("a", 6, 7)) == 2
    assert pool.put("a", *some("a", 8)) == 0
    pool.keep("a", "R203")
    assert sound(pool, "a")


def test_what_is_over_or_of_another_size_takes_none(pool: Pool) -> None:
    fill(pool, "over")
    assert pool.put("over", *some("over", 1, 2)) == 0
    assert pool.put("unknown", *some("unknown", 0, 1)) == 0
    pool.begin("a", OWNER, TOKENS, RECORD)
    with pytest.raises(ValueError, match="has blocks of 4 tokens and 64 bytes"):
        pool.put("a", *some("a", 0), (block("a", 1), bytes(RECORD - 1)))
    assert known(pool, "a").blocks == 0


def test_one_that_can_t_be_written_costs_the_capture_with_all_of_its_blocks(tmp_path: Path, small_files: int) -> None:
    pool = Pool(small(tmp_path, size=8 << 20))
    size = small_files // 3
    pool.begin("a", OWNER, TOKENS, size)
    given = [(block("a", number, size), record("a", number, size)) for number in range(4)]
    assert pool.put("a", given[0]) == 1
    assert pool.put("a", *given[1:]) == 0
    assert known(pool, "a").state == State.EXPIRED
    assert pool.usage().bytes == 0 == lying(tmp_path / "pool")
    pool.close()
