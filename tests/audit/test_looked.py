"""What rules have looked for before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.audit.looked import Looked
from gateway.config import Source, build
from tests.audit.rules import MASKING, rules

LOOKING: list[dict[str, Any]] = [
    {**MASKING, "id": f"{side}.pii", "side": side, "check": {"type": "pii"}, "action": "monitor"}
    for side in ("input", "output")
]
FEW = {**LOOKING[1], "check": {"type": "pii", "kinds": ["card"]}}
HERE = "chat", "m", "default", "standard"
BOTH = frozenset({"system", "user"})


@pytest.mark.parametrize(
    ("more", "clean"),
    [
        (LOOKING, True),
        (LOOKING[:1], False),
        ([LOOKING[0], FEW], False),
        ([{**LOOKING[0], "when": {"role": "user"}}, LOOKING[1]], False),
        ([{**LOOKING[0], "when": {"role": ["user", "system"]}}, LOOKING[1]], True),
        ([LOOKING[0], {**LOOKING[1], "when": {"tenant": "other"}}], False),
    ],
)
def test_what_rules_look_for_themselves_need_not_be_looked_for_again(more: list[dict[str, Any]], clean: bool) -> None:
    assert Looked.by(rules(*more))(*HERE, BOTH) is clean


def test_the_rules_as_shipped_look_for_all_that_is_to_be_redacted_of_a_question_and_its_answer() -> None:
    shipped = build(Source(Path(__file__).parents[2] / "rules" / "gateway.yaml"))
    assert Looked.by(shipped.rules.values())(*HERE, frozenset({"user"}))
