"""Things that one does to one's order, account or device, and whoever could do them."""

from __future__ import annotations

from gateway.gates._lexicon import cut
from gateway.gates._operations import ACTORS, ARROWS, OPERATIONS
from tests.gates.questions import differs


def test_nobody_is_an_operation() -> None:
    assert frozenset() == OPERATIONS & ACTORS


def test_every_word_is_found_in_a_text() -> None:
    assert [word for word in OPERATIONS | ACTORS | ARROWS if not word.isascii() and list(cut(word)) != [word]] == []


def test_the_thing_may_be_named_first_and_the_doer_may_not() -> None:
    for operation in sorted(OPERATIONS - {"坏了", "丢", "开发票"}):
        assert differs(f"怎么{operation}硬盘", f"硬盘怎么{operation}") == "", operation
        assert differs(f"怎么{operation}学生", f"学生怎么{operation}"), operation
