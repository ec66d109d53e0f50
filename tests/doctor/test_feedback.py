"""Voices of clients, and which of them complain."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from gateway.doctor.feedback import gathered, phrases
from gateway.errors import ConfigFault

FINE = ["Thanks, this helped.", "很好，谢谢！", "It was a bit slow.", "The wording is fine.", "客服态度不错"]
BAD = [
    "The refund date is wrong information.",
    "That is factually INCORRECT.",
    "它说的条款是编造的，根本没有这条",
    "日期不对，应该是五月",
    "You made that up!",
    "回答与事实不符",
]


def test_complaints_are_told_from_other_voices_in_both_languages(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps({"comment": text}) for text in FINE + BAD))
    told = gathered(path, phrases())
    assert (told.total, told.complaints) == (len(FINE + BAD), len(BAD))
    assert dict(told.words)


@pytest.mark.parametrize(
    ("line", "total"),
    [
        (b'{"text": "wrong answer"}', 1),
        (b'{"content": "wrong answer", "stars": 1}', 1),
        (b"wrong answer", 1),
        (b'"wrong answer"', 1),
        (b"\n \n", 0),
        (b'{"stars": 1}', 0),
        (b"[1]", 0),
    ],
)
def test_a_voice_may_be_written_in_many_ways(tmp_path: Path, line: bytes, total: int) -> None:
    path = tmp_path / "feedback"
    path.write_bytes(line)
    told = gathered(path, phrases())
    assert (told.total, told.complaints) == (total, total)


def test_a_word_in_another_is_none_and_a_voice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "feedback"
    path.write_text("It is misleadingly simple.\nIncorrect, inaccurate, and incorrect again.\n")
    told = gathered(path, phrases())
    assert (told.total, told.complaints) == (2, 1)
    assert dict(told.words) == {"incorrect": 1, "inaccurate": 1}


def test_what_can_t_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="none"):
        gathered(tmp_path / "none", phrases())
    with pytest.raises(ConfigFault, match=r"complaints\.zh\.txt"):
        phrases(tmp_path)
