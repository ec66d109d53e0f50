"""What takes out of texts what nobody is to read there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gateway.checks import Check, Scanner
from gateway.checks.pii import Plug as Pii
from gateway.types import Action, Finding, View

MASK = "[***]"
_BETWEEN = "\n\0\n"
_SHORTEST = 2  # characters of what was found: a single one would be masked everywhere


class Redactor:
    """Takes out personal data, and what rules that mask look for."""

    def __init__(self, masking: Iterable[Check]) -> None:
        families: dict[Any, list[Check]] = {}
        for check in (Pii(), *masking):
            families.setdefault(check.family(), []).append(check)
        self._scanners: list[tuple[Scanner, frozenset[int]]] = [
            (family.fuse(checks), frozenset(range(len(checks)))) for family, checks in families.items()
        ]

    def silent(self, texts: Sequence[str]) -> bool:
        """Whether there is nothing in any of these texts, told in one look."""
        view = View(_BETWEEN.join(texts))
        return not any(scanner.scan(view, active).hits for scanner, active in self._scanners)

    def __call__(self, text: str) -> str:
        view = View(text)
        hits = [(hit.start, hit.end) for scanner, active in self._scanners for hit in scanner.scan(view, active).hits]
        return _without(text, hits) if hits else text


def without_found(text: str, findings: Iterable[Finding]) -> str:
    """The text, with the reason code in the place of whatever was found."""
    places = {f.text: f.replacement if f.action is Action.MASK else f"[{f.reason}]" for f in findings}
    wanted = [found for found in places if found in text and len(found.strip()) >= _SHORTEST]
    if not wanted:
        return text
    wanted.sort(key=len, reverse=True)
    return re.sub("|".join(map(re.escape, wanted)), lambda match: places[match[0]], text)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    out, place = [], 0
    for start, end in sorted(spans):
        if end <= place:
            continue
        if start >= place:
            out += [text[place:start], MASK]
        place = max(place, end)
    return "".join([*out, text[place:]])
