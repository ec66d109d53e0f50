"""A passage is found in the engine's own tokens, however they cut it: in the middle of words, or of characters."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.kv.locate import located, sensitive
from gateway.kv.nouns import Entry, Owner, State

WORDS = ["The ", "re", "bate", " is ", "12", " %", ". ", "返点", "是", "百分", "之十二", "。", "🐎"]


class Vocabulary:
    """Tokens that are pieces of UTF-8, as byte-level tokenizers have them."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = list(pieces)

    def decode(self, tokens: Sequence[int]) -> str:
        return b"".join(self.pieces[token] for token in tokens).decode(errors="replace")


def test_a_passage_is_covered_by_its_tokens() -> None:
    spelled = Vocabulary([word.encode() for word in WORDS])
    tokens = list(range(len(WORDS)))
    assert located(spelled.decode, tokens, ["rebate"]) == [(1, 3)]
    assert located(spelled.decode, tokens, ["百分之十二"]) == [(9, 11)]
    assert located(spelled.decode, tokens, ["The"]) == [(0, 1)]
    assert located(spelled.decode, tokens, ["🐎"]) == [(12, 13)]


def test_every_place_is_found() -> None:
    spelled = Vocabulary([b"no ", b"yes "])
    assert located(spelled.decode, [0, 1, 1, 1, 0], ["no"]) == [(0, 1), (4, 5)]


def test_one_that_is_nowhere_is_not_passed_over() -> None:
    spelled = Vocabulary([b"no ", b"yes "])
    assert located(spelled.decode, [0, 1], ["no", "maybe"]) is None
    assert located(spelled.decode, [0, 1], [""]) is None
    assert located(spelled.decode, [], ["no"]) is None
    assert located(spelled.decode, [0, 1], []) == []


@given(st.text("ab 返点🐎", min_size=1, max_size=40), st.data())
def test_whatever_the_tokens_the_passage_lies_within_its_span(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    ends = sorted(data.draw(st.sets(st.integers(1, len(raw)), max_size=12)) | {len(raw)})
    spelled = Vocabulary([raw[start:end] for start, end in zip([0, *ends], ends, strict=False)])
    tokens = list(range(len(spelled.pieces)))
    start = data.draw(st.integers(0, len(text) - 1))
    passage = text[start : data.draw(st.integers(start + 1, len(text)))]
    found = located(spelled.decode, tokens, [passage])
    assert found
    edges = [0, *ends]
    begin = len(text[: text.find(passage)].encode())
    end = begin + len(passage.encode())
    assert any(edges[first] <= begin and edges[last] >= end for first, last in found)


OWNER = Owner("t", "", "f")


def capture(**fields: object) -> Entry:
    values = {"tokens": (0, 1, 2, 3), "tail": (4,), "prompt_tokens": 2, "report": {"captured_tokens": 4}} | fields
    return Entry("a", OWNER, State.PENDING, 4, 8, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [{"report": {}}, {"tail": ()}])
def test_what_can_t_be_told_makes_the_whole_answer_sensitive(missing: dict[str, object]) -> None:
    spelled = Vocabulary([b"secret ", b"prompt ", b"an", b"swer", b" secret"])
    assert sensitive(capture(), ["secret"], spelled.decode) == [(4, 5)]
    assert sensitive(capture(**missing), ["secret"], spelled.decode) is None
    assert sensitive(capture(), ["secret"], None) is None
