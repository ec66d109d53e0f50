"""What follows from figures: yes, probably, no; why; what to set."""

from __future__ import annotations

import pytest

from gateway.assess.likeness import Saving
from gateway.assess.tally import Figures
from gateway.assess.verdict import TTLS, Bars, judge

KV = 131_072.0


def figures(**fields: object) -> Figures:
    usual = {
        "requests": 1000,
        "judged": 1000,
        "rejected": 200,
        "reject_rate": 0.2,
        "reject_bounds": (0.18, 0.23),
        "prompt": 900.0,
        "completion": 100.0,
        "both": 1000.0,
        "mean": 1000.0,
        "mean_prompt": 900.0,
        "told": 1.0,
        "bytes_per_token": 4.0,
        "measured": True,
        "seconds": 1000.0,
        "qps": 1.0,
    }
    return Figures(**{**usual, **fields})  # type: ignore[arg-type]


def saved(share: float, low: float, high: float, moved: float | None = None, requests: int = 1000) -> Saving:
    part = share if moved is None else moved
    return Saving(requests, 200, 0.5, share - part, part, share, (low, high), (60.0, 700.0), 5000.0)


@pytest.mark.parametrize(
    ("saving", "answer", "why"),
    [
        (saved(0.3, 0.2, 0.4), "yes", "pays"),
        (saved(0.3, 0.04, 0.4), "probably", "may_pay"),
        (saved(0.3, 0.2, 0.4, requests=50), "probably", "may_pay"),
        (saved(0.02, 0.01, 0.03), "probably", "may_pay"),
        (saved(0.01, 0.0, 0.02), "no", "too_little"),
    ],
)
def test_the_lower_bound_of_what_is_saved_decides(saving: Saving, answer: str, why: str) -> None:
    verdict = judge(figures(), {"rejected": saving}, KV)
    assert (verdict.answer, verdict.why[0]) == (answer, why)
    assert (verdict.plan is None) == (answer == "no")


def test_short_requests_take_a_step_back_and_long_ones_are_named() -> None:
    short = judge(figures(both=40.0), {"rejected": saved(0.3, 0.2, 0.4)}, KV)
    assert (short.answer, "short" in short.why) == ("probably", True)
    assert "long" in judge(figures(), {"rejected": saved(0.3, 0.2, 0.4)}, KV).why
    between = judge(figures(both=100.0), {"rejected": saved(0.3, 0.2, 0.4)}, KV)
    assert {"short", "long"} & set(between.why) == set()
    assert "short" in judge(figures(both=100.0), {"rejected": saved(0.3, 0.2, 0.4)}, KV, Bars(short=128)).why


def test_all_drafts_are_captured_only_where_that_gives_clearly_more() -> None:
    few, much = saved(0.3, 0.2, 0.4), saved(0.6, 0.5, 0.7)
    both = judge(figures(), {"rejected": few, "all": much}, KV)
    assert both.plan is not None
    assert (both.plan.capture, both.saving) == ("all", much)
    alike = judge(figures(), {"rejected": few, "all": saved(0.35, 0.25, 0.45)}, KV)
    assert alike.plan is not None
    assert alike.plan.capture == "rejected"
    lifted = judge(figures(), {"rejected": saved(0.05, 0.01, 0.1), "all": saved(0.07, 0.06, 0.08)}, KV)
    assert lifted.plan is not None
    assert (lifted.answer, lifted.plan.capture) == ("yes", "all")


def test_the_plan_tells_mode_ttl_and_room() -> None:
    verdict = judge(figures(), {"rejected": saved(0.3, 0.2, 0.4)}, KV)
    assert verdict.plan is not None
    assert verdict.memory is not None
    assert (verdict.plan.mode, verdict.plan.ttl) == ("splice", 900)
    assert verdict.plan.ttl in TTLS
    assert verdict.memory.held == pytest.approx(0.2 * 1.0 * 1000 * KV * 900 / 1e9)
    assert verdict.plan.pool_gb == pytest.approx(1.25 * verdict.memory.held)
    assert verdict.tokens_per_hour == pytest.approx(0.3 * 900 * 3600)
    brief = judge(figures(), {"rejected": saved(0.3, 0.2, 0.4)._replace(span=1000.0)}, KV)
    assert brief.plan is not None
    assert brief.plan.ttl == 3600  # older donors than the log reaches back to can't be seen
    same = judge(figures(), {"rejected": saved(0.3, 0.2, 0.4, moved=0.01)}, KV)
    assert same.plan is not None
    assert (same.plan.mode, "engine_cache" in same.why) == ("prefix", True)


def test_without_words_lengths_and_rejections_promise_at_most_a_trial() -> None:
    verdict = judge(figures(), {}, KV)
    assert (verdict.answer, "no_words" in verdict.why) == ("probably", True)
    assert verdict.plan is not None
    assert judge(figures(both=30.0), {}, KV).answer == "no"
    assert judge(figures(reject_bounds=(0.01, 0.2)), {}, KV).answer == "no"
    assert judge(figures(judged=0, reject_rate=None, both=None, mean=None), {}, KV).answer == "no"


def test_what_a_log_lacks_is_named_and_a_pace_can_be_given() -> None:
    bare = figures(qps=None, judged=0, reject_rate=None)
    verdict = judge(bare, {"all": saved(0.3, 0.2, 0.4, requests=20)}, KV)
    assert {"few", "no_times", "no_verdicts"} <= set(verdict.why)
    assert (verdict.memory, verdict.tokens_per_hour) == (None, None)
    paced = judge(bare, {"all": saved(0.3, 0.2, 0.4)}, KV, qps=2.0)
    assert paced.memory is not None
    assert paced.memory.ours == pytest.approx(2.0 * 60 * 1000 * KV / 1e9)
