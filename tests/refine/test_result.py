"""What becomes of an answer: corrected in its place or behind it, tagged, or left as it was. Nothing is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.refine.matter import Matter, Result
from gateway.refine.result import corrected, degraded, judged
from gateway.rules import Rule
from gateway.types import Correction, Outcome, Refined, Usage
from tests.refine.matters import chat, file, matter
from tests.refine.rigs import ANSWER, RATE, ZH_ANSWER, ZH_RATE
from tests.sight import lanes, regex

READ = Refined(Outcome.FINE, "rules:hedge", usage=Usage(70, 9), entry="e1")
ONE, ZH_ONE = Correction(**RATE), Correction(**ZH_RATE)
MARCH = Correction("March", "April", "the calendar")
BOTH = [(ANSWER, ONE), (ZH_ANSWER, ZH_ONE)]


def about(*rules: Rule, **fields: Any) -> Matter:
    return matter(chat("?"), file(**fields), lanes(*rules))


def put(one: Matter, answer: str, *corrections: Correction) -> Result:
    return corrected(one, answer, corrections, READ)[0]


@pytest.mark.parametrize(("answer", "one"), BOTH)
def test_held_it_stands_in_the_answer_with_its_mark(answer: str, one: Correction) -> None:
    result = put(about(delivery="hold"), answer, one)
    assert result.refined == READ._replace(outcome=Outcome.CORRECTED, corrections=(one,))
    assert result.instead is not None
    mark = "【修正】" if answer == ZH_ANSWER else "[corrected]"
    assert result.instead.startswith(answer.replace(one.quote, mark + one.fixed))
    assert one.evidence in result.instead
    assert result.behind == ""


@pytest.mark.parametrize(("answer", "one"), BOTH)
def test_clean_it_stands_there_and_nothing_shows(answer: str, one: Correction) -> None:
    result = put(about(delivery="hold", marks="clean"), answer, one)
    assert result.instead == answer.replace(one.quote, one.fixed)


@pytest.mark.parametrize(("answer", "one"), BOTH)
@pytest.mark.parametrize("marks", ["keep", "clean"])
def test_live_it_follows(answer: str, one: Correction, marks: str) -> None:
    result = put(about(marks=marks), answer, one)
    assert result.instead is None
    assert all(part in result.behind for part in one)


@pytest.mark.parametrize("delivery", ["live", "hold"])
def test_nothing_to_correct_is_fine(delivery: str) -> None:
    result = put(about(delivery=delivery), ANSWER)
    assert result == Result(READ)


@pytest.mark.parametrize("delivery", ["live", "hold"])
@pytest.mark.parametrize("quote", ["6.75 percent", "百分之九", "e"])
def test_what_is_not_there_once_leaves_the_answer_as_it_was(quote: str, delivery: str) -> None:
    result, dropped = corrected(about(delivery=delivery), ANSWER, (ONE._replace(quote=quote),), READ)
    assert result == Result(READ._replace(outcome=Outcome.KEPT, why="no_edit"))
    assert len(dropped) == 1


def test_of_two_corrections_the_one_that_can_be_made_is() -> None:
    result, dropped = corrected(about(), ANSWER, (ONE._replace(quote="nowhere"), MARCH), READ)
    assert result.refined.corrections == (MARCH,)
    assert dropped == ("not_found",)


@pytest.mark.parametrize("delivery", ["live", "hold"])
def test_an_answer_stays_about_as_long_as_it_was(delivery: str) -> None:
    """A model that would throw most of the answer away, or write another one into it."""
    for quote, fixed in ((ANSWER[:-10], "No."), ("March", "April " * 40)):
        result = put(about(delivery=delivery), ANSWER, Correction(quote, fixed, "e"))
        assert result == Result(READ._replace(outcome=Outcome.KEPT, why="off_length"))


def test_marks_that_an_answer_carries_count() -> None:
    carried = ANSWER.replace("deposit", "[corrected]deposit")
    result = put(about(delivery="hold"), carried, ONE, MARCH)
    assert result.refined.corrections == (ONE,)
    assert put(about(delivery="hold", guards={"most_marks": 3}), carried, ONE, MARCH).refined.corrections == (
        ONE,
        MARCH,
    )
    assert put(about(guards={"most_marks": 1}), carried, ONE).refined.outcome is Outcome.KEPT


@pytest.mark.parametrize("delivery", ["live", "hold"])
@pytest.mark.parametrize(("answer", "one"), BOTH)
def test_a_correction_that_a_rule_blocks_is_not_made(answer: str, one: Correction, delivery: str) -> None:
    result = put(about(regex("secret|机密"), delivery=delivery), answer, one._replace(fixed="机密 secret"))
    assert result == Result(READ._replace(outcome=Outcome.KEPT, why="blocked"))


def test_live_what_the_whole_would_be_is_judged_too() -> None:
    """Neither the answer nor the erratum holds it, only the two together."""
    one = Correction("4.75", "none of your", "e")
    rule = regex("is none of your percent")
    assert put(about(), ANSWER, one).behind
    assert put(about(rule), ANSWER, one).refined.why == "blocked"


@pytest.mark.parametrize("delivery", ["live", "hold"])
def test_what_a_rule_masks_is_masked_in_a_correction(delivery: str) -> None:
    result = put(about(regex("5[.]75", action="mask"), delivery=delivery), ANSWER, ONE)
    told = result.instead or result.behind
    assert result.refined.outcome is Outcome.CORRECTED
    assert "5.75" not in told
    assert "*** percent" in told


# When it should have been read, and could not be.


@pytest.mark.parametrize(("answer", "tag"), [(ANSWER, "[needs human review]"), (ZH_ANSWER, "[需人工复核]")])
def test_held_it_is_tagged_where_something_is_to_be_verified(answer: str, tag: str) -> None:
    result = degraded(about(delivery="hold"), answer, "down", Usage(1, 2))
    assert result.refined == Refined(Outcome.DEGRADED, "down", usage=Usage(1, 2))
    assert result.instead is not None
    assert tag in result.instead
    assert result.instead.replace(" " + tag, "").replace(tag, "") == answer


@pytest.mark.parametrize(("answer", "tag"), [(ANSWER, "[needs human review]"), (ZH_ANSWER, "[需人工复核]")])
@pytest.mark.parametrize("placement", ["inline", "note"])
def test_live_a_note_follows(answer: str, tag: str, placement: str) -> None:
    result = degraded(about(degraded={"placement": placement}), answer, "slow")
    assert result.instead is None
    assert result.behind.startswith(f"\n\n{tag} ")


def test_held_a_note_can_stand_at_the_end() -> None:
    result = degraded(about(delivery="hold", degraded={"placement": "note"}), ANSWER, "slow")
    assert (result.instead or "").startswith(f"{ANSWER}\n\n[needs human review] ")


def test_the_tags_are_the_file_s_own() -> None:
    told = degraded(about(degraded={"tags": {"zh": "〔待核〕", "en": "(unchecked)"}}), ZH_ANSWER, "slow").behind
    assert "〔待核〕" in told


@pytest.mark.parametrize("delivery", ["live", "hold"])
def test_a_header_may_say_it_alone(delivery: str) -> None:
    result = degraded(about(delivery=delivery, degraded={"placement": "header"}), ANSWER, "slow")
    assert result == Result(Refined(Outcome.DEGRADED, "slow"))


@pytest.mark.parametrize("delivery", ["live", "hold"])
@pytest.mark.parametrize("answer", ['{"rate": 4.75, "paid": "March"}', '```json\n{"利率": "4.75%"}\n```'])
def test_what_a_program_reads_is_never_changed(answer: str, delivery: str) -> None:
    """And it is known that nothing changes, so that whoever tells programs does."""
    result = degraded(about(delivery=delivery), answer, "slow")
    assert result.refined.outcome is Outcome.DEGRADED
    assert not result.changes


@pytest.mark.parametrize(
    ("answer", "outcome"), [("一切都好，请放心。", "untouched"), ("于2021年3月1日到期。", "degraded")]
)
def test_where_nobody_knows_whether_it_should_have_been_only_something_to_verify_counts(
    answer: str, outcome: str
) -> None:
    result = degraded(about(), answer, "classifier_slow", always=False)
    assert (result.refined.outcome, result.refined.why) == (outcome, "classifier_slow")
    assert result.changes is (outcome == "degraded")


# Never worse, whatever a model proposes.

SOME = st.text(alphabet="ab 4.是的百", min_size=1, max_size=12)
CLEAN = {delivery: about(delivery=delivery, marks="clean") for delivery in ("live", "hold")}


@pytest.mark.parametrize("delivery", CLEAN)
@settings(deadline=None)
@given(
    answer=st.text(alphabet="ab 4.是的百", min_size=4, max_size=40),
    proposed=st.lists(st.tuples(SOME, SOME), max_size=4),
)
def test_whatever_is_proposed_all_but_the_quotes_stays(
    answer: str, proposed: list[tuple[str, str]], delivery: str
) -> None:
    result = put(CLEAN[delivery], answer, *(Correction(quote, fixed, "e") for quote, fixed in proposed))
    made = result.refined.corrections
    assert (result.refined.outcome is Outcome.CORRECTED) is bool(made) is result.changes
    assert len(made) <= 2
    expected = answer
    for one in sorted(made, key=lambda one: -answer.index(one.quote)):
        at = answer.index(one.quote)
        expected = expected[:at] + one.fixed + expected[at + len(one.quote) :]
    assert result.instead == (expected if made and delivery == "hold" else None)


def test_rules_leave_of_a_text_what_they_leave() -> None:
    assert judged(lanes(), "任何话 any") == "任何话 any"
    assert judged(lanes(regex("any", action="mask")), "任何话 any") == "任何话 ***"
    assert judged(lanes(regex("any")), "任何话 any") is None


@pytest.mark.parametrize(("otherwise", "left"), [("tag", "任何话 any"), ("refine", "任何话 any"), ("block", None)])
def test_a_rule_that_cuts_back_means_here_what_it_means_when_it_can_not(otherwise: str, left: str | None) -> None:
    rule = regex("any", "rewind", rewind={"else": otherwise})
    assert judged(lanes(rule), "任何话 any") == left
    assert judged(lanes(rule, regex("话", name="block")), "任何话 any") is None
