"""An entry as a line of JSON."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from gateway.refine._entry import LONGEST, NOTED, SPANS, VERDICTS, check_name, checked, pack, unpack
from gateway.refine.caution import spans
from tests.refine.entries import ONE


def test_it_comes_back_as_it_was() -> None:
    assert unpack(pack(ONE)) == ONE
    assert b"\n" not in pack(ONE)
    assert orjson.loads(pack(ONE))["answer"] == ONE.answer


def test_spans_come_as_the_light_check_gives_them() -> None:
    found = tuple(spans(ONE.answer))
    assert unpack(pack(replace(ONE, spans=found))).spans == found == ONE.spans


def test_what_is_too_long_is_cut_with_its_spans() -> None:
    many = ((3, 5, "percent"), (LONGEST, LONGEST + 2, "date"), *((0, 1, "number"),) * 200)
    kept = unpack(pack(replace(ONE, question="问" * 2 * LONGEST, answer="答" * 2 * LONGEST, spans=many)))
    assert (len(kept.question), len(kept.answer), len(kept.spans)) == (LONGEST, LONGEST, SPANS)
    assert all(end <= LONGEST for _, end, _ in kept.spans)


def test_half_a_character_does_no_harm() -> None:
    assert unpack(pack(replace(ONE, answer="答\ud83d"))).answer == "答?"


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"{}", b"null", b'{"id": 1}', pack(ONE)[:-5], pack(ONE).replace(b'"x-1"', b"7")]
)
def test_what_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"packed|JSON|line|argument|character"):
        unpack(line)


def test_a_verdict_is_a_word_that_is_known() -> None:
    assert [checked(verdict, "好\ud83d" + "x" * NOTED) for verdict in VERDICTS] == ["好?" + "x" * (NOTED - 2)] * 3
    with pytest.raises(ValueError, match="right, wrong, unclear"):
        checked("maybe", "")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 129])
def test_a_reviewer_has_a_name(name: str) -> None:
    check_name("王 reviewer")
    with pytest.raises(ValueError, match="name"):
        check_name(name)
