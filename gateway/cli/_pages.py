"""How what waits for a person is shown: as a table, in full with what he should verify marked, or as lines of JSON.

Each answer is spoken of in its own language. What a terminal would obey (control characters, marks that turn the
direction of writing) is shown as �: clients and models have written these texts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from gateway.refine._entry import Entry, Waiting

START = 48  # cells of a question that a table shows
MARKS = ("[[", "]]")
_LATEST = 253_402_000_000.0  # the last year that can be written
_OBEYED = (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {**dict.fromkeys(_OBEYED, "\ufffd"), ord("\n"): "\n", ord("\t"): " ", ord("\r"): " "}


class Words(NamedTuple):
    """What stands around an answer, in its language."""

    why: str
    question: str
    answer: str
    verify: str
    between: str
    kinds: Mapping[str, str]


ENGLISH = Words("why", "Question", "Answer", "To verify", "; ", {})
CHINESE = Words(
    "原因",
    "问题",
    "回答",
    "待核实",
    "；",
    {"regulation": "法规", "money": "金额", "percent": "百分比", "date": "日期", "number": "数字"},
)


def visible(text: str) -> str:
    """The text without anything that a terminal would obey; each character stays at its place."""
    return text.translate(_SHOWN)


def table(listed: Iterable[Waiting]) -> Table:
    """A line each."""
    shown = Table("ticket", "when", "tenant", "domain", "why", "taken", "question", box=None)
    for column in shown.columns:
        column.overflow, column.no_wrap = "fold", column.header in ("ticket", "when")
    for ticket, entry, reviewer, _ in listed:
        question = Text(" ".join(visible(entry.question[: 4 * START]).split()))
        question.truncate(START, overflow="ellipsis")
        told = (ticket, when(entry.time, "%m-%d %H:%M"), entry.tenant, entry.domain, ", ".join(entry.why), reviewer)
        shown.add_row(*(Text(visible(one)) for one in told), question)
    return shown


def counted(listed: Sequence[Waiting]) -> str:
    """How many there are, who has taken how many, and why they wait."""
    takers = Counter(one.reviewer for one in listed if one.reviewer)
    reasons = Counter(why for one in listed for why in one.entry.why)
    taken = f", {takers.total()} of them taken ({_each(takers)})" if takers else ", none of them taken"
    return visible(f"{len(listed)} wait{taken}; {_each(reasons)}" if listed else "nothing waits")


def page(one: Waiting) -> Text:
    """All that a reviewer must know of an answer."""
    entry = one.entry
    words = CHINESE if entry.language == "zh" else ENGLISH
    about = (when(entry.time), entry.tenant, entry.surface, entry.model, entry.domain)
    told = Text()
    told.append(visible(one.ticket), "bold cyan").append(visible("  ".join(("", *filter(None, about))) + "\n"))
    told.append(words.why, "bold").append(visible(f"  {', '.join(entry.why)}\n"))
    told.append(f"{words.question}\n", "bold").append(visible(entry.question).strip("\n") + "\n")
    told.append(f"{words.answer}\n", "bold").append_text(marked(entry)).append("\n")
    if facts := _facts(entry, words):
        told.append(words.verify, "bold").append(f"  {words.between.join(facts)}\n")
    return told


def marked(entry: Entry) -> Text:
    """The answer, with [[ ]] around what is to be verified, whether or not there are colours."""
    answer, told, last = visible(entry.answer), Text(), 0
    for start, end, _ in _spans(entry):
        told.append(answer[last:start]).append(answer[start:end].join(MARKS), "bold yellow")
        last = end
    return told.append(answer[last:])


def line(one: Waiting) -> str:
    """All of it as JSON, for programs; `time` and `since` are seconds of the epoch."""
    told = {"ticket": one.ticket, "reviewer": one.reviewer, "since": one.since, **asdict(one.entry)}
    return json.dumps(told, ensure_ascii=False) + "\n"


def when(seconds: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """The moment, by the clock of this machine."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LATEST)).strftime(form)


def _each(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def _facts(entry: Entry, words: Words) -> list[str]:
    """What is to be verified and of what kind it is, each once."""
    found = ((visible(entry.answer[start:end]), kind) for start, end, kind in _spans(entry))
    return list(dict.fromkeys(f"{quote} ({visible(words.kinds.get(kind, kind))})" for quote, kind in found))


def _spans(entry: Entry) -> list[tuple[int, int, str]]:
    """Those that fit the answer, in its order, none over another."""
    kept: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(entry.spans):
        if (kept[-1][1] if kept else 0) <= start < end <= len(entry.answer):
            kept.append((start, end, kind))
    return kept
