"""Equal passages are cut alike wherever they stand, and no text, however odd, is cut into too much or too little."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.chunks import LEAST, MOST, USUAL, cuts

WORDS = [
    "settlement",
    "margin",
    "rebate",
    "order",
    "订单",
    "退款",
    "结算",
    "保证金",
    "the",
    "of",
    "and",
    "的",
    "是",
    "在",
    "2024",
    "3.5%",
]


def prose(seed: int, words: int) -> bytes:
    pick = random.Random(seed)
    return " ".join(f"{pick.choice(WORDS)}{pick.randrange(50)}" for _ in range(words)).encode()


def pieces(text: bytes, bits: int = USUAL) -> list[bytes]:
    ends = cuts(text, bits)
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(st.binary(max_size=5000), st.integers(6, 12))
def test_the_pieces_are_the_text_and_none_is_too_long(text: bytes, bits: int) -> None:
    made = pieces(text, bits)
    assert b"".join(made) == text
    assert all(0 < len(piece) <= MOST << bits for piece in made)
    assert all(len(piece) >= LEAST for piece in made[:-1])


@pytest.mark.parametrize("bits", [7, 8, 10])
def test_pieces_have_about_the_size_that_was_asked_for(bits: int) -> None:
    sizes = [len(piece) for piece in pieces(prose(1, 20_000), bits)]
    assert 0.7 < statistics.mean(sizes) / (LEAST + 2**bits) < 1.3


def test_what_stands_before_or_behind_changes_only_the_pieces_at_the_edge() -> None:
    document = prose(2, 3000)
    alone = pieces(document)
    for before, behind in ((b"x", b""), (prose(3, 100), b""), (b"", prose(4, 100)), (b"\xe4\xbd", b"y")):
        there = set(pieces(before + document + behind))
        assert len([piece for piece in alone if piece not in there]) <= 2


def test_a_changed_word_changes_few_pieces() -> None:
    document = prose(5, 3000)
    changed = document[:9000] + b"CHANGED" + document[9007:]
    there = set(pieces(changed))
    assert 1 <= len([piece for piece in pieces(document) if piece not in there]) <= 3


def test_text_without_any_place_to_cut_is_cut_all_the_same() -> None:
    for text in (b"a" * 100_000, b"ab" * 50_000):
        assert max(len(piece) for piece in pieces(text)) <= MOST << USUAL


def test_short_texts_are_one_piece() -> None:
    assert cuts(b"") == []
    assert cuts(b"a") == [1]
    assert cuts(b"a" * LEAST) == [LEAST]
