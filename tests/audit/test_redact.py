"""What is taken out of texts."""

from __future__ import annotations

import pytest

from gateway.audit._redact import MASK, Redactor, without_found
from gateway.audit.auditor import masking
from tests.audit.rules import MASKING, found, rules


@pytest.mark.parametrize(
    ("text", "findings", "left"),
    [
        ("a risk-free gain", ("risk-free",), "a [R205] gain"),
        ("ab abc", ("ab", "abc"), "[R205] [R205]"),
        ("(x.y) xzy", ("x.y",), "([R205]) xzy"),
        ("a b", ("a", " "), "a b"),
    ],
)
def test_whatever_was_found_gives_way_to_its_reason(text: str, findings: tuple[str, ...], left: str) -> None:
    assert without_found(text, [found(one) for one in findings]) == left


def test_marks_that_overlap_become_one() -> None:
    other = {**MASKING, "id": "in.other", "check": {"type": "words", "words": ["ATLAS B"]}}
    redact = Redactor(masking(rules(MASKING, other)))
    assert redact("a project ATLAS B c") == f"a {MASK} c"
