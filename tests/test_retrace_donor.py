"""Which capture is the donor of a request like it, for whom, and on what terms."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from gateway import context, reports
from gateway.backends import Outcome
from gateway.metrics import Metrics
from gateway.retrace import Retrace
from gateway.stores import Kept, Near, Sketch
from gateway.terms import ACCEPTED, Terms
from tests.plugin import REPORT
from tests.remembered import LONG, body, captured, exchange, fresh, page, plan, policies


def test_the_longest_start_that_was_kept_is_the_donor_on_its_reason_s_terms() -> None:
    of = fresh()
    recompute = {"first": 8, "share": 0.1}
    terms = policies(R101={"ban": True, "min_tokens": 10, "recompute": recompute, "after_sensitive": "recompute"})
    captured(of, body(LONG, "one"), "short", "R101", terms)
    captured(of, body(LONG, "two", "three"), "long", "R101", terms)
    captured(of, body(LONG, "two", "four"), "newest", "R101", terms)
    donor = plan(of, body(LONG, "two", "three", "five"), terms).donor
    assert donor
    assert (donor.capture, donor.replica, donor.mode) == ("long", "http://a", "prefix")
    assert donor.terms == {"recompute": recompute, "after_sensitive": "recompute", "min_tokens": 10, "ban": True}


@pytest.mark.parametrize(("who", "found"), [({}, True), ({"tenant": "u"}, False), ({"model": "n"}, False)])
def test_a_donor_serves_its_own_tenant_and_model_alone(who: dict[str, str], found: bool) -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    assert (plan(of, body(LONG), Terms(), **who).donor is not None) is found


@pytest.mark.parametrize("became", ["dropped", "gone", "failed", "lost"])
def test_what_the_engine_did_not_confirm_is_no_donor(became: Any) -> None:
    of = fresh()
    plan(of, body(LONG), Terms()).told(Outcome("c", "http://a", became, "R101", None))
    assert plan(of, body(LONG), Terms()).donor is None


def test_what_is_shorter_than_pays_is_no_donor() -> None:
    of, terms = fresh(), policies(R101={"min_tokens": 100})
    captured(of, body("short"), "c", "R101", terms)
    assert plan(of, body("short"), terms).donor is None
    captured(of, body("long" * 100), "d", "R101", terms)
    assert plan(of, body("long" * 100), terms).donor is not None


def test_the_same_document_behind_other_words_is_a_donor_only_for_a_splice() -> None:
    for mode, found in (("splice", True), ("prefix", False)):
        of, terms = fresh(), policies(R203={"mode": mode})
        captured(of, body("the old instruction", LONG), "c", "R203", terms)
        donor = plan(of, body("the new one", LONG, "a question"), terms).donor
        assert (donor is not None) is found
        assert donor is None or donor.mode == "splice"


def test_where_nothing_has_moved_the_exact_way_is_asked_for() -> None:
    of, terms = fresh(), policies(R203={"mode": "splice"})
    captured(of, body(LONG, "one"), "c", "R203", terms)
    donor = plan(of, body(LONG, "two"), terms).donor
    assert donor
    assert donor.mode == "prefix"


@pytest.mark.parametrize("tokens", [0, None, 512])
def test_a_capture_that_holds_nothing_is_no_donor(tokens: int | None) -> None:
    metrics = Metrics()
    of = fresh(metrics)
    report = None if tokens is None else {**REPORT, "captured_tokens": tokens}
    plan(of, body(LONG), Terms()).told(Outcome("c", "http://a", "kept", "R101", report))
    assert (plan(of, body(LONG), Terms()).donor is None) is (tokens == 0)
    word = "empty" if tokens == 0 else "kept"
    assert page(metrics)[f'retrace_captures_total{{reason="R101",verdict="{word}"}}'] == 1


@pytest.mark.parametrize(("its", "found"), [("a", True), ("b", False), ("", False)])
def test_a_capture_of_a_session_serves_that_session_alone(its: str, found: bool) -> None:
    of, terms = fresh(), policies(R101={"scope": "session"})
    mine = exchange()._replace(session="a")
    asyncio.run(of.plan(mine, body(LONG), 100, terms)).told(Outcome("c", "http://a", "kept", "R101", None))
    donor = asyncio.run(of.plan(exchange()._replace(session=its), body(LONG), 100, terms)).donor
    assert (donor is not None) is found


def test_what_covers_more_of_a_request_is_the_better_donor() -> None:
    of, terms = fresh(), policies(R203={"mode": "splice"}, R101={"min_tokens": 1})
    captured(of, body("the old instruction", LONG), "document", "R203", terms)
    captured(of, body("the new one", "else"), "start", "R101", terms)
    assert plan(of, body("the new one", LONG), terms).donor == plan(of, body("x", LONG), terms).donor
    captured(of, body("the new one", LONG), "both", "R101", terms)
    donor = plan(of, body("the new one", LONG), terms).donor
    assert donor
    assert (donor.capture, donor.mode) == ("both", "prefix")


def test_a_policy_that_changed_holds_for_what_was_kept_before() -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    assert plan(of, body(LONG), policies(R101={"mode": "none"})).donor is None
    other = plan(of, body("moved", LONG), policies(R101={"mode": "splice"})).donor
    assert other
    assert other.mode == "splice"


def test_a_capture_is_remembered_for_as_long_as_its_reason_says() -> None:
    of, terms = fresh(), policies(R101={"ttl_seconds": 60})
    captured(of, body(LONG), "c", "R101", terms)
    assert of.store
    owner = context.whose(plan(of, body(LONG), terms).salt, "m")
    (kept,) = asyncio.run(_found(of, context.sketch(owner, body(LONG))))
    assert 50 < kept.until - time.time() <= 60
    assert (kept.replica, kept.reason, kept.session) == ("http://a", "R101", "")


async def _found(of: Retrace, sketch: Sketch) -> list[Kept]:
    assert of.store
    return list(await of.store.find(sketch, Near()))


@pytest.mark.parametrize("declined", sorted(reports.DECLINED))
def test_a_donor_that_is_gone_is_not_named_again(declined: str) -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    made = plan(of, body(LONG), Terms())
    made.told(Outcome("d", "http://a", "dropped", ACCEPTED, {"declined": declined}))
    gone = ("unknown_donor", "not_kept", "tenant", "adapter", "fingerprint")
    assert (plan(of, body(LONG), Terms()).donor is None) is (declined in gone)
