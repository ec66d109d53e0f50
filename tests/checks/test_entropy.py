"""`type: entropy`, on series made for it: a jump is found, a wavering answer is not found at every word."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.checks.entropy import CEILING, WARM, Jump, Plug


def found(series: Sequence[float], **fields: float) -> list[int]:
    meter = Plug(**fields).meter()  # type: ignore[arg-type]
    return [place for place, surprise in enumerate(series) if meter.feed(surprise)]


def sure(count: int, seed: int = 1) -> list[float]:
    """Tokens of a model that knows what it says: mostly certain, now and then a choice of words."""
    dice = random.Random(seed)
    return [min(dice.expovariate(3), 2.0) for _ in range(count)]


def wavering(count: int, seed: int = 1) -> list[float]:
    dice = random.Random(seed)
    return [dice.expovariate(0.6) for _ in range(count)]


@pytest.mark.parametrize("place", [WARM, 20, 31, 32, 33, 64, 199])
def test_a_jump_is_found_where_it_is(place: int) -> None:
    series = sure(200)
    series[place] = 7.0
    assert found(series) == [place]


@pytest.mark.parametrize("seed", range(20))
def test_an_even_answer_has_none(seed: int) -> None:
    assert found(sure(400, seed)) == []
    assert found([0.0] * 100) == []
    assert found([5.0] * 100) == []


def test_the_first_tokens_are_held_against_nothing() -> None:
    assert found([9.0, 0.0] * (WARM // 2)) == []


def test_what_is_not_very_unlikely_is_no_jump_however_certain_the_rest() -> None:
    series = [0.01] * 40 + [2.4]
    assert found(series) == []
    assert found(series, least=2.0) == [40]


def test_a_jump_to_stay_is_found_at_its_first_tokens_only() -> None:
    series = [0.1] * 40 + [6.0] * 40
    places = found(series)
    assert places[0] == 40
    assert len(places) < 5
    assert all(place < 44 for place in places)


def test_the_threshold_learns_how_much_this_answer_wavers() -> None:
    """Of a wavering answer fewer tokens are found than by a fixed threshold, and a true jump still is."""
    counts = []
    for margin in (True, False):
        total = 0
        for seed in range(20):
            meter = Jump(32, 3.0, 2.5)
            for surprise in wavering(400, seed):
                total += meter.feed(surprise)
                if not margin:
                    meter._usual = 0.0
        counts.append(total)
    assert counts[0] < 0.75 * counts[1]
    assert counts[0] / (20 * 400) < 0.02
    steady = Jump(32, 3.0, 2.5)
    for surprise in sure(400):
        steady.feed(surprise)
    shaken = Jump(32, 3.0, 2.5)
    for surprise in wavering(400):
        shaken.feed(surprise)
    assert shaken.threshold > 3.0
    assert shaken.threshold >= steady.threshold


@given(st.lists(st.floats(-1, 1e6, allow_nan=False), max_size=200), st.integers(WARM, 64))
def test_whatever_an_engine_tells_it_keeps_its_senses(series: list[float], window: int) -> None:
    """And the running sums say what the last tokens say."""
    meter = Jump(window, 3.0, 2.5)
    for surprise in series:
        meter.feed(surprise)
        assert meter.threshold >= 3.0
    kept = [min(max(surprise, 0.0), CEILING) for surprise in series[-window:]]
    assert list(meter._last) == kept
    assert meter._sum == pytest.approx(sum(kept), abs=1e-6)
    assert meter._squares == pytest.approx(sum(one * one for one in kept), abs=1e-6)


@pytest.mark.parametrize("fields", [{"window": WARM - 1}, {"z": 0}, {"least": CEILING + 1}, {"window": 2000}])
def test_settings_without_sense_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Plug(**fields)  # type: ignore[arg-type]
