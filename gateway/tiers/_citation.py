"""Whether a citation stands in what the model was given to read, or comes from nowhere. Pure."""

from __future__ import annotations

import re

# What a citation names: a title, a place in it, a number, a proper name, an address. Each bounded or a plain class run.
_NAMED = re.compile(
    r"《[^《》]{1,60}》|第[0-9０-９一二三四五六七八九十百千零〇]{1,8}[条款项章节编]|https?://[^\s<>()（）]{1,200}"
    r"|[0-9]+(?:\.[0-9]+)?|\b[A-Z][A-Za-z]{2,}"
)
_OPENING = frozenset(("According", "Under", "Based", "Per", "See", "Source", "Sources", "From", "The"))


def stands_in(citation: str, shown: str) -> bool:
    """Whether all that a citation names stands in the text shown; one that names nothing stands nowhere."""
    named = [name for name in _NAMED.findall(citation) if name not in _OPENING]
    return bool(named) and all(name in shown for name in named)
