"""Cases for tiers, and what refine.yaml says of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gateway.tiers import Case
from gateway.yamlfile import Document

RULES = Path(__file__).parents[2] / "rules"


def case(answer: str = "", **fields: Any) -> Case:
    """An answer, and whatever else matters."""
    language = "zh" if any("一" <= char <= "鿿" for char in answer) else "en"
    return Case(**{"question": "q", "context": "", "answer": answer, "language": language, **fields})


@cache
def written() -> dict[str, Any]:
    """The file of the tiers, as it ships."""
    value: dict[str, Any] = Document(RULES / "refine.yaml").value
    return value


def shipped(kind: str) -> list[dict[str, Any]]:
    """What the file says of each tier of a kind, in order."""
    return [tier for tier in written()["tiers"] if tier["type"] == kind]
