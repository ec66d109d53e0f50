"""Matters as a house makes them: an exchange under review, by its request body and what refine.yaml says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.judge import Lane
from gateway.plug import plugs
from gateway.refine.file import RefineFile
from gateway.refine.matter import Matter
from gateway.types import Exchange, Principal


def file(**fields: Any) -> RefineFile:
    """What refine.yaml says."""
    return RefineFile.model_validate(fields)


def chat(*said: str | tuple[str, Any], **fields: Any) -> dict[str, Any]:
    """A chat's body; what has no role is the user's."""
    turns = [("user", one) if isinstance(one, str) else one for one in said]
    return {"model": "m", "messages": [{"role": role, "content": content} for role, content in turns], **fields}


def matter(
    body: Mapping[str, Any],
    refine: RefineFile | None = None,
    lanes: Sequence[Lane] = (),
    who: Principal | None = None,
    stream: bool = False,
) -> Matter:
    """An exchange under review."""
    surface = plugs("surfaces")["chat" if "messages" in body else "completions"]()
    asked = surface.admit(body)
    exchange = Exchange("rt-1", surface.name, asked.model, who or Principal(), asked.texts, stream, asked.choices)
    told = refine or file()
    return Matter(exchange, surface, body, lanes, told, told.way(exchange))
