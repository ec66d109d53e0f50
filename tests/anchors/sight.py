"""What a kind of anchor sees, shown in the text itself."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gateway.anchors import AnchorSpec, choose
from gateway.plug import plugs


def kind(type_: str, **fields: Any) -> AnchorSpec:
    """A kind as YAML would make it."""
    made: AnchorSpec = plugs("anchors")[type_].model_validate({"type": type_, **fields})
    return made


def shown(anchor: AnchorSpec, text: str, begin: int = 0) -> str:
    """The text, with a bar at each anchor."""
    places = [begin, *anchor.anchors(text, begin, len(text)), len(text)]
    return "|".join(text[start:end] for start, end in pairwise(places))


def kept(anchors: list[AnchorSpec], text: str, finding: str, frontier: int = 0) -> tuple[str, str]:
    """What is kept of a text when something in it is found, and the kind of the cut."""
    position, kind = choose(anchors, text, text.index(finding), frontier)
    return text[:position], kind
