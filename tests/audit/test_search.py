"""An exchange, and what led to it."""

from __future__ import annotations

from pathlib import Path

from gateway.audit.search import DEEP, indexed, searching
from tests.audit.logs import HOUSE, capture, exchange, name, reuse, write


def test_lines_are_found_by_their_names(tmp_path: Path) -> None:
    write(tmp_path, [HOUSE, *(exchange(n) for n in range(20))])
    with searching(tmp_path) as search:
        found = search.exchange(name(7))
        assert found is not None
        assert found[0]["id"] == name(7)
        assert search.exchange(name(99)) is None
        house = search.house(HOUSE["revision"])
        assert house is not None
        assert house[0]["rules"] == HOUSE["rules"]
        assert search.house("other") is None


def chain(count: int, folder: Path) -> None:
    """Exchanges, each served by the capture of the one before."""
    write(folder, [line for n in range(count) for line in (exchange(n), reuse(n, donor=n - 1 if n else None))])


def test_the_way_back_over_captures_is_walked_as_deep_as_is_wanted(tmp_path: Path) -> None:
    chain(9, tmp_path)
    with searching(tmp_path) as search:
        hops = search.back(name(8))
        assert [(hop.deep, hop.capture["exchange"]) for hop in hops] == [(n, name(8 - n)) for n in range(DEEP + 1)]
        assert [hop.exchange and hop.exchange["id"] for hop in hops] == [
            None,
            *(name(8 - n) for n in range(1, DEEP + 1)),
        ]
        assert [hop.deep for hop in search.back(name(8), deep=2)] == [0, 1, 2]
        assert [hop.deep for hop in search.back(name(1))] == [0, 1]
        assert search.back(name(99)) == []


def test_an_exchange_that_made_several_captures_has_all_their_ways(tmp_path: Path) -> None:
    """Each time it was cut back it went on with another."""
    again = {**reuse(5, donor=2), "capture": capture(50)}
    write(tmp_path, [exchange(1), reuse(1), exchange(2), reuse(2), exchange(5), reuse(5, donor=1), again])
    with searching(tmp_path) as search:
        hops = search.back(name(5))
    assert [(hop.deep, hop.capture["capture"]) for hop in hops] == [
        (0, capture(5)),
        (0, capture(50)),
        (1, capture(1)),
        (1, capture(2)),
    ]


def test_a_circle_ends(tmp_path: Path) -> None:
    write(tmp_path, [reuse(1, donor=2), reuse(2, donor=1), exchange(1), exchange(2)])
    with searching(tmp_path) as search:
        assert [hop.capture["capture"] for hop in search.back(name(1))] == [capture(1), capture(2)]


def test_a_donor_whose_exchange_made_room_is_told_without_it(tmp_path: Path) -> None:
    write(tmp_path, [reuse(1), exchange(2), reuse(2, donor=1)])
    with searching(tmp_path) as search:
        _, donor = search.back(name(2))
    assert (donor.deep, donor.exchange) == (1, None)


def test_a_donor_that_the_log_never_saw_ends_the_way(tmp_path: Path) -> None:
    write(tmp_path, [exchange(2), reuse(2, donor=1)])
    with searching(tmp_path) as search:
        (own,) = search.back(name(2))
    assert own.capture["donor"] == capture(1)


def test_an_index_may_be_used_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    with searching(tmp_path, caught_up=False) as search:
        assert search.exchange(name(1)) is None
    assert indexed(tmp_path) == 3
    with searching(tmp_path, caught_up=False) as search:
        assert search.exchange(name(1)) is not None
