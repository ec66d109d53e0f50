"""What all lines come to, and what is estimated of it."""

from __future__ import annotations

import pytest

from gateway.assess import tally
from gateway.assess._line import Line
from gateway.assess.tally import Tally


def told(*lines: Line) -> tally.Figures:
    made = Tally()
    for line in lines:
        made.add(line)
    return made.figures()


def test_an_empty_log_tells_nothing() -> None:
    figures = told()
    assert (figures.requests, figures.reject_rate, figures.both, figures.qps) == (0, None, None, None)
    assert figures.reject_bounds == (0.0, 1.0)


def test_rates_medians_and_pace_are_those_of_the_lines() -> None:
    lines = [Line(at=100.0 + n, rejected=n % 4 == 0, prompt=10 * n, completion=n) for n in range(101)]
    figures = told(*reversed(lines))
    assert figures.reject_rate == pytest.approx(26 / 101)
    assert figures.reject_bounds[0] < 26 / 101 < figures.reject_bounds[1]
    assert (figures.prompt, figures.completion, figures.both) == (500, 50, 550)
    assert figures.mean_prompt == pytest.approx(500)
    assert (figures.seconds, figures.qps) == (100.0, 1.0)
    assert figures.told == 1


def test_tokens_are_estimated_from_bytes_by_the_log_s_own_ratio_once_it_shows_one() -> None:
    assert told(*[Line(asked=400, said=40)] * 5).both == 110
    body = {"prompt": "x"}
    known = [Line(body=body, asked=300, prompt=100)] * tally.ENOUGH
    figures = told(*known, *[Line(asked=600, said=0)] * 100)
    assert (figures.measured, figures.bytes_per_token, figures.prompt) == (True, 3.0, 200)
    assert figures.told == pytest.approx(tally.ENOUGH / (tally.ENOUGH + 100))


def test_requests_of_unknown_verdict_and_length_count_for_neither() -> None:
    figures = told(Line(), Line(rejected=True, prompt=5, completion=5))
    assert (figures.requests, figures.judged, figures.reject_rate, figures.both) == (2, 1, 1.0, 10)


def test_only_the_newest_requests_are_remembered_and_not_too_much_of_them() -> None:
    made = Tally(recent=3)
    for number in range(10):
        made.add(Line(tenant=str(number), body={"prompt": "x"}, asked=1, answer="long"))
    assert [line.tenant for line in made.recent] == ["7", "8", "9"]
    assert made.recent[0].answer == ""
    for _ in range(2):
        made.add(Line(body={"prompt": "x"}, asked=tally.RECENT_BYTES))
    assert len(made.recent) == 1


def test_of_very_many_lengths_a_fair_sample_is_kept() -> None:
    lines = [Line(prompt=n, completion=0) for n in range(3 * tally.SAMPLED)]
    figures = told(*lines)
    assert figures.prompt == pytest.approx(1.5 * tally.SAMPLED, rel=0.02)
