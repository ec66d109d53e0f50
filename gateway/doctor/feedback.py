"""What clients say of the answers: a JSONL or a plain text file, a voice a line, and which of them complain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import orjson

from gateway import shipped
from gateway.errors import Complaint, ConfigFault
from gateway.symptoms import Feedback
from gateway.tiers._patterns import Finder, Phrases

WORDS = shipped.RULES / "doctor"
MOST = 100_000  # voices
LONGEST = 1 << 20  # bytes of a line
SHOWN = 5
_FIELDS = ("comment", "feedback", "text", "content", "message", "body", "reason", "note")


def phrases(folder: Path = WORDS) -> list[Phrases]:
    """The words of a complaint: files of words, one a line; `#` begins a remark. ConfigFault if one can't be read."""
    return [Phrases(words=tuple(_words(folder / f"complaints.{lang}.txt"))) for lang in ("zh", "en")]


def _words(path: Path) -> Iterator[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault}", "restore it")]) from fault
    yield from (word for line in lines if (word := line.partition("#")[0].strip()))


def gathered(path: Path, words: list[Phrases]) -> Feedback:
    """How many voices there are, and how many of them complain. ConfigFault if the file can't be read."""
    finder = Finder(words)
    count = complaints = 0
    heard: Counter[str] = Counter()
    try:
        with path.open("rb") as file:
            for text in _voices(file):
                found = {word.decode().lower() for word in finder.found(text.encode(errors="replace"))}
                count, complaints = count + 1, complaints + bool(found)
                heard.update(found)
    except OSError as fault:
        raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault.strerror}", "name a JSONL")]) from fault
    return Feedback(str(path), count, complaints, heard.most_common(SHOWN))


def _voices(file: IO[bytes]) -> Iterator[str]:
    for _ in range(MOST):
        if not (raw := file.readline(LONGEST)):
            return
        if text := _said(raw).strip():
            yield text


def _said(raw: bytes) -> str:
    """The words of a line: of its field, or all of it where it is no JSON."""
    try:
        told = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw.decode(errors="replace")
    if isinstance(told, dict):
        return str(next((told[name] for name in _FIELDS if isinstance(told.get(name), str)), ""))
    return told if isinstance(told, str) else ""
