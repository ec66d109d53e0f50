"""The word lists under vocabulary/: one term a line, a `#` before what is a remark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "vocabulary"
DOMAINS: Final = ("general", "finance", "ecommerce", "education")
LANGUAGES: Final = ("zh", "en")
STOP_WORDS: Final = "stopwords"


def read(name: str, language: str) -> list[str]:
    """The terms of one list, as they are written there."""
    lines = (FOLDER / f"{name}.{language}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def terms(domain: str) -> list[str]:
    """All terms of a domain, in every language."""
    return [term for language in LANGUAGES for term in read(domain, language)]


def everything() -> str:
    """All lists as one text, for a hash."""
    names = [(name, language) for name in (*DOMAINS, STOP_WORDS) for language in LANGUAGES]
    return "\n".join("\n".join(read(*name)) for name in names)
