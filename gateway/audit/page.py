"""A story as a page: whole in itself, without scripts, good to read on a screen and on paper.

Whatever clients and models wrote is escaped; the page may load nothing from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gateway.audit import story, summary
from gateway.audit._texts import TEXTS, Language
from gateway.audit.story import Story

_MARK = re.compile(r"(\[(?:R[0-9]{3}|\*\*\*)\])")
_SHOWN = 200  # lines of a table


def rendered(told: Story, language: Language = "en", now: datetime | None = None) -> str:
    """The page as HTML, in one of the languages it speaks."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"parts": _parts, "moment": _moment, "short": _short}
    words, line = TEXTS[language], told.exchange
    return pages.get_template("page.html").render(
        lang=language,
        words=words,
        line=line,
        seal=told.seal,
        hops=told.hops,
        house=told.house,
        names=_Names(told, language),
        sentences=summary.sentences(line, told.hops, words),
        command=summary.command(line),
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        most=_SHOWN,
    )


class _Names:
    """What codes and rules are called, as they were when the exchange was judged."""

    def __init__(self, told: Story, language: Language) -> None:
        self._reasons, self._rules, self._language = story.reasons(told), story.rules(told), language

    def reason(self, code: str) -> str:
        """Its stable name; empty if the log does not say."""
        return str(self._reasons.get(code, {}).get("name", ""))

    def meaning(self, code: str) -> str:
        """What clients are told of it, in the language of the page."""
        said: Mapping[str, str] = self._reasons.get(code, {}).get("message", {})
        return said.get(self._language) or next(iter(said.values()), "")

    def version(self, rule: str) -> str:
        return str(self._rules.get(rule, {}).get("version", ""))

    def about(self, rule: str) -> str:
        return str(self._rules.get(rule, {}).get("about", ""))


def _parts(text: Any) -> Iterator[tuple[bool, str]]:
    """A text in pieces: each is a mark, or it is none."""
    for n, piece in enumerate(_MARK.split(str(text))):
        if piece:
            yield bool(n % 2), piece


def _moment(seconds: Any) -> str:
    return datetime.fromtimestamp(float(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _short(name: Any) -> str:
    """A long hash, as much as tells it from others."""
    return str(name)[:12]
