"""What stages note of an exchange under way: found by its task, inherited by what that begins, and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from gateway import marks
from gateway.errors import UpstreamFault
from gateway.marks import MOST, Mark, Trace
from gateway.traceparent import Caller, caller

SENT = {"traceparent": f"00-{1:032x}-{2:016x}-01", "tracestate": "a=1", "x": "y"}


@pytest.fixture
def trace() -> Iterator[Trace]:
    """A trace that this task works for."""
    made = Trace()
    marks.begin(made)
    yield made
    marks.begin(None)


def by_name(trace: Trace) -> dict[str, Mark]:
    return {mark.name: mark for mark in trace.marks}


def test_where_nobody_traces_nothing_is_noted_and_nothing_changes() -> None:
    with marks.stage("judge", rule="r") as seen:
        seen.note(more=1)
        marks.note(more=2)
        marks.tally(tokens=1)
        assert seen.carried(SENT) is SENT
        assert marks.carried(SENT) is SENT
    seen.end()
    assert marks.under_way() is None


def test_stages_lie_within_each_other(trace: Trace) -> None:
    with marks.stage("open", backend="up"):
        with marks.stage("plan"):
            marks.note(donor="d")
        marks.stage("call", attempt=1).end()
    marks.stage("settle").end()
    told = by_name(trace)
    assert [mark.name for mark in trace.marks] == ["plan", "call", "open", "settle"]
    assert told["open"].parent == told["settle"].parent == trace.root
    assert told["plan"].parent == told["call"].parent == told["open"].id
    assert (told["plan"].facts, told["open"].facts, told["call"].facts) == (
        {"donor": "d"},
        {"backend": "up"},
        {"attempt": 1},
    )
    assert told["open"].start <= told["plan"].start <= told["plan"].end <= told["open"].end
    assert len({mark.id for mark in trace.marks} | {trace.root}) == 5


async def test_what_a_task_begins_belongs_to_its_stage(trace: Trace) -> None:
    async def ask(name: str) -> None:
        with marks.stage(name):
            await asyncio.sleep(0)
            marks.note(who=name)

    with marks.stage("hear"):
        await asyncio.gather(ask("a"), ask("b"), asyncio.to_thread(lambda: marks.stage("c").end()))
    told = by_name(trace)
    assert {told[name].parent for name in "abc"} == {told["hear"].id}
    assert [told[name].facts for name in "ab"] == [{"who": "a"}, {"who": "b"}]


async def test_two_exchanges_never_mix() -> None:
    async def run(name: str) -> Trace:
        made = Trace()
        marks.begin(made)
        for n in range(5):
            with marks.stage(f"{name}{n}"):
                await asyncio.sleep(0)
        return made

    first, second = await asyncio.gather(run("a"), run("b"))
    assert {mark.name[0] for mark in first.marks} == {"a"}
    assert {mark.name[0] for mark in second.marks} == {"b"}


def test_a_fault_is_told_by_its_word_and_never_by_its_message(trace: Trace) -> None:
    with pytest.raises(UpstreamFault), marks.stage("call"):
        raise UpstreamFault("what a client wrote", kind="broken_off")
    with pytest.raises(ValueError, match="wrote"), marks.stage("judge"):
        raise ValueError("what a client wrote")
    assert [mark.fault for mark in trace.marks] == ["broken_off", "ValueError"]
    assert "wrote" not in repr(trace.marks)


def test_only_the_first_end_counts(trace: Trace) -> None:
    seen = marks.stage("call")
    seen.end()
    seen.end(ValueError())
    assert [mark.fault for mark in trace.marks] == [""]


def test_a_trace_is_bounded(trace: Trace) -> None:
    for _ in range(MOST + 3):
        marks.stage("probe").end()
    assert (len(trace.marks), trace.lost) == (MOST, 3)


def test_what_comes_after_the_end_is_not_noted(trace: Trace) -> None:
    with marks.stage("relay"):
        trace.over = True
        marks.tally(tokens=1)
        assert marks.under_way() is None
        marks.stage("late").end()
    assert (trace.marks, trace.sums) == ([], {})


def test_a_call_is_told_of_the_stage_that_makes_it() -> None:
    trace = Trace(Caller(7, 8, True, "a=1"))
    marks.begin(trace)
    try:
        with marks.stage("call") as seen:
            told = seen.carried(SENT)
            assert marks.carried(SENT) == told
        (mark,) = trace.marks
    finally:
        marks.begin(None)
    assert told["x"] == "y"
    assert caller(told) == Caller(7, mark.id, True, "a=1")


def test_a_state_that_is_not_the_caller_s_of_this_trace_stays_behind(trace: Trace) -> None:
    assert marks.stage("call").carried(SENT).keys() == {"x", "traceparent"}


def test_sums_are_of_the_whole_exchange(trace: Trace) -> None:
    marks.tally(nats=1.5, tokens=2)
    with marks.stage("relay"):
        marks.tally(nats=0.5, tokens=1)
    assert trace.sums == {"nats": 2.0, "tokens": 3.0}
