"""What the second reading is told, and what a reader is."""

from __future__ import annotations

import jsonschema
import pytest

from gateway.refine.caution import Language
from gateway.refine.reply import read
from gateway.refine.wording import (
    EVIDENCE,
    FIGURE,
    FINE,
    LONGEST,
    MARKS,
    PASSAGES,
    Form,
    Quotes,
    erratum,
    facts,
    instruction,
    listed,
    passages,
    schema,
)
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
        (ANSWER, ["The rate is 4.75 percent.", "It is paid in March,", "and the least amount is 1,000.50 dollars."]),
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


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ANSWER, ["4.75 percent", "March", "1,000.50 dollars"]),
        (ZH_ANSWER, ["4.75%", "1万元"]),
        ("It costs 3 dollars, 3 dollars in all, by 18 September 2025.", ["18 September 2025"]),
        ("It is cheap.", []),
    ],
)
def test_a_fact_stands_in_the_answer_once(answer: str, found: list[str]) -> None:
    assert set(facts(answer)) <= set(found)
    assert len(facts(answer)) >= len(found) - 1  # a month alone is no date


@pytest.mark.parametrize("quotes", ["facts", "clauses"])
@pytest.mark.parametrize(("answer", "language"), [(ANSWER, "en"), (ZH_ANSWER, "zh")])
def test_a_reply_can_quote_nothing_but_the_answer(answer: str, language: Language, quotes: Quotes) -> None:
    told = {"evidence": "the offer", "fixed": "5.75%"}
    for quote in facts(answer) if quotes == "facts" else passages(answer):
        jsonschema.validate({"corrections": [{"quote": quote, **told}]}, schema(2, answer, language, quotes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"corrections": [{"quote": "4.7", **told}]}, schema(2, answer, language, quotes))
    jsonschema.validate({"corrections": [{"quote": "4.7", **told}]}, schema(2, "Yes", language, quotes))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_answer_without_facts_can_be_quoted_all_the_same(language: Language) -> None:
    told = schema(2, "It is cheap. It is paid late.", language, "facts")
    assert told == schema(2, "It is cheap. It is paid late.", language, "clauses")


@pytest.mark.parametrize("quotes", ["facts", "clauses"])
@pytest.mark.parametrize(("answer", "language"), [(ANSWER, "en"), (ZH_ANSWER, "zh")])
def test_words_are_as_short_as_what_they_replace(answer: str, language: Language, quotes: Quotes) -> None:
    quote, longest = (facts(answer)[0], FIGURE[language]) if quotes == "facts" else (passages(answer)[0], LONGEST)
    told = schema(2, answer, language, quotes)
    one = {"quote": quote, "evidence": "e" * EVIDENCE[language], "fixed": "5" * longest}
    jsonschema.validate({"corrections": [one]}, told)
    for field in ("evidence", "fixed"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"corrections": [{**one, field: one[field] + "5"}]}, told)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_reader_is_told_what_was_wrong_what_is_right_and_why(language: Language) -> None:
    for words in (erratum(language, (ONE,)), listed(language, (ONE,))):
        assert words.startswith("\n\n")
        assert all(part in words for part in ONE)


def test_an_erratum_is_no_review_of_its_own() -> None:
    assert not read(erratum("zh", (ONE,)), 2).readable
