"""What the second reading is told, and what a reader is."""

from __future__ import annotations

import jsonschema
import pytest

from gateway.refine.caution import Language
from gateway.refine.reply import read
from gateway.refine.wording import FINE, LONGEST, MARKS, PASSAGES, Form, erratum, instruction, listed, passages, schema
from gateway.types import Correction

ONE = Correction("4.75%", "5.75%", "the offer")


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("form", ["json", "text"])
def test_an_instruction_names_the_domain_the_form_and_the_number(language: Language, form: Form) -> None:
    words = instruction(language, form, "finance", 2)
    assert ("金融" if language == "zh" else "finance") in words
    assert "2" in words
    assert ('"corrections"' in words) is (form == "json")
    assert (MARKS[language] in words and FINE[language] in words) is (form == "text")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_it_is_short_and_whole_without_a_domain(language: Language) -> None:
    words = instruction(language, "json", "", 2)
    assert "  " not in words
    assert len(words) < 400


@pytest.mark.parametrize("domain", ["pets", "宠物"])
def test_a_domain_that_a_team_has_named_itself_is_put_as_it_is(domain: str) -> None:
    assert f" {domain} " in instruction("en", "text", domain, 2)


def test_the_schema_takes_what_can_be_read_and_no_more() -> None:
    jsonschema.validate({"corrections": [ONE._asdict()]}, schema(2))
    jsonschema.validate({"corrections": []}, schema(2))
    for wrong in ({"corrections": [ONE._asdict()] * 3}, {"corrections": [{"quote": "a", "fixed": "b"}]}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema(2))


ANSWER = "The rate is 4.75 percent. It is paid in March, and the least amount is 1,000.50 dollars. So be it. So be it."
ZH_ANSWER = "年利率为4.75%，起存金额1万元；利息在每年三月支付。利息在每年三月支付。"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ANSWER, ["The rate is 4.75 percent.", "It is paid in March, and the least amount is 1,000.50 dollars."]),
        (ZH_ANSWER, ["年利率为4.75%", "起存金额1万元"]),
        ("a, " + "long " * 25 + "one, short of it", ["short of it"]),
        ("", []),
    ],
)
def test_a_passage_stands_in_the_answer_once(answer: str, found: list[str]) -> None:
    assert passages(answer) == found


def test_passages_are_bounded_in_length_and_number() -> None:
    found = passages("。".join(f"第{number}句话在这里" for number in range(PASSAGES + 9)))
    assert len(found) == PASSAGES
    assert not passages("x" * (LONGEST + 1))


@pytest.mark.parametrize("answer", [ANSWER, ZH_ANSWER])
def test_a_reply_can_quote_nothing_but_the_answer(answer: str) -> None:
    told = {"evidence": "the offer", "fixed": "5.75%"}
    for quote in passages(answer):
        jsonschema.validate({"corrections": [{"quote": quote, **told}]}, schema(2, answer))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"corrections": [{"quote": "4.75", **told}]}, schema(2, answer))
    jsonschema.validate({"corrections": [{"quote": "4.75", **told}]}, schema(2, "Yes"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_reader_is_told_what_was_wrong_what_is_right_and_why(language: Language) -> None:
    for words in (erratum(language, (ONE,)), listed(language, (ONE,))):
        assert words.startswith("\n\n")
        assert all(part in words for part in ONE)


def test_an_erratum_is_no_review_of_its_own() -> None:
    assert not read(erratum("zh", (ONE,)), 2).readable
