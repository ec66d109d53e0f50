"""What is told is told in both languages, and holds what was measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from gateway.assess import wording
from gateway.assess.log import opened
from gateway.assess.memory import Memory
from gateway.assess.tally import Tally
from gateway.assess.verdict import Plan, Why, judge
from gateway.assess.wording import Lang
from tests.assess.samples import day, lines, write

CHINESE = re.compile(r"[\u4e00-\u9fff]")


def test_each_reason_and_answer_has_words_in_both_languages() -> None:
    assert set(wording.WHYS) == set(get_args(Why))
    for told in (*wording.WHYS.values(), *wording.ANSWERS.values()):
        assert CHINESE.search(told["zh"])
        assert not CHINESE.search(told["en"])


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("shape", ["bodies", "nginx"])
def test_rows_hold_what_was_measured(tmp_path: Path, lang: Lang, shape: str) -> None:
    log, tally = opened(write(tmp_path / "log", lines(day(60), shape))), Tally()
    for line in log:
        tally.add(line)
    log.close()
    rows = list(wording.rows(log, tally.figures(), {}, lang))
    told = " ".join(f"{row.name} {row.value} {row.note}" for row in rows)
    assert "20.00%" in told
    assert shape in told
    assert bool(CHINESE.search(told)) == (lang == "zh")
    assert ("HTTP" in told) == (shape == "nginx")
    reasons = wording.reasons(judge(tally.figures(), {}, 1.0), lang)
    assert all(bool(CHINESE.search(reason)) == (lang == "zh") for reason in reasons)


def test_settings_can_be_copied_into_the_files() -> None:
    told = "\n".join(wording.settings(Plan("rejected", "splice", 900, 8.0), "en"))
    assert "capture: rejected" in told
    assert "mode: splice, ttl_seconds: 900" in told
    assert "RETRACE_POOL_GIB=7.45" in told
    assert "POOL_GIB" not in "\n".join(wording.settings(Plan("all", "prefix", 900, None), "zh"))


def test_memory_and_savings_have_their_units() -> None:
    rows = list(wording.memory_rows(Memory(1.8, 2.0, 3.0), "a model", 1000.0, "en"))
    assert [row.value for row in rows] == ["1.8 GB/min", "2 GB/min", "3 GB"]
    assert "s of prefill" in wording.hourly(1000.0, 5.0, "en").note
    assert wording.hourly(1000.0, None, "zh").note == ""
