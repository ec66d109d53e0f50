"""The vocabulary keeps what the texts are made of, with the teacher's ids."""

from __future__ import annotations

from tokenizers import Tokenizer

from classifiers.training.teacherfile import Pieces
from classifiers.training.words import choose

TEXTS = ["<s>", "<pad>", "</s>", "<unk>", "▁refund", "▁rare", "退款", "退", "款", "▁", "е", "u", "▁u"]
PIECES = Pieces(TEXTS, [0, 0, 0, 0, -5, -5, -6, -8, -8, -4, -9, -9, -9], bos=0, eos=2, pad=1, unknown=3)


def test_seen_pieces_and_single_characters_are_kept() -> None:
    kept = choose(PIECES, ["refund 退款"] * 3 + ["rare"])
    assert kept.ids[:4] == [1, 3, 0, 2]
    assert {TEXTS[number] for number in kept.ids[4:]} == {"▁refund", "▁", "退款", "退", "款", "u", "▁u"}


def test_the_tokenizer_cuts_as_the_teacher_and_marks_are_text() -> None:
    tokenizer = Tokenizer.from_str(choose(PIECES, ["refund 退款"] * 3).description)
    assert tokenizer.encode("refund\n退款").tokens == ["▁refund", "▁", "退款"]
    assert not {0, 2, 3} & set(tokenizer.encode("<s></s><pad>").ids)
