"""Traffic made of real documents and questions, as retrace meets it: many tenants, most requests like an earlier one.

    novel      a document nobody has asked about yet                       20 %
    question   the same instructions and document, another question
    date       the same, but for the date in the first line
    system     the same document behind other instructions
    moved      the same document at another place: behind another one, or in another message
    turn       the conversation goes on

A document may belong to several tenants; nothing may be shared all the same.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import docs
from tests.bench.prompts import OPENINGS

KINDS = {"novel": 20, "question": 26, "date": 14, "system": 12, "moved": 13, "turn": 15}
CHARS = {"en": 4200, "zh": 1500}  # of a document: about 1,000 tokens
DATES = {"en": "Today is 2026-{:02}-{:02}.", "zh": "今天是2026年{}月{}日。"}
ANSWERS = {
    "en": "It is laid down in the document, in the part that deals with this.",
    "zh": "文档中有关部分对此作了规定。",
}
MORE = {
    "en": (
        "And where does it say so?",
        "Put it into one sentence, please.",
        "What follows from that for a new customer?",
    ),
    "zh": ("文档哪一处这样写的？", "请用一句话概括。", "这对新客户意味着什么？"),
}


class Ask(NamedTuple):
    """One request of the replay."""

    tenant: str
    session: str
    kind: str
    lang: docs.Lang
    messages: list[dict[str, str]]


class _Talk(NamedTuple):
    """What a tenant has asked: from this, later requests are made."""

    doc: docs.Doc
    head: int
    date: tuple[int, int]
    messages: list[dict[str, str]]
    session: str


def replay(data: Path, count: int, *, tenants: int = 12, seed: int = 11, chars: float = 1.0) -> Iterator[Ask]:
    """So many requests, the same ones for the same seed. docs.NoData if the documents are not there."""
    rng = random.Random(seed)
    spoken = {lang: _spoken(data, lang) for lang in ("zh", "en")}
    fresh = {lang: docs.load(data, lang, least=int(0.8 * CHARS[lang])) for lang in ("zh", "en")}
    known: dict[str, list[_Talk]] = {}
    for number in range(count):
        tenant = f"tenant-{min(int(rng.expovariate(0.25)), tenants - 1)}"
        earlier = known.setdefault(tenant, [])
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0] if earlier else "novel"
        if kind == "novel":
            lang: docs.Lang = rng.choice(("zh", "en"))
            seen = {talk.doc.id for talk in earlier}
            doc = next(doc for doc in rng.sample(fresh[lang], len(fresh[lang])) if doc.id not in seen)
            talk = _first(rng, doc, spoken[lang], f"s{number}", chars)
        else:
            talk = _next(rng, kind, rng.choice(earlier), spoken, chars)
        earlier.append(talk)
        yield Ask(tenant, talk.session, kind, talk.doc.lang, talk.messages)


def _first(rng: random.Random, doc: docs.Doc, spoken: list[str], session: str, chars: float) -> _Talk:
    head, date = rng.randrange(4), (rng.randrange(1, 13), rng.randrange(1, 29))
    messages = [_system(doc, head, date), _asked(_text(doc, chars), _question(rng, doc, spoken))]
    return _Talk(doc, head, date, messages, session)


def _next(rng: random.Random, kind: str, talk: _Talk, spoken: dict[str, list[str]], chars: float) -> _Talk:
    doc, lang = talk.doc, talk.doc.lang
    ask = _question(rng, doc, spoken[lang])
    if kind == "turn":
        said = {"role": "assistant", "content": ANSWERS[lang]}
        more = {"role": "user", "content": rng.choice(MORE[lang])}
        return talk._replace(messages=[*talk.messages, said, more])
    if kind == "question":
        return talk._replace(messages=[*talk.messages[:1], _asked(_text(doc, chars), ask)])
    if kind == "date":
        date = (talk.date[0] % 12 + 1, rng.randrange(1, 29))
        return talk._replace(date=date, messages=[_system(doc, talk.head, date), _asked(_text(doc, chars), ask)])
    if kind == "system":
        head = (talk.head + 1 + rng.randrange(3)) % 4
        return talk._replace(head=head, messages=[_system(doc, head, talk.date), _asked(_text(doc, chars), ask)])
    note = {"role": "user", "content": " ".join(rng.sample(OPENINGS[lang], 3))}
    before = [_system(doc, talk.head, talk.date), note, {"role": "assistant", "content": ANSWERS[lang]}]
    return talk._replace(messages=[*before, _asked(_text(doc, chars), ask)])


def _system(doc: docs.Doc, head: int, date: tuple[int, int]) -> dict[str, str]:
    lines = [DATES[doc.lang].format(*date), *OPENINGS[doc.lang][head:], *OPENINGS[doc.lang][:head]]
    return {"role": "system", "content": "\n".join(lines)}


def _text(doc: docs.Doc, chars: float) -> str:
    return doc.text[: int(CHARS[doc.lang] * chars)]


def _asked(text: str, question: str) -> dict[str, str]:
    return {"role": "user", "content": f"{text}\n\n{question}"}


def _question(rng: random.Random, doc: docs.Doc, spoken: list[str]) -> str:
    """One of the document's own, or something that people ask."""
    return rng.choice(doc.questions) if rng.random() < 0.7 else rng.choice(spoken)


def _spoken(data: Path, lang: str) -> list[str]:
    """Questions that people have asked of services."""
    file = data / "pairs" / f"pairs.{lang}.jsonl.gz"
    if not file.is_file():
        raise docs.NoData(f"{file} is not there: name the folder that holds pairs/ with --data DIR")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows: Iterator[dict[str, Any]] = map(json.loads, lines)
        return [row["a"] for row in rows if row["split"] in docs.SPLITS][:2000]
