"""The page of an exchange."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gateway.audit._texts import TEXTS
from gateway.audit.page import rendered
from gateway.audit.proof import Break
from tests.audit.logs import HOUSE, exchange, name, write
from tests.audit.stories import BUSY, busy, known

NOW = datetime(2024, 5, 6, 7, 8, tzinfo=UTC)


class _Reader(HTMLParser):
    """The words of a page as a reader sees them, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.loads: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.loads += [value or "" for key, value in attrs if key in ("src", "href", "action")]
        if tag == "meta":
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words.append(data)


def read(html: str) -> tuple[str, _Reader]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader._open == []
    return re.sub(r"\s+", " ", " ".join(reader.words)), reader


@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_that_happened_stands_on_the_page(tmp_path: Path, language: Any) -> None:
    html = rendered(busy(tmp_path), language, NOW)
    words, reader = read(html)
    for told in (
        name(7),
        "acme",
        "R205",
        "misleading.promise",
        "out.promise",
        "0123456789ab",
        "No promises.",
        "paid 4.1%",
        "paid 3.1%",
        "Annual report, page 12",
        "过往业绩不代表未来表现。",
        HOUSE["revision"],
        "a" * 64,
        name(2),
        "w0-00000001.jsonl:",
        "2024-05-06 07:08 UTC",
        "c" * 64,
    ):
        assert told in words, told
    own = {
        "en": ("cut back and repaired", "Leave out promises.", "5 back"),
        "zh": ("回退并修复", "请不要承诺结果。", "上溯 5 步"),
    }
    assert all(told in words for told in own[language])
    assert "6 back" not in words
    assert f'lang="{"zh-CN" if language == "zh" else "en"}"' in html
    assert reader.loads == []
    assert "script" not in reader.tags


def test_what_clients_and_models_wrote_is_no_part_of_the_page_s_own_words(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} {% raw %} & \" '"
    fields = {
        **BUSY,
        "asked": [{"role": evil, "text": evil}],
        "said": {"0": evil},
        "corrections": {"0": [{"quote": evil, "fixed": evil, "evidence": evil}]},
        "model": evil,
        "tenant": evil,
    }
    words, reader = read(rendered(busy(tmp_path, **fields)))
    assert {"script", "img"} & set(reader.tags) == set()
    assert reader.loads == []
    assert "{{ 7 * 7 }}" in words
    assert "onerror=alert(2)" in words


def test_marks_of_what_was_left_out_are_shown_as_marks(tmp_path: Path) -> None:
    html = rendered(busy(tmp_path, said={"0": "It is [R205] and [***], not [R2055] nor [x]."}))
    assert "It is <mark>R205</mark> and <mark>***</mark>, not [R2055] nor [x]." in html


def test_a_log_without_words_makes_a_page_that_says_so(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1, first=None, usage=None)])
    words, _ = read(rendered(known(tmp_path, 1)))
    assert words.count("The log holds no words of this exchange") == 2
    assert "No rule found anything." in words
    assert "has made room" in words
    assert "not told" in words


def test_of_hashed_words_their_length_is_told(tmp_path: Path) -> None:
    kept = {"hmac": "abcdef0123456789" * 4, "chars": 12}
    write(tmp_path, [exchange(1, asked=[{"role": "user", "text": kept}], said={"0": kept}, left_out=0, found=[])])
    words, _ = read(rendered(known(tmp_path, 1)))
    assert "12 characters, of which only a keyed hash is kept: abcdef012345" in words


def test_several_answers_are_told_apart(tmp_path: Path) -> None:
    said = {"0": "one", "1": "two"}
    write(tmp_path, [exchange(1, choices=2, asked=[], said=said, left_out=0)])
    words, _ = read(rendered(known(tmp_path, 1)))
    assert "answer 1" in words
    assert "answer 2" in words


def test_a_broken_chain_is_the_first_thing_that_is_seen(tmp_path: Path) -> None:
    story = busy(tmp_path)
    story.seal.chain.broken = Break(tmp_path / "w0-00000001.jsonl", 3, "changed", "line 3 was changed")
    html = rendered(story)
    words, _ = read(html)
    assert "The chain w0 is broken at w0-00000001.jsonl:3. line 3 was changed." in words
    assert 'class="badge bad"' in html
    assert 'class="badge good"' not in html


def test_each_verdict_has_its_page(tmp_path: Path) -> None:
    for number, verdict in enumerate(("allow", "tag", "refine", "mask", "rewind", "block")):
        write(tmp_path / verdict, [exchange(number, verdict=verdict)])
        for language in TEXTS:
            assert f'class="v-{verdict}"' in rendered(known(tmp_path / verdict, number), language)
