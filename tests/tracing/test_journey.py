"""What is kept of an exchange until its spans are made: nothing that holds a request, and no words."""

from __future__ import annotations

import gc
from time import perf_counter, time

from gateway.ledger import Trip
from gateway.marks import Trace
from gateway.tracing.journey import LONGEST, Cut, Journey, Kin, facts, journey
from gateway.types import (
    Action,
    Attempt,
    Draft,
    Exchange,
    Finding,
    Outcome,
    Principal,
    Refined,
    Reuse,
    Text,
    Usage,
)

SAID = "what a client wrote"
KIN = Kin("vllm", True)


def trip() -> Trip:
    found = Finding("output.gains", "R101", Action.REWIND, 0, 4, text=SAID)
    seen = Finding("output.watch", "R102", Action.MONITOR, 0, 4, text=SAID)
    tagged = Finding("output.tag", "R307", Action.TAG, 0, 4, text=SAID)
    draft = Draft([found, seen, tagged, found], usage=Usage(7, 5), finish={1: "length", 0: "x" * 99})
    draft.attempts = [Attempt(0, found, "sentence", 9, 4)]
    draft.refined = {0: Refined(Outcome.CORRECTED, "rule"), 1: Refined(Outcome.UNTOUCHED)}
    exchange = Exchange("rt-1", "chat", "m", Principal("acme", "gold"), (Text((), "user", SAID),), True, session=SAID)
    return Trip(perf_counter() - 1.0, "chat", 200, exchange=exchange, draft=draft, revision="r", backend="up")


def test_what_the_rules_and_readers_did_is_kept_in_words_of_ours() -> None:
    told = journey(trip(), Trace(), KIN, "hashed")
    assert (told.exchange, told.model, told.tenant, told.tier, told.session) == ("rt-1", "m", "acme", "gold", "hashed")
    assert (told.verdict, told.reasons, told.rules) == ("rewind", ("R101", "R307"), ("output.gains", "output.tag"))
    assert told.cuts == [Cut("R101", "sentence", 4)]
    assert (told.finish, told.usage) == (["x" * LONGEST, "length"], Usage(7, 5))
    assert told.outcomes == ["corrected"]
    assert SAID not in repr(told)


def test_it_holds_neither_the_request_nor_the_draft() -> None:
    """However many wait to be sent, what clients wrote is let go when its exchange is over."""
    told, reached = journey(trip(), Trace(), KIN), set()
    left: list[object] = [told]
    while left:
        one = left.pop()
        if id(one) in reached or isinstance(one, type) or not gc.is_tracked(one):
            continue
        reached.add(id(one))
        assert not isinstance(one, Exchange | Draft | Trip | Finding)
        left += gc.get_referents(one) if isinstance(one, tuple | list | dict | Journey | Trace) else []
    assert len(reached) > 3


def test_its_times_are_those_of_the_wall_clock() -> None:
    made = trip()
    told = journey(made, Trace(), KIN)
    assert abs(told.ended + told.offset - (made.at + perf_counter() - made.began)) < 1
    assert abs(made.at - time()) < 60


def test_one_that_was_not_understood_has_its_status_alone() -> None:
    told = journey(Trip(perf_counter(), "chat", 400), Trace(), Kin("", False))
    assert (told.status, told.exchange, told.model, told.verdict) == (400, "", "", "")


def test_a_report_of_an_engine_is_facts() -> None:
    reuse = Reuse("rt-1", "c", "http://secret", "kept", "R101", "d", "R203", "splice", "prefix", 9, 5, 1)
    assert facts(reuse) == {
        "capture": "c",
        "capture_verdict": "kept",
        "reason": "R101",
        "mode": "prefix",
        "captured_tokens": 9,
        "injected_tokens": 5,
        "recomputed_tokens": 1,
        "donor": "d",
        "donor_reason": "R203",
        "asked": "splice",
    }
