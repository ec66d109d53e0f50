"""An exchange, and what led to it: found by the index, read from the files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.audit import _files, _index
from gateway.audit._index import Place, Progress, Step

DEEP = 5  # captures back
_STEPS = "SELECT capture, exchange, donor, name, place FROM captures JOIN files ON file = number"

Line = Mapping[str, Any]


class Hop(NamedTuple):
    """A capture on the way back: how far back it is, its line, and the line of the exchange it was made of (none if
    that is not in the log any more)."""

    deep: int
    capture: Line
    exchange: Line | None
    place: Place


class Search:
    """Asks one folder's index. The answers are the lines themselves."""

    def __init__(self, folder: Path, index: sqlite3.Connection) -> None:
        self._folder, self._index = folder, index

    def exchange(self, name: str) -> tuple[Line, Place] | None:
        return self._one("SELECT name, place FROM exchanges JOIN files ON file = number WHERE id = ?", name)

    def house(self, revision: str) -> tuple[Line, Place] | None:
        return self._one("SELECT name, place FROM houses JOIN files ON file = number WHERE revision = ?", revision)

    def captures(self, exchange: str) -> list[Hop]:
        """The captures of an exchange itself."""
        rows = self._index.execute(f"{_STEPS} WHERE exchange = ? ORDER BY file, place", (exchange,))
        return [self._hop(0, step) for step in map(self._step, rows.fetchall())]

    def back(self, exchange: str, deep: int = DEEP) -> list[Hop]:
        """The captures of an exchange, and what served them, and what served that: `deep` steps back."""
        found = self.captures(exchange)
        seen = {str(hop.capture["capture"]) for hop in found}
        wanted = [str(hop.capture["donor"]) for hop in found]
        for step in range(1, deep + 1):
            ahead: list[str] = []
            for name in wanted:
                if not name or name in seen:
                    continue
                seen.add(name)
                row = self._index.execute(f"{_STEPS} WHERE capture = ?", (name,)).fetchone()
                if row is not None:
                    hop = self._hop(step, self._step(row))
                    found.append(hop)
                    ahead.append(str(hop.capture["donor"]))
            wanted = ahead
        return found

    def _hop(self, deep: int, step: Step) -> Hop:
        made = self.exchange(step.exchange) if deep else None
        return Hop(deep, self._line(step.place), made[0] if made else None, step.place)

    def _step(self, row: tuple[str, str, str, str, int]) -> Step:
        capture, exchange, donor, name, place = row
        return Step(capture, exchange, donor, Place(self._folder / name, place))

    def _one(self, query: str, name: str) -> tuple[Line, Place] | None:
        row = self._index.execute(query, (name,)).fetchone()
        if row is None:
            return None
        place = Place(self._folder / row[0], row[1])
        return self._line(place), place

    def _line(self, place: Place) -> Line:
        told: Line = orjson.loads(_files.line_at(*place))
        return told


@contextmanager
def searching(folder: Path, progress: Progress = lambda _count: None, caught_up: bool = True) -> Iterator[Search]:
    """The index of a folder, caught up with its files unless that is not wanted."""
    with _index.opened(folder) as index:
        if caught_up:
            _index.catch_up(folder, index, progress)
        yield Search(folder, index)


def indexed(folder: Path, progress: Progress = lambda _count: None) -> int:
    """Catch up with the files; how many lines were read."""
    with _index.opened(folder) as index:
        return _index.catch_up(folder, index, progress)
