"""Fenced code blocks, line by line."""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))")


class Fence(NamedTuple):
    """An open block: the marks that close it, and the language that its first line names."""

    marks: str
    language: str


def step(fence: Fence | None, line: str) -> Fence | None:
    """The block that is open behind a whole line, given the one that was open before it."""
    if fence:
        bare = line.strip("> \t\r\n")
        closes = len(bare) >= len(fence.marks) and not bare.strip(fence.marks[0])
        return None if closes else fence
    found = _OPEN.fullmatch(line.rstrip("\r\n"))
    if not found:
        return None
    info = (found[2] or found[4] or "").split()
    return Fence(found[1] or found[3], info[0].lower() if info else "")


def may_open(line: str) -> bool:
    """Whether a line that has not ended begins like a fence."""
    return line.lstrip("> \t").startswith(("```", "~~~"))
