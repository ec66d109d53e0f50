"""What the bench of rewinding has measured: in a folder, so that it can be measured in several goes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.rewind_contenders import Told
from tests.bench.rewind_drafts import Draft
from tests.bench.rewind_plain import First

DRAFTS, STREAMS, REPAIRS, FIRSTS = "drafts.jsonl", "streams.jsonl", "repairs.jsonl", "firsts.jsonl"


class Kept:
    """Drafts by request; of each breach what all contenders made of it; times to first piece."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.drafts = {row[0]: _draft(row) for row in self._rows(DRAFTS)}
        self.streams = {row[0]: _draft(row) for row in self._rows(STREAMS)}
        self.repaired: dict[str, Mapping[str, Told]] = {}
        for row in self._rows(REPAIRS):
            self._book([Told(*told) for told in row])
        self.firsts = [First(*row) for row in self._rows(FIRSTS)]

    def add_draft(self, draft: Draft) -> None:
        self.drafts[draft.ask] = draft
        self._write(DRAFTS, draft)

    def add_stream(self, draft: Draft) -> None:
        """One that came with nothing beside it."""
        self.streams[draft.ask] = draft
        self._write(STREAMS, draft)

    def add_repair(self, ways: Sequence[Told]) -> None:
        """What each contender made of one breach."""
        self._book(ways)
        self._write(REPAIRS, ways)

    def add_first(self, first: First) -> None:
        self.firsts.append(first)
        self._write(FIRSTS, first)

    def _book(self, ways: Sequence[Told]) -> None:
        self.repaired[ways[0].tenant] = {told.contender: told for told in ways}

    def _rows(self, name: str) -> list[Any]:
        file = self._folder / name
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []

    def _write(self, name: str, row: Any) -> None:
        with (self._folder / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _draft(row: Sequence[Any]) -> Draft:
    ask, pieces, finish = row
    return Draft(ask, [(at, text) for at, text in pieces], finish)
