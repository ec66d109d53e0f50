"""What becomes of a rejected draft's KV: on what terms it is asked for, which verdict it gets, and what is counted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway import config
from gateway.backends import Outcome
from gateway.config import Source, build
from gateway.kv import _wire, ask, nouns
from gateway.metrics import Metrics
from gateway.retrace import UNFINISHED
from gateway.rules import Inject
from gateway.terms import ACCEPTED, Terms
from gateway.types import Action, Draft, Finding
from tests.plugin import REPORT
from tests.remembered import LONG, Verdicts, body, captured, exchange, fresh, halted, page, plan, policies
from tests.rig import REASONS

SHIPPED = Path(config.__file__).parent.parent / "rules" / "gateway.yaml"


# The words of the contract are those of the engine's half.


def test_a_policy_s_words_are_those_of_the_engine_s_half() -> None:
    for word in nouns.After:
        assert Inject(after_sensitive=word.value).after_sensitive == word.value
    for mode in nouns.Mode:
        assert Inject(mode=mode.value).mode == mode.value
    least, recompute = nouns.Ask().least, nouns.Recompute()
    assert (Inject().min_tokens, Inject().recompute.model_dump()) == (least, recompute._asdict())


def test_the_engine_s_half_understands_what_is_asked_of_it_and_what_it_is_told() -> None:
    """Whatever the YAML of a reason code may hold, at its edges too."""
    edges = {"first": 65536, "share": 1}, {"first": 0, "share": 0}
    for recompute, priority, ttl in zip(edges, (100, -100), (30 * 86400, 1), strict=True):
        terms = policies(R101={"recompute": recompute, "priority": priority, "ttl_seconds": ttl, "ban": True})
        of, capture = fresh(), Verdicts()
        captured(of, body(LONG), "c", "R101", terms)
        donor = plan(of, body(LONG), terms).donor
        assert donor
        made = ask.parse({"retrace": {"capture": "d", "donor": donor.capture, "mode": donor.mode, **donor.terms}})
        assert made
        assert (made.donor, made.ban, made.recompute) == ("c", True, nouns.Recompute(**recompute))
        of.settle(capture, exchange(), halted("R101"), terms)
        ((_, reason, told),) = capture.heard
        kept = _wire.verdict(orjson.dumps({"reason": reason, **told}))
        assert (kept.reason, kept.output_sensitive, kept.ttl, kept.priority) == ("R101", True, ttl, priority)


# The salt.


def test_each_tenant_has_a_salt_of_its_own_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", "s")
    salts = [plan(fresh(), body(x), Terms(), tenant=t).salt for t in ("a", "b") for x in ("1", "2")]
    assert salts[0] == salts[1] != salts[2] == salts[3]
    # HMAC-SHA256(b"s", b"a"), worked out by another program
    assert salts[0] == "9659450897188d054f9c20310342e042c55697737b2798b59f8f1cef7dda0674"


def test_without_a_secret_no_two_gateways_have_the_same_salts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETRACE_ENGINE_SECRET", raising=False)
    monkeypatch.delenv("RETRACE_SALT", raising=False)
    one, two = (plan(fresh(), body("x"), Terms()).salt for _ in range(2))
    assert one != two
    monkeypatch.setenv("RETRACE_SALT", "shared by the workers of one gateway")
    one, two = (plan(fresh(), body("x"), Terms()).salt for _ in range(2))
    assert one == two


@pytest.mark.parametrize(("terms", "choices"), [(Terms("none"), 1), (Terms(), 2), (Terms("all"), 3)])
def test_where_nothing_is_captured_the_salt_is_sent_all_the_same(terms: Terms, choices: int) -> None:
    made = plan(fresh(), body("x"), terms, choices=choices)
    assert (bool(made.salt), made.captures, made.donor) == (True, False, None)


def verdict(draft: Draft, terms: Terms) -> tuple[str, str, Mapping[str, Any]]:
    capture = Verdicts()
    fresh().settle(capture, exchange(), draft, terms)
    (heard,) = capture.heard
    return heard


TERMS = policies(R307={"sensitive": "allow", "ttl_seconds": 60, "priority": 3}, R301={"capture": False})
KEPT = {"sensitive_texts": [], "sensitive_output": True, "ttl_seconds": 3600, "priority": 0}


@pytest.mark.parametrize(
    ("draft", "capture", "heard"),
    [
        (halted("R101"), "rejected", ("keep", "R101", KEPT)),
        (
            halted("R307"),
            "rejected",
            ("keep", "R307", {**KEPT, "sensitive_output": False, "ttl_seconds": 60, "priority": 3}),
        ),
        (halted("R301"), "rejected", ("drop", "R301", {})),
        (halted("R301"), "all", ("drop", "R301", {})),
        (Draft(finish={0: "stop"}), "rejected", ("drop", ACCEPTED, {})),
        (Draft(finish={0: "stop"}), "all", ("keep", ACCEPTED, {**KEPT, "sensitive_output": False})),
        (Draft(), "rejected", ("drop", UNFINISHED, {})),
        (Draft(), "all", ("drop", UNFINISHED, {})),
    ],
)
def test_a_rejected_draft_is_kept_on_its_reason_s_terms(draft: Draft, capture: Any, heard: Any) -> None:
    assert verdict(draft, TERMS._replace(capture=capture)) == heard


def test_what_was_found_in_the_answer_is_masked_and_what_was_in_the_request_is_not() -> None:
    asked_for = Finding("pii", "R102", Action.MASK, 0, 4, text="4111")
    blocked = Finding("word", "R101", Action.BLOCK, 5, 11, text="deadly")
    draft = Draft([asked_for, blocked], asked=1, finish={0: "content_filter"}, halted={0: blocked})
    _, _, told = verdict(draft, policies(R101={"sensitive": "mask"}))
    assert (told["sensitive_texts"], told["sensitive_output"]) == (["deadly"], False)


@pytest.mark.parametrize(
    ("reason", "heard"),
    [
        ("R101", ("keep", "R101", KEPT)),
        ("R307", ("keep", "R307", {**KEPT, "sensitive_output": False, "ttl_seconds": 60, "priority": 3})),
        ("R301", ("drop", "R301", {})),
    ],
)
def test_a_draft_that_is_cut_back_is_kept_on_the_terms_of_what_was_found(
    reason: str, heard: tuple[str, str, Mapping[str, Any]]
) -> None:
    capture = Verdicts()
    fresh().reject(capture, Finding("r", reason, Action.REWIND, 0, 1, text="稳赚"), TERMS)
    assert capture.heard == [heard]


def test_of_a_draft_that_is_cut_back_what_was_found_can_be_masked() -> None:
    capture = Verdicts()
    fresh().reject(
        capture, Finding("r", "R101", Action.REWIND, 0, 1, text="稳赚"), policies(R101={"sensitive": "mask"})
    )
    ((_, _, told),) = capture.heard
    assert (told["sensitive_texts"], told["sensitive_output"]) == (["稳赚"], False)


# The figures.


def test_only_what_the_engine_confirms_is_counted() -> None:
    metrics = Metrics()
    of = fresh(metrics)
    made = plan(of, body(LONG), Terms())
    made.told(Outcome("c", "http://a", "kept", "R101", None))
    assert page(metrics) == {'retrace_captures_total{reason="R101",verdict="kept"}': 1}
    used = {**REPORT, "injected_tokens": 900, "recomputed_tokens": 64, "mode": "splice"}
    made.told(Outcome("d", "http://a", "dropped", ACCEPTED, used))
    made.told(Outcome("e", "http://a", "gone", ACCEPTED, {**REPORT, "declined": "cached"}))
    assert page(metrics) == {
        'retrace_captures_total{reason="R101",verdict="kept"}': 1,
        'retrace_captures_total{reason="accepted",verdict="dropped"}': 1,
        'retrace_captures_total{reason="accepted",verdict="gone"}': 1,
        'retrace_injected_tokens_total{mode="splice"}': 900,
        'retrace_recomputed_tokens_total{mode="splice"}': 64,
        'retrace_declined_total{reason="cached"}': 1,
    }


@pytest.mark.parametrize(
    "report",
    [
        {"injected_tokens": 5, "mode": "odd" * 99, "declined": "because" * 99},
        {"injected_tokens": 5, "mode": ["prefix"], "declined": "x", "recomputed_tokens": "many"},
        {"injected_tokens": 5, "declined": "y", "recomputed_tokens": -7},
    ],
)
def test_no_word_of_an_engine_becomes_a_label(report: dict[str, Any]) -> None:
    metrics = Metrics()
    plan(fresh(metrics), body(LONG), Terms()).told(Outcome("c", "http://a", "dropped", ACCEPTED, report))
    told = page(metrics)
    assert told['retrace_injected_tokens_total{mode="other"}'] == 5
    assert told['retrace_recomputed_tokens_total{mode="other"}'] == 0
    assert told['retrace_declined_total{reason="other"}'] == 1
    assert len(told) == 4


@pytest.mark.parametrize(
    "report", [{}, {"injected_tokens": -5}, {"injected_tokens": "5"}, {"injected_tokens": None, "declined": ["a"]}]
)
def test_a_report_that_makes_no_sense_counts_nothing(report: dict[str, Any]) -> None:
    metrics = Metrics()
    plan(fresh(metrics), body(LONG), Terms()).told(Outcome("c", "http://a", "dropped", ACCEPTED, report))
    assert page(metrics) == {'retrace_captures_total{reason="accepted",verdict="dropped"}': 1}


def test_the_shipped_policies_are_those_of_the_reasons() -> None:
    terms = build(Source(SHIPPED)).terms
    assert terms.capture == "rejected"
    told = {code: policy for code, policy in terms.policies.items() if policy != Inject()}
    assert told == {
        "R101": Inject(mode="prefix", sensitive="mask", after_sensitive="stop", ban=True),
        "R203": Inject(mode="splice", sensitive="cut", after_sensitive="stop"),
        "R307": Inject(mode="prefix", sensitive="allow", cut=("R308",), ban=False),
        ACCEPTED: Inject(sensitive="allow"),
        **dict.fromkeys(("R301", "R304", "R305", "R900"), Inject(capture=False)),
    }
    assert REASONS.keys() <= terms.policies.keys()
