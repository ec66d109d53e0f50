"""What the desk promises the engine is ordered from the worker, in the step that needs it, or named as lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.kv.desk import Begin, Blocks, Desk, Errands, Finished
from gateway.kv.nouns import Ask, Decline, Entry, Mode, Owner, Recompute, Span
from gateway.kv.plan import Engine, Subject
from tests.kv.entries import OURS, SIZE, entry

DOCUMENT = list(range(1000, 1320))
DONOR = entry([*range(32), *DOCUMENT, *range(5000, 5032)])
TABLE: Blocks = (tuple(range(1, 60)),)


class Told:
    """An engine's view of one request, moved on by hand."""

    def __init__(self, tokens: Sequence[int], **asked: Any) -> None:
        self.tokens, self.computed = list(tokens), 0
        values = {"donor": None, "mode": Mode.NONE, "least": 48, "recompute": Recompute(0, 0.0)} | asked
        self.desk = Desk(Engine(SIZE, (None,), splices=True), self.find)
        self.desk.admit("r", Subject(self.tokens, OURS, Ask(**values)), lambda: self.computed)

    def find(self, name: str) -> Entry | None:
        return DONOR if name == "donor" else None

    def step(self, most: int = 10_000) -> Errands:
        """One step: schedule what is left (at most `most` tokens), as RetraceScheduler does it."""
        count = self.desk.stop_before("r", self.computed, min(most, len(self.tokens) - self.computed))
        errands = self.desk.step([("r", count)], lambda _: TABLE)
        self.computed = self.desk.jump("r", self.computed + count)
        return errands


def test_blocks_are_saved_once_each_as_they_fill() -> None:
    told = Told(range(100), capture="c")
    first, second = told.step(40), told.step()
    assert first.begins == (Begin("c", OURS, 100),)
    assert second.begins == ()
    assert [(save.number, save.blocks, save.tokens) for save in first.saves] == [
        (0, (1,), tuple(range(16))),
        (1, (2,), tuple(range(16, 32))),
    ]
    assert [save.number for save in second.saves] == [2, 3, 4, 5]
    told.tokens += range(100, 130)  # the answer grows, token by token
    assert [save.number for save in told.step().saves] == [6, 7]
    report = told.desk.finish("r")
    assert report
    assert report.captured_tokens == 128
    assert told.desk.step([], lambda _: None).finished == (Finished("c", report.to_dict(), (128, 129)),)
    assert not told.desk.busy


def test_of_a_request_that_is_not_to_be_recorded_only_the_report_is_kept() -> None:
    told = Told(DONOR.tokens, capture="c", donor="donor", mode=Mode.PREFIX, record=False)
    told.desk.allocated("r", told.desk.prefix("r", 0))
    errands = told.step()
    assert errands.begins == (Begin("c", OURS, len(DONOR.tokens)),)
    assert errands.saves == ()
    report = told.desk.finish("r")
    assert report
    assert (report.captured_tokens, report.mode) == (0, Mode.PREFIX)
    assert report.injected_tokens > 0
    assert told.desk.step([], lambda _: None).finished == (Finished("c", report.to_dict()),)
    assert not told.desk.busy


def test_a_request_without_a_name_for_it_is_not_captured() -> None:
    told = Told(range(100))
    assert told.step() == Errands()
    told.desk.finish("r")
    assert not told.desk.busy


def test_an_exact_prefix_is_promised_and_ordered_with_the_same_step() -> None:
    told = Told([*DONOR.tokens[:100], 1, 2], donor="donor", mode=Mode.PREFIX)
    assert told.desk.prefix("r", 0) == 100
    assert told.desk.prefix("r", 32) == 68
    told.desk.allocated("r", 68)
    told.computed = 100
    (load,) = told.step().loads
    assert (load.span, load.exact, load.donor) == (Span(32, 32, 68), True, "donor")
    assert not told.step(0).loads
    report = told.desk.finish("r")
    assert report
    assert (report.mode, report.injected_tokens, report.declined) == (Mode.PREFIX, 68, None)


def test_what_the_engine_has_itself_is_not_promised() -> None:
    told = Told([*DONOR.tokens[:100], 1, 2], donor="donor", mode=Mode.PREFIX)
    assert told.desk.prefix("r", 96) == 0
    told.desk.allocated("r", 0)
    report = told.desk.finish("r")
    assert report
    assert report.declined == Decline.CACHED


def test_a_jump_is_made_where_the_step_ends_and_loaded_before_the_next() -> None:
    told = Told([*range(9000, 9070), *DOCUMENT, 1, 2], capture="c", donor="donor", mode=Mode.SPLICE)
    assert told.desk.splices("r")
    assert told.desk.cap("r") == 70
    assert told.step(50).loads == ()
    assert told.step().loads == ()  # the second 20 tokens, and not one more
    assert told.computed == 390
    (load,) = told.step().loads
    assert (load.span, load.exact, load.blocks) == (Span(32, 70, 320), False, TABLE)
    report = told.desk.finish("r")
    assert report
    assert (report.mode, report.injected_tokens, report.captured_tokens) == (Mode.SPLICE, 320, 0)


def test_a_spliced_request_is_never_captured_and_still_reports() -> None:
    told = Told([*range(9000, 9070), *DOCUMENT, 1, 2], capture="c", donor="donor", mode=Mode.SPLICE)
    begins: list[Begin] = []
    while told.computed < len(told.tokens):
        errands = told.step()
        assert errands.saves == ()
        begins += errands.begins
    assert begins == [Begin("c", OURS, 392)]  # known by its name, so that a verdict finds its report
    report = told.desk.finish("r")
    assert report
    assert told.desk.step([], lambda _: None).finished == (Finished("c", report.to_dict()),)


def test_a_jump_that_the_engine_is_already_past_is_let_go() -> None:
    told = Told([*range(9000, 9070), *DOCUMENT, 1, 2], donor="donor", mode=Mode.SPLICE)
    told.computed = 80
    assert told.desk.stop_before("r", 80, 300) == 300
    assert told.desk.jump("r", 380) == 380


def test_a_preempted_request_starts_over_without_us() -> None:
    told = Told([*range(9000, 9070), *DOCUMENT, 1, 2], donor="donor", mode=Mode.SPLICE)
    told.step()
    told.desk.again("r")
    told.computed = 0
    assert told.step() == Errands()
    assert told.computed == len(told.tokens)
    assert told.desk.cap("r") is None
    report = told.desk.finish("r")
    assert report
    assert (report.mode, report.injected_tokens, report.declined) == (Mode.NONE, 0, Decline.PREEMPTED)


def test_a_preempted_request_with_an_exact_prefix_may_have_it_again() -> None:
    told = Told([*DONOR.tokens[:100], 1, 2], donor="donor", mode=Mode.PREFIX)
    for _ in range(2):
        assert told.desk.prefix("r", 0) == 100
        told.desk.allocated("r", 100)
        told.computed = 100
        assert len(told.step().loads) == 1
        told.desk.again("r")
        told.computed = 0
    told.desk.again("r", Decline.LOAD_FAILED)
    assert told.desk.prefix("r", 0) == 0


def test_what_can_t_be_ordered_is_named() -> None:
    told = Told([*DONOR.tokens[:100], 1, 2], donor="donor", mode=Mode.PREFIX)
    told.desk.allocated("r", 100)
    assert told.desk.waiting == ["r"]
    told.desk.lose("r")
    assert told.desk.step([], lambda _: ((3, 4), (5,))).failed == (("r", (3, 4, 5)),)


def test_two_requests_of_one_name_are_captured_once() -> None:
    told = Told(range(100), capture="c")
    twin = told.desk.admit("twin", Subject(range(100), OURS, Ask(capture="c")), lambda: 0)
    assert not twin.captures
    assert told.desk.finish("twin")
    assert told.desk.step([], lambda _: None).finished == ()


def test_a_stranger_s_request_costs_nothing_and_changes_nothing() -> None:
    desk = Desk(Engine(SIZE, (None,), splices=True), lambda _: None)
    assert not desk.busy
    assert desk.prefix("x", 0) == 0
    assert desk.stop_before("x", 0, 7) == 7
    assert desk.jump("x", 7) == 7
    assert desk.cap("x") is None
    assert not desk.splices("x")
    assert desk.finish("x") is None


def test_another_tenant_s_donor_is_declined_with_the_reason() -> None:
    desk = Desk(Engine(SIZE, (None,), splices=True), lambda _: DONOR)
    other = Owner("other", "", "fingerprint")
    desk.admit("r", Subject(DONOR.tokens, other, Ask(donor="donor", mode=Mode.PREFIX)), lambda: 0)
    assert desk.prefix("r", 0) == 0
    report = desk.finish("r")
    assert report
    assert report.declined == Decline.TENANT


def test_a_request_that_makes_no_sense_hears_so() -> None:
    desk = Desk(Engine(SIZE, (None,), splices=True), lambda _: DONOR)
    desk.refuse("r", Decline.BAD_ASK)
    assert desk.prefix("r", 0) == 0
    assert desk.step([("r", 100)], lambda _: TABLE) == Errands()
    report = desk.finish("r")
    assert report
    assert report.declined == Decline.BAD_ASK
    assert not desk.busy


def test_tokens_that_were_promised_before_it_gave_up_are_named_as_lost() -> None:
    told = Told([*DONOR.tokens[:100], 1, 2], donor="donor", mode=Mode.PREFIX)
    assert told.desk.prefix("r", 0) == 100
    told.desk.again("r", Decline.FAULT)
    with pytest.raises(ValueError, match="no longer planned"):
        told.desk.allocated("r", 100)
