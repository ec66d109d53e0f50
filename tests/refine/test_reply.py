"""What a model's review says, in whatever shape it says it."""

from __future__ import annotations

import orjson
import pytest

from gateway.refine.caution import Language
from gateway.refine.reply import Reply, read
from gateway.refine.wording import EVIDENCE, FIGURE, FINE, LONGEST, MARKS, STOPS
from gateway.types import Correction

RATE = Correction("4.75%", "5.75%", "the offer above")
ZH = Correction("第十五条", "第十七条", "《网络安全管理办法》原文")


def told(*corrections: dict[str, object]) -> str:
    return orjson.dumps({"corrections": list(corrections)}).decode()


@pytest.mark.parametrize(
    "text",
    [
        told(RATE._asdict()),
        "```json\n" + told(RATE._asdict()) + "\n```",
        "Here is my review: " + told(RATE._asdict()) + "\nThat is all.",
        "[corrected] 4.75% -> 5.75% (evidence: the offer above)",
        "I found one.\n[Corrected] “4.75%” should be “5.75%”, source: the offer above.",
        "[correction] 4.75% => 5.75%; evidence: the offer above",
    ],
)
def test_a_correction_is_read_from_json_and_from_marked_lines(text: str) -> None:
    assert read(text, 2) == Reply((RATE,))


@pytest.mark.parametrize(
    "text",
    [
        told(ZH._asdict()),
        "【修正】第十五条 → 第十七条（依据：《网络安全管理办法》原文）",
        "【修正】“第十五条”应为“第十七条”，依据：《网络安全管理办法》原文。",
        "审查如下：\n【修正】第十五条改为第十七条（来源：《网络安全管理办法》原文）\n其余无误。",
    ],
)
def test_chinese_ones_too(text: str) -> None:
    assert read(text, 2) == Reply((ZH,))


@pytest.mark.parametrize(
    "text", ["【无需修正】", "经核对，【无需修正】。", "[no correction]", "[No corrections]", told()]
)
def test_nothing_wrong_is_a_reply(text: str) -> None:
    assert read(text, 2) == Reply()


@pytest.mark.parametrize(
    "text", ["", "Looks good to me!", "没有发现问题", "{", '{"errors": []}', "[1, 2]", "{}{", "】【"]
)
def test_what_is_in_no_form_says_nothing(text: str) -> None:
    assert read(text, 2) == Reply(readable=False)


@pytest.mark.parametrize(
    ("one", "fate"),
    [
        ({**RATE._asdict(), "evidence": ""}, "no_evidence"),
        ({**RATE._asdict(), "evidence": "  "}, "no_evidence"),
        ({"quote": "4.75%", "fixed": "5.75%"}, "no_evidence"),
        ({**RATE._asdict(), "evidence": None}, "no_evidence"),
        ({**RATE._asdict(), "fixed": ""}, "malformed"),
        ({**RATE._asdict(), "quote": 4.75}, "malformed"),
        ({**RATE._asdict(), "fixed": "x" * 5000}, "malformed"),
        ({**RATE._asdict(), "fixed": "4.75%"}, "same"),
        ({"quote": "won 23–16", "evidence": "the final", "fixed": "won 23-16"}, "same"),
        ({"quote": "880 年", "evidence": "县志", "fixed": "880年"}, "same"),
        ({**RATE._asdict(), "evidence": "it pays 4.75% a year"}, "backed"),
        ({"quote": "They won 23–16", "evidence": "they won 23 - 16 at home", "fixed": "23-16"}, "backed"),
        ({**RATE._asdict(), "fixed": "I'm sorry, I cannot check that"}, "no_answer"),
        ({**RATE._asdict(), "fixed": "【修正】5.75%"}, "no_answer"),
        ({**RATE._asdict(), "fixed": "作为AI语言模型，我不能核实"}, "no_answer"),
    ],
)
def test_what_lacks_evidence_or_makes_no_sense_is_dropped_and_said_so(one: dict[str, object], fate: str) -> None:
    assert read(told(one), 2) == Reply((), (fate,))  # type: ignore[arg-type]


@pytest.mark.parametrize("item", ["4.75%", None, 3, ["a"]])
def test_items_of_any_kind_do_no_harm(item: object) -> None:
    assert read(orjson.dumps({"corrections": [item, RATE._asdict()]}).decode(), 2) == Reply((RATE,), ("malformed",))


def test_evidence_may_name_the_wrong_figure_beside_the_right_one() -> None:
    one = RATE._replace(evidence="4.75% for two years, 5.75% for three")
    assert read(told(one._asdict()), 2) == Reply((one,))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_words_that_are_as_long_as_they_may_be_were_cut(language: Language) -> None:
    figure = {**RATE._asdict(), "fixed": "5" * FIGURE[language]}
    passage = {**RATE._asdict(), "quote": "it pays little", "fixed": "x" * LONGEST}
    for one in (figure, passage):
        assert read(told(one), 2, language).dropped == ("cut_off",)
        assert read(told(one), 2).corrections == (Correction(**one),)  # an endpoint that does not hold it to a length
    long = {**RATE._asdict(), "evidence": "e" * EVIDENCE[language]}
    assert read(told(long), 2, language).corrections[0].evidence == long["evidence"] + "…"
    assert read(told({**passage, "fixed": "5" * FIGURE[language]}), 2, language).corrections


def test_no_more_are_taken_than_were_asked_for() -> None:
    many = [Correction(f"a{n}", f"b{n}", "c")._asdict() for n in range(4)]
    reply = read(told(*many), 2)
    assert [one.quote for one in reply.corrections] == ["a0", "a1"]
    assert reply.dropped == ("too_many", "too_many")


def test_of_a_reply_that_was_cut_off_the_whole_ones_count() -> None:
    other = Correction("March", "April", "the offer above")
    text, first = told(RATE._asdict(), other._asdict()), len(told(RATE._asdict())) - len("]}")
    one, both = Reply((RATE,), ("cut_off",)), Reply((RATE, other), ("cut_off",))
    assert [read(text[:at], 2) for at in range(first, len(text) - 2)] == [one] * (len(text) - 2 - first)
    assert [read(text[:at], 2) for at in (-2, -1)] == [both] * 2
    assert read(text, 2) == Reply((RATE, other))


def test_one_that_was_cut_off_before_any_was_whole_says_nothing() -> None:
    text = told(RATE._asdict())
    assert [read(text[:at], 2) for at in range(len(text) - 3)] == [Reply(readable=False)] * (len(text) - 3)


def test_what_is_no_json_among_the_whole_ones_is_malformed() -> None:
    assert read('{"corrections": [{4}, ' + orjson.dumps(RATE._asdict()).decode(), 2) == Reply(
        (RATE,), ("malformed", "cut_off")
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_a_stop_leaves_of_nothing_is_wrong_still_tells(language: Language) -> None:
    left, found, rest = FINE[language].partition(STOPS[language])
    assert (found, rest) == (STOPS[language], "")
    for text in (left, f"I have checked it. {left}", f"{left}\n"):
        assert read(text, 2) == Reply()
    assert not read(f"{left} and so on", 2).readable
    assert STOPS[language] not in MARKS[language]


def test_a_marked_line_without_an_arrow_is_malformed() -> None:
    assert read("[corrected] the rate is wrong", 2) == Reply((), ("malformed",))


def test_a_reply_without_end_is_read_in_part() -> None:
    assert not read("a" * 10_000_000, 2).readable
