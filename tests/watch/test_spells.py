"""How long a condition has held without a break."""

from __future__ import annotations

from gateway.watch._spells import GAP, Spells


def run(spells: Spells, at: float, **holds: bool) -> dict[str, float]:
    spells.look(at)
    return {name: spells.held(name, held) for name, held in holds.items()}


def test_it_counts_from_the_first_look_at_which_it_held() -> None:
    spells = Spells()
    assert run(spells, 100, a=True, b=False) == {"a": 0, "b": -1}
    assert run(spells, 115, a=True, b=True) == {"a": 15, "b": 0}
    assert run(spells, 130, a=False, b=True) == {"a": -1, "b": 15}
    assert run(spells, 145, a=True, b=True) == {"a": 0, "b": 30}


def test_what_nobody_asked_about_is_forgotten() -> None:
    spells = Spells()
    run(spells, 0, a=True)
    run(spells, 15)
    assert run(spells, 30, a=True) == {"a": 0}


def test_nothing_is_known_of_a_time_when_nobody_looked_nor_if_the_clock_went_back() -> None:
    spells = Spells()
    run(spells, 0, a=True)
    assert run(spells, GAP, a=True) == {"a": GAP}
    assert run(spells, 2 * GAP + 1, a=True) == {"a": 0}
    assert run(spells, 10, a=True) == {"a": 0}
    assert run(spells, 25, a=True) == {"a": 15}
