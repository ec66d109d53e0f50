"""The line in front of the model: who waits goes first, the newest text of an exchange replaces older ones."""

from __future__ import annotations

import pytest

from gateway.tiers import TierFault
from gateway.tiers._line import Job, Line
from gateway.tiers._model import Asked


def asked(answer: str, question: str = "q") -> Asked:
    return Asked(question, "", answer)


def answers(jobs: list[Job]) -> list[str]:
    return [job.asked.answer for job in jobs]


async def test_what_has_gathered_is_taken_in_order_and_in_batches() -> None:
    line = Line(batch=2, most=9)
    for answer in "abc":
        line.want(asked(answer))
    assert [answers(line.take()) for _ in range(3)] == [["a", "b"], ["c"], []]


async def test_what_somebody_waits_for_goes_before_what_was_foreseen() -> None:
    line = Line(batch=8, most=9)
    line.foresee(asked("foreseen", "1"))
    line.want(asked("wanted", "2"))
    assert [answers(line.take()) for _ in range(3)] == [["wanted"], ["foreseen"], []]


async def test_the_newest_text_of_an_exchange_replaces_one_that_waits() -> None:
    line = Line(batch=8, most=9)
    for answer in ("a", "ab", "abc"):
        line.foresee(asked(answer, "1"))
    line.foresee(asked("other", "2"))
    assert answers(line.take()) == ["abc", "other"]


async def test_a_foreseen_score_serves_this_very_text_only() -> None:
    line = Line(batch=8, most=9)
    line.foresee(asked("abc"))
    (foreseen,) = line.take()
    assert line.want(asked("abc")) is foreseen
    line.foresee(asked("abc"))
    (foreseen,) = line.take()
    assert line.want(asked("abcd")) is not foreseen
    assert answers(line.take()) == ["abcd"]


async def test_what_is_foreseen_twice_is_scored_once() -> None:
    line = Line(batch=8, most=9)
    line.foresee(asked("abc"))
    (foreseen,) = line.take()
    line.foresee(asked("abc"))
    assert line.take() == []
    assert line.want(asked("abc")) is foreseen


async def test_what_is_wanted_and_was_only_foreseen_moves_to_those_who_wait() -> None:
    line = Line(batch=1, most=9)
    line.foresee(asked("first", "1"))
    line.foresee(asked("second", "2"))
    line.want(asked("second", "2"))
    assert [answers(line.take()) for _ in range(3)] == [["second"], ["first"], []]


async def test_a_foreseen_score_that_failed_is_tried_again() -> None:
    line = Line(batch=1, most=9)
    line.foresee(asked("a"))
    (foreseen,) = line.take()
    foreseen.settle(TierFault("no", kind="broken"))
    assert line.want(asked("a")) is not foreseen
    assert answers(line.take()) == ["a"]


async def test_too_many_are_refused_and_those_who_leave_make_room() -> None:
    line = Line(batch=1, most=2)
    first = line.want(asked("a"))
    line.want(asked("b"))
    with pytest.raises(TierFault, match="2 answers wait") as fault:
        line.want(asked("c"))
    assert fault.value.kind == "busy"
    line.withdraw(first)
    line.withdraw(first)
    line.want(asked("c"))
    assert [answers(line.take()) for _ in range(2)] == [["b"], ["c"]]


async def test_of_too_many_foreseen_the_oldest_is_forgotten() -> None:
    line = Line(batch=8, most=2)
    for question in "123":
        line.foresee(asked("a", question))
    assert [job.asked.question for job in line.take()] == ["2", "3"]


async def test_those_of_a_failed_batch_are_taken_alone_and_first() -> None:
    line = Line(batch=8, most=9)
    for answer in "ab":
        line.want(asked(answer))
    failed = line.take()
    line.want(asked("c"))
    line.want(asked("d"))
    line.again(failed)
    assert [answers(line.take()) for _ in range(4)] == [["a"], ["b"], ["c", "d"], []]


async def test_at_the_end_everybody_is_told() -> None:
    line = Line(batch=8, most=9)
    job, fault = line.want(asked("a")), TierFault("over", kind="broken")
    line.close(fault)
    assert job.score.result() is fault
    assert line.take() == []
