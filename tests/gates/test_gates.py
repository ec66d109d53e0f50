"""Which questions are the same, over pairs in both languages and over whatever hypothesis thinks of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.gates import LONGEST, Gate, same_question
from tests.gates.questions import LANGUAGES, differs, pairs

KINDS = ("number", "date", "unit", "negation", "polarity", "comparative", "entity", "direction")
NEGATIVES = [pair for kind in (*KINDS, "content", "fresh") for language in LANGUAGES for pair in pairs(kind, language)]
FLOORS = {"en": 0.75, "zh": 0.85}  # of the paraphrases; what passes now is a little more
OWN = 0.6  # of the pairs that differ in one thing, those that the gate of this thing names


@pytest.mark.parametrize("kind", [*KINDS, "content", "fresh"])
def test_no_question_passes_that_asks_something_else(kind: str) -> None:
    tried = [pair for pair in NEGATIVES if pair.kind == kind]
    assert tried
    assert [pair for pair in tried if not differs(pair.a, pair.b)] == []


def test_there_are_many_pairs_and_each_is_there_once() -> None:
    assert len(NEGATIVES) > 600
    assert len({frozenset((pair.a, pair.b)) for pair in NEGATIVES}) == len(NEGATIVES)
    assert min(len(pairs(kind, language)) for kind in KINDS for language in LANGUAGES) >= 30


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_paraphrases_pass(language: str) -> None:
    told = [differs(pair.a, pair.b) for pair in pairs("same", language)]
    assert len(told) >= 100
    assert told.count("") / len(told) >= FLOORS[language]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gate_of_what_differs_mostly_names_it(kind: str) -> None:
    told = [differs(pair.a, pair.b) for language in LANGUAGES for pair in pairs(kind, language)]
    assert told.count(kind) / len(told) >= OWN


def test_a_gate_is_a_verdict_and_its_reason() -> None:
    assert same_question("How do I pay?", "how do i pay") == Gate(True, "")
    assert same_question("Is 5 mg enough?", "Is 5 g enough?") == Gate(False, "unit")


@pytest.mark.parametrize(
    ("a", "b"),
    [("为什么", "为什么呀"), ("what is this", "what is that"), ("", "?"), ("how", "how to"), ("我可以吗", "可以吗")],
)
def test_where_nothing_is_said_nothing_is_the_same(a: str, b: str) -> None:
    assert differs(a, b) in (("",) if not a else ("content", "asked"))


def test_an_answer_in_another_language_is_none() -> None:
    assert differs("iPhone 15多少钱", "how much is an iPhone 15") == "language"


@pytest.mark.parametrize("many", ["a", "怎么", "9", '"', "a@", "百分之", "a.", "((", "\u0301", "ﷺ", "“x", "三千"])
def test_a_long_text_is_only_the_same_as_itself(many: str) -> None:
    text = many * LONGEST
    assert same_question(text + "x", text + "y") == Gate(False, "length")
    assert same_question(text, text.upper() + " ?") == Gate(True, "")
    assert not same_question(text[: LONGEST - 1] + "x", text[: LONGEST - 9]).same


ALL = [*NEGATIVES, *(pair for language in LANGUAGES for pair in pairs("same", language))]
QUESTIONS = st.sampled_from(sorted({question for pair in ALL for question in pair[:2]}))
SNIPPETS = st.sampled_from(
    [
        "不",
        "not ",
        "3",
        "第",
        "百分之",
        "“",
        '"',
        "May 5",
        "2023年",
        "@a.b",
        "'s",
        "-",
        "的",
        "$",
        "一半",
        "k",
        "怎么",
        "the ",
        "\u0301",
    ]
)
TEXTS = st.lists(st.one_of(SNIPPETS, st.text(max_size=5), QUESTIONS), max_size=6).map("".join)


@given(TEXTS, TEXTS)
def test_no_text_is_too_odd_and_the_order_of_two_never_matters(a: str, b: str) -> None:
    differs(a, b)


@given(TEXTS)
def test_every_text_asks_what_it_asks(text: str) -> None:
    assert same_question(text, text) == Gate(True, "")


def wide(text: str) -> str:
    return "".join(
        "\u3000" if char == " " else chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text
    )


@given(
    QUESTIONS,
    st.sampled_from([str.upper, str.lower, str.title, wide, str.strip]),
    st.sampled_from(["", "?", "？", " ！", "。", "…"]),
)
def test_case_width_space_and_the_mark_at_the_end_make_no_difference(question: str, change: object, mark: str) -> None:
    assert callable(change)
    assert same_question(question, "  " + change(question.rstrip("?？")).replace(" ", "  ") + mark) == Gate(True, "")


NUMBERED = st.sampled_from(
    [
        "How do I transfer {} dollars abroad?",
        "Is {}% a good rate?",
        "What does chapter {} explain?",
        "Can I take {}mg at once?",
        "When was version v{} released?",
        "怎么转账{}元？",
        "第{}章讲了什么？",
        "{}天内可以退货吗？",
        "错误{}是什么意思？",
        "订单A-{}到哪了？",
        "利率{}%高吗？",
    ]
)


@given(NUMBERED, st.integers(0, 10**12), st.data())
def test_another_digit_is_another_question(template: str, number: int, data: st.DataObject) -> None:
    digits = str(number)
    place = data.draw(st.integers(0, len(digits) - 1))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != digits[place]]))
    changed = digits[:place] + other + digits[place + 1 :]
    assert differs(template.format(digits), template.format(changed))


@given(
    st.sampled_from(
        [
            ("Can I {} cancel the order?", ("not", "never")),
            ("Why does the app {} open the camera?", ("not", "never", "no longer")),
            ("Which plans do {} include roaming?", ("not", "never")),
            ("What should children {} eat?", ("not", "never")),
            ("为什么{}发货？", ("不", "没", "没有", "未", "不能", "无法")),
            ("孕妇可以{}吃海鲜吗？", ("不", "别")),
            ("哪些商品{}支持退货？", ("不", "没有", "从不")),
            ("我的账户{}开通国际支付怎么办？", ("没", "不", "还没", "尚未", "无法", "没有")),
        ]
    ),
    st.data(),
)
def test_a_denial_makes_another_question(template: tuple[str, tuple[str, ...]], data: st.DataObject) -> None:
    text, words = template
    told = data.draw(st.sampled_from(words))
    assert differs(text.format(told), text.format("").replace("  ", " "))


NAMES = {
    "en": ["Alice", "Bob", "Chase", "PayPal", "Berlin", "Lagos", "Python", "Excel", "Tencent", "iPhone 15"],
    "zh": ["小明", "张伟老师", "工商银行", "支付宝", "北京", "拉萨", "英语", "德语", "腾讯", "母公司"],
}
BETWEEN = {
    "en": [
        "How do I get from {} to {}?",
        "Did {} sue {}?",
        "Is {} better than {}?",
        "Convert {} to {}",
        "Does {} own {}?",
    ],
    "zh": ["怎么从{}到{}？", "{}收购了{}吗？", "{}比{}好吗？", "把{}转换成{}", "{}欠{}钱吗？", "{}为什么不联系{}？"],
}


@given(st.sampled_from(LANGUAGES), st.data())
def test_two_names_in_each_other_s_place_make_another_question(language: str, data: st.DataObject) -> None:
    one, other = data.draw(st.lists(st.sampled_from(NAMES[language]), min_size=2, max_size=2, unique=True))
    template = data.draw(st.sampled_from(BETWEEN[language]))
    assert differs(template.format(one, other), template.format(other, one))


@given(st.sampled_from(LANGUAGES), st.data())
def test_another_name_makes_another_question(language: str, data: st.DataObject) -> None:
    one, other = data.draw(st.lists(st.sampled_from(NAMES[language]), min_size=2, max_size=2, unique=True))
    template = data.draw(
        st.sampled_from(
            ["How do I contact {}?", "Is {} open today?"] if language == "en" else ["怎么联系{}？", "{}在哪里？"]
        )
    )
    assert differs(template.format(one), template.format(other))
