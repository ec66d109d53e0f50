"""`type: words`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.checks.words import Plug
from gateway.types import Hit, View
from tests.sight import check, seen, spans

BOMB = check("words", words=["bomb", "炸弹", "ass", "kill yourself"])


@pytest.mark.parametrize(
    "said",
    [
        "bomb",
        "BOMB",
        "Bomb",
        "ｂｏｍｂ",
        "ＢＯＭＢ",
        "𝐛𝐨𝐦𝐛",
        "ⓑⓞⓜⓑ",
        "b\u200bo\u200bm\u200bb",
        "bo\u00admb",
        "bo\u0301mb",
        "b.o.m.b",
        "b o m b",
        "B-O-M-B",
        "b*o_m·b",
        "b. o. m. b",
        "ｂ．ｏ．ｍ．ｂ",
        "炸弹",
        "炸 弹",
        "炸.弹",
        "炸  弹",
        "炸\u200b弹",
        "炸*\u200b弹",
        "a.s.s",
        "Kill Yourself",
        "ｋｉｌｌ　ｙｏｕｒｓｅｌｆ",
    ],
)
@pytest.mark.parametrize(("before", "behind"), [("", ""), ("how to 'x", "' ok"), ("制造", "吧"), ("1, ", ". 2")])
def test_a_word_is_found_in_its_disguises(said: str, before: str, behind: str) -> None:
    before = before.removesuffix("x")
    assert seen(BOMB, before + said + behind) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "class",
        "bombastic",
        "passé",
        "assassin",
        "as sign",
        "as s",
        "bomba",
        "Bombe",
        "bombé",
        "carbomb",
        "9bomb",
        "bomb9",
        "b.o.m.bx",
        "xb.o.m.b",
        "bo.mb",
        "b...o...m...b",
        "炸   弹",
        "炸-裂弹",
        "弹炸",
        "kill  yourself",
        "skill yourself",
        "ab.o.m",
    ],
)
def test_a_near_miss_is_let_alone(said: str) -> None:
    assert seen(BOMB, said) == []


def test_a_chinese_word_is_found_inside_others() -> None:
    assert seen(BOMB, "大炸弹人") == ["炸弹"]


def test_every_word_is_found_also_where_they_overlap() -> None:
    looking = check("words", words=["炸弹", "弹药", "炸弹药"])
    assert spans(looking, "炸弹药") == [(0, 2), (0, 3), (1, 3)]


def test_the_span_covers_the_disguise_and_nothing_else() -> None:
    assert spans(BOMB, "\u200bx b\u200bo.mb b.o.m.b!") == [(10, 17)]


def test_a_latin_word_at_the_end_waits_since_it_may_go_on() -> None:
    assert BOMB.look(View("a bomb", final=False))[1] == 2
    assert BOMB.look(View("a bomb ", final=False))[1] == 7


def test_a_word_that_has_begun_is_waited_for() -> None:
    assert BOMB.look(View("大炸", final=False)) == ([], 1)
    assert BOMB.look(View("大炸了", final=False)) == ([], 3)
    assert BOMB.look(View("so b.o. ", final=False)) == ([], 3)
    assert BOMB.look(View("please kill ", final=False)) == ([], 7)


def test_what_stands_before_the_open_part_is_only_context() -> None:
    assert BOMB.look(View("bomb x bomb", begin=5))[0] == [(7, 11)]
    assert BOMB.look(View("xbomb", begin=1))[0] == []


def test_many_lists_are_one_automaton_and_only_the_active_ones_speak() -> None:
    scanner = Plug.fuse([Plug(words=("bomb", "x")), Plug(words=("bomb",)), Plug(words=("y",))])
    assert sorted(scanner.scan(View("bomb y"), frozenset({0, 1, 2})).hits) == [
        Hit(0, 0, 4),
        Hit(1, 0, 4),
        Hit(2, 5, 6),
    ]
    assert scanner.scan(View("bomb y"), frozenset({1})).hits == [Hit(1, 0, 4)]
    assert scanner.scan(View("y b", final=False), frozenset({2})).hold == 3


def test_a_file_holds_one_word_a_line(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# a list\n\nbomb  # with a comment\n炸弹\n kill yourself \n", encoding="utf-8")
    looking = Plug.model_validate({"words": ["x"], "file": "list.txt"}, context={"folder": tmp_path})
    assert looking.words == ("x", "bomb", "炸弹", "kill yourself")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="can't read the word list"):
        Plug.model_validate({"file": "none.txt"}, context={"folder": tmp_path})


def test_a_file_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes("炸弹".encode("gb18030"))
    with pytest.raises(ValidationError, match="can't read the word list"):
        Plug.model_validate({"file": "list.txt"}, context={"folder": tmp_path})


@pytest.mark.parametrize("words", [[], [""], ["  "], ["\u200b"]])
def test_a_list_without_a_word_is_refused(words: list[str]) -> None:
    with pytest.raises(ValidationError, match="one word a line"):
        check("words", words=words)


def test_ten_thousand_words_are_found_each() -> None:
    words = [f"w{number}x" for number in range(10_000)]
    assert seen(check("words", words=words), "w0x w9999x w10000x") == ["w0x", "w9999x"]


@pytest.mark.parametrize("filler", ["a", "a.", "炸", "炸 ", "🙂", "e\u0301", "\0", "\u200b", "bomb" * 200 + " "])
def test_a_megabyte_holds_its_one_word(filler: str) -> None:
    text = filler * ((1 << 20) // len(filler))
    assert seen(check("words", words=["needle"]), f"{text}, needle, {text}") == ["needle"]
    assert BOMB.look(View(text, final=False))[1] <= len(text)
