"""What a reviewer sees of an answer: all of it, in its language, and nothing that his terminal would obey."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from gateway.cli import _pages
from gateway.refine.docket import Entry, Waiting
from tests.cli.queues import CHINESE, ENGLISH


def drawn(*listed: Waiting, width: int = 200) -> str:
    told = StringIO()
    Console(file=told, width=width).print(_pages.table(listed))
    return told.getvalue()


def test_a_page_is_in_the_answer_s_language() -> None:
    chinese, english = [_pages.page(Waiting("t-1", entry)).plain for entry in (CHINESE, ENGLISH)]
    assert chinese.splitlines()[0].startswith("t-1  2023-11-1")
    assert chinese.splitlines()[0].endswith("银行  chat  m  finance")
    assert chinese.splitlines()[1:] == [
        "原因  unreachable, risk",
        "问题",
        "利率是多少？",
        "回答",
        "利率是[[5%]]。",
        "请核对。",
        "待核实  5% (百分比)",
    ]
    assert english.splitlines()[1:] == [
        "why  late",
        "Question",
        "When was the rule passed, and what is the fine?",
        "Answer",
        "It was passed in [[1998]].",
        "The fine is [[$250]], or [[5%]] of a year's sales.",
        "To verify  1998 (date); $250 (money); 5% (percent)",
    ]


@pytest.mark.parametrize(
    ("spans", "shown"),
    [
        ((), "abcdef"),
        (((0, 2, "x"), (2, 3, "x")), "[[ab]][[c]]def"),
        (((4, 6, "x"), (0, 1, "x")), "[[a]]bcd[[ef]]"),
        (((0, 4, "x"), (2, 5, "x")), "[[abcd]]ef"),
        (((2, 9, "x"), (-3, 2, "x"), (3, 3, "x"), (4, 3, "x")), "abcdef"),
    ],
)
def test_spans_are_marked_where_they_fit(spans: tuple[tuple[int, int, str], ...], shown: str) -> None:
    assert _pages.marked(replace(ENGLISH, answer="abcdef", spans=spans)).plain == shown


def test_what_stands_twice_is_to_be_verified_once() -> None:
    entry = replace(ENGLISH, answer="5% or 5%", spans=((0, 2, "percent"), (6, 8, "percent")))
    assert _pages.page(Waiting("t", entry)).plain.endswith("\nTo verify  5% (percent)\n")


HOSTILE = "a\x1b]0;owned\x07b\x9b31mc\u202ed\r\ne[red]f[/]\x00"


def test_nothing_of_a_text_reaches_the_terminal_as_an_order() -> None:
    fields = dict.fromkeys(("id", "tenant", "surface", "model", "question", "answer", "domain"), HOSTILE)
    entry = Entry(**fields, time=1e300, why=(HOSTILE,), language="en", spans=((1, 2, HOSTILE),))
    one = Waiting(HOSTILE, entry, HOSTILE, -5.0)
    told = StringIO()
    Console(file=told, width=400).print(_pages.page(one), _pages.table([one]), soft_wrap=True)
    told.write(_pages.counted([one]))
    shown = told.getvalue()
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r", "\x00"} & set(shown)
    assert "[red]f[/]" in shown
    assert "a[[�]]]0;owned" in shown  # each character at its place


def test_a_table_has_a_line_each_however_long_a_question_is() -> None:
    question = "第一行很长" * 40 + "\n第二行"
    _, line = drawn(Waiting("t-1", replace(CHINESE, question=question), "王", 1_700_000_000.0)).splitlines()
    assert "…" in line
    assert "第二行" not in line
    assert "王" in line


def test_tickets_stay_whole_on_a_narrow_terminal() -> None:
    ticket = "1700000000000-0"
    shown = drawn(Waiting(ticket, ENGLISH, "Li", 1_700_000_000.0), width=80)
    assert f" {ticket} " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "passed, and" in shown
    assert "fine?" in shown


def test_counts_tell_who_has_what_and_why() -> None:
    listed = [Waiting("1", CHINESE, "王", 1.0), Waiting("2", ENGLISH, "王", 1.0), Waiting("3", ENGLISH)]
    assert _pages.counted(listed) == "3 wait, 2 of them taken (王 2); late 2, unreachable 1, risk 1"
    assert _pages.counted([]) == "nothing waits"


def test_a_line_is_one_line() -> None:
    line = _pages.line(Waiting("t", ENGLISH))
    assert line.count("\n") == 1
    assert json.loads(line)["answer"] == ENGLISH.answer
    assert "银行" in _pages.line(Waiting("t", CHINESE))
