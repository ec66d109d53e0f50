"""The names that everybody knows."""

from __future__ import annotations

from gateway.gates._lexicon import cut
from gateway.gates._names import ROWS, SUFFIXES, SURNAMES, TITLES
from gateway.gates._rows import rows


def test_no_name_is_another_s() -> None:
    names = [name for sides in rows(ROWS) for side in sides for name in side]
    assert len(set(names)) == len(names)
    assert [sides for sides in rows(ROWS) if len(sides) != 1] == []


def test_no_name_is_cut_in_two() -> None:
    names = [name for sides in rows(ROWS) for side in sides for name in side]
    assert [name for name in names if list(cut(name)) != [name]] == []


def test_what_tells_a_name_is_short_and_one_word() -> None:
    assert all(len(name) == 1 for name in SURNAMES)
    assert [word for word in SUFFIXES | TITLES if list(cut(word)) != [word]] == []
