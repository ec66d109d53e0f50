"""Raw tokens as words."""

from __future__ import annotations

import pytest

from gateway.gates._shapes import pieces
from gateway.gates._words import worded
from tests.gates.questions import differs


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the cards of a bank", "card of bank"),
        ("vitamin a", "vitamin a"),
        ("plan a or plan b", "plan a or plan b"),
        ("what's that", "what is that"),
        ("today's rate", "today 's rate"),
        ("i have to pay", "i have to pay"),
        ("has my card been declined", "my card been decline~ <passive>"),
        ("when do i get paid", "when do i pay~ <passive>"),
        ("what is the fee", "what is fee <the>"),
        ("what is a fee", "what is fee"),
        ("怎么重置密码", "怎么 重置 密码"),
    ],
)
def test_what_is_left_of_a_text(text: str, wanted: str) -> None:
    said = [f"<{value}>" if gate in ("voice", "mood") else value for gate, value in worded(pieces(text))]
    assert " ".join(said) == wanted


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I write a will?", "How do I write?"),
        ("Who fought in World War I?", "Who fought in a world war?"),
        ("How do I reach the IT department?", "How do I reach the department?"),
        ("Turn on the AM radio", "Turn on the radio"),
        ("When do I get paid?", "When have I paid?"),
        ("What is the fee?", "What is a fee?"),
        ("Is it closed in May?", "May it be closed?"),
    ],
)
def test_short_words_that_mean_something(a: str, b: str) -> None:
    assert differs(a, b)
