"""The student's vocabulary knows every Chinese character and what the texts are made of."""

from __future__ import annotations

import json

from tokenizers import Tokenizer

from classifiers.training.pieces import chosen, count, description, lowered

PIECES = {"▁": -2.0, "▁refund": -5.0, "退": -6.0, "款": -6.5, "退款": -7.0, "龘": -12.0, "▁niet": -8.0, "s": -4.0}


def test_spellings_in_capitals_become_one() -> None:
    assert lowered(["The", "the", "<s>", "▁A"], [-3.0, -2.0, 0.0, -1.0]) == {"the": -2.0, "▁a": -1.0}


def test_what_is_seen_twice_is_kept_and_every_chinese_character() -> None:
    counts = count(PIECES, ["Refund!", "refunds", "退款", "退款"])
    assert counts["▁refund"] == 2
    kept = chosen(PIECES, counts)
    assert {"▁refund", "退款", "退", "款", "龘"} <= kept.keys()
    assert "▁niet" not in kept
    assert list(kept.values()) == sorted(kept.values(), reverse=True)


def test_the_description_is_a_tokenizer_that_stops_in_time() -> None:
    told = description(PIECES, 3)
    made = Tokenizer.from_str(json.dumps(told))
    assert made.encode("退款 refunds", add_special_tokens=False).tokens == ["▁", "退款", "▁refund"]
    assert made.encode("é", add_special_tokens=False).ids[-1] == 1
    assert told["model"]["vocab"][:2] == [["<pad>", 0.0], ["<unk>", -25.0]]
