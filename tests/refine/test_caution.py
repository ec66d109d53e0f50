"""The light check: what it finds, where tags go, and that it breaks nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.refine.caution import (
    INLINE,
    LISTED,
    LONGEST,
    MOST,
    Language,
    Tags,
    language_of,
    note,
    spans,
    structured,
    tagged,
)

ZH, EN = "[需人工复核]", "[needs human review]"
PIECES = st.sampled_from(
    [
        *(
            "5%",
            "2020年3月1日",
            "《个人信息保护法》第十七条",
            " 12 kg",
            "$5",
            "，",
            "。",
            " ",
            "\n",
            "\n\n",
            "**",
            "_",
            "`",
            "```\n",
        ),
        *(
            "[",
            "](",
            ")",
            "|",
            "1. ",
            "    ",
            "https://a.b/12",
            "word ",
            "字",
            "(",
            "至",
            " and ",
            "$",
            "<b>",
            "~~~\n",
            "# ",
            "{",
        ),
    ]
)


def test_tags_stand_right_behind_what_they_are_for() -> None:
    text = "根据《个人信息保护法》第十七条，应在三十天内告知；违者罚款。"
    assert tagged(text, "inline") == f"根据《个人信息保护法》第十七条{ZH}，应在三十天{ZH}内告知；违者罚款。"
    text = "The fee is $5, and it takes 7 business days."
    assert tagged(text, "inline") == f"The fee is $5 {EN}, and it takes 7 business days {EN}."


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("自2020年3月1日至2021年3月1日有效", f"自2020年3月1日至2021年3月1日{ZH}有效"),
        ("依据银发〔2020〕9号和GB/T 35273-2020办理", f"依据银发〔2020〕9号和GB/T 35273-2020{ZH}办理"),
        ("Between $5 and $10 a head", f"Between $5 and $10 {EN} a head"),
        ("费用5元。\n共10元", f"费用5元{ZH}。\n共10元{ZH}"),
    ],
)
def test_neighbours_share_a_tag_but_not_across_a_sentence(text: str, wanted: str) -> None:
    assert tagged(text, "inline") == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("需要**17天**的时间", f"需要**17天**{ZH}的时间"),
        ("需要17天**整**", f"需要17天{ZH}**整**"),
        ("增长5%(同比)", f"增长5%{ZH} (同比)"),
        ("增长5%[1]", f"增长5%{ZH} [1]"),
        ("| 年 | 增长 |\n|---|---|\n| 2020年 | 5% |", f"| 年 | 增长 |\n|---|---|\n| 2020年{ZH} | 5%{ZH} |"),
        ("[2020年](https://a.b/12)", f"[2020年{ZH}](https://a.b/12)"),
        (f"增长5%{ZH}", f"增长5%{ZH}"),
    ],
)
def test_markdown_stays_what_it_is(text: str, wanted: str) -> None:
    assert tagged(text, "inline", "zh") == wanted


def test_of_many_only_the_first_are_tagged_and_the_rest_is_listed() -> None:
    text = "。".join(f"收入增长{n}%" for n in range(10, 30))
    answer = tagged(text, "inline")
    body, _, end = answer.rpartition("\n\n")
    assert body.count(ZH) == INLINE
    assert body.replace(ZH, "") == text
    assert end.startswith(ZH)
    assert "29%" in end
    assert "10%" not in end


@pytest.mark.parametrize(
    ("text", "tag", "listed"),
    [("利率是5%，期限三十天。", ZH, "5%；三十天"), ("The rate is 5% for 30 days.", EN, "5%; 30 days")],
)
def test_a_note_lists_what_to_verify(text: str, tag: str, listed: str) -> None:
    answer = tagged(text, "note")
    assert answer.startswith(f"{text}\n\n{tag} ")
    assert listed in answer
    assert answer == text + note(text)


@pytest.mark.parametrize("placement", ["inline", "note"])
@pytest.mark.parametrize(("text", "tag"), [("天空是蓝色的。", ZH), ("The sky is blue.", EN)])
def test_an_answer_without_figures_is_tagged_as_a_whole(placement: str, text: str, tag: str) -> None:
    answer = tagged(text, "inline" if placement == "inline" else "note")
    assert answer.startswith(f"{text}\n\n{tag} ")


def test_a_long_list_is_cut_and_says_so() -> None:
    end = note("。".join(f"增长{n}%" for n in range(10, 40)))
    assert end.count("%") == LISTED
    assert "另有18处" in end
    assert note("The rate is 5%. The rate is 5%.").count("5%") == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"rate": 5, "on": "2020-01-01"}',
        '[{"rate": "5%"}]',
        "[1, 2, 30]",
        ' {"rate": "5%", "cut',
        '```json\n{"rate": "5%"}\n```',
        "```python\nx = 12.5\n```\n",
        '<?xml version="1.0"?><rate>5%</rate>',
        "  \n",
        "",
    ],
)
def test_what_a_program_reads_is_left_alone(text: str) -> None:
    assert tagged(text, "inline") == tagged(text, "note") == text
    assert note(text) == ""
    assert structured(text) or not text.strip()


@pytest.mark.parametrize("text", ["[1] 据统计，增长5%", "{利率}为5%", "42", "```\nx\n```\n说明5%", "[注] 5%"])
def test_what_only_begins_like_that_is_a_text(text: str) -> None:
    assert not structured(text)


def test_a_header_leaves_the_text_alone() -> None:
    assert tagged("利率是5%", "header") == "利率是5%"


def test_a_note_never_ends_up_in_a_block_of_code_that_was_cut_off() -> None:
    assert tagged("例如5%：\n```python\nx = 1", "note").startswith("例如5%：\n```python\nx = 1\n```\n\n" + ZH)
    assert tagged("例如：\n````\n```\nx = 1", "inline").startswith("例如：\n````\n```\nx = 1\n````\n\n" + ZH)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("利率是5%", "zh"),
        ("The rate is 5%", "en"),
        ("请用 Python 的 asyncio 库实现并发", "zh"),
        ("The law is called 《个人信息保护法》 and has many articles in it, all of them new", "en"),
        ("5%", "en"),
    ],
)
def test_the_language_is_the_reader_s(text: str, wanted: Language) -> None:
    assert language_of(text) == wanted


def test_words_and_language_may_be_given() -> None:
    tags = Tags(zh="【待核】", en="(unchecked)")
    assert tagged("利率是5%。", "inline", tags=tags) == "利率是5%【待核】。"
    assert tagged("利率是5%。", "inline", "en", tags) == "利率是5% (unchecked)。"


@pytest.mark.parametrize("word", ["", "a|b", "a\nb", "`a`", " a", "<b>", "x" * 61])
def test_a_tag_that_would_break_a_table_is_refused(word: str) -> None:
    with pytest.raises(ValidationError):
        Tags(zh=word)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_answer_s_own_words_all_stay(text: str) -> None:
    answer = tagged(text, "inline", "zh")
    body = answer.rpartition(f"\n\n{ZH} ")[0] if f"\n\n{ZH} " in answer else answer
    assert re.sub(r"[\s`~]", "", body.replace(ZH, "")).startswith(re.sub(r"[\s`~]", "", text.rstrip("`~")))
    assert not text.strip() or structured(text) or ZH in answer


@given(st.lists(PIECES, max_size=40).map("".join))
def test_spans_are_in_order_and_apart(text: str) -> None:
    last = 0
    for start, end, _ in spans(text):
        assert last <= start < end <= len(text)
        assert "\n" not in text[start:end]
        last = end


@pytest.mark.parametrize(
    "build",
    [
        *(lambda n: "1" * n, lambda n: "一" * n, lambda n: "Aaa " * n, lambda n: "《" * n, lambda n: "one " * n),
        *(lambda n: "1,000" * n, lambda n: "第一" * n, lambda n: "\\[ " * n, lambda n: "<a " * n, lambda n: "`" * n),
        *(
            lambda n: "[" * n,
            lambda n: "a@" * n,
            lambda n: "Section 1, " * n,
            lambda n: "$ 1" * n,
            lambda n: "\n```\n~~~" * n,
        ),
    ],
)
def test_hostile_texts_are_bounded(build: Callable[[int], str]) -> None:
    assert len(spans(build(4000))) <= MOST


def test_there_is_a_last_span_and_a_last_character() -> None:
    assert len(spans("增长5%。" * 1000)) == MOST
    assert spans("字" * LONGEST + "5%") == []


def test_json_that_is_very_deep_does_no_harm() -> None:
    assert structured("[" * 5000 + "]" * 5000)
    assert not structured("[注" * 5000)
    assert structured(json.dumps([1, 2.5]))
