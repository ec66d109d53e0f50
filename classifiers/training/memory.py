"""What the teacher has said, kept in a file: reading takes it most of the time of a training, and it never changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from classifiers.training.space import Floats


class Teaching(Protocol):
    """Who is asked."""

    def vectors(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Floats]]:
        """Places in `texts`, and a row for each."""
        ...


class Memory:
    """Asks only for what it does not know. Half precision: the teacher is exact to less than that."""

    def __init__(self, folder: Path, teacher: Teaching, tell: Callable[[str], None]) -> None:
        self._texts, self._vectors = folder / "texts.json", folder / "vectors.npy"
        self._teacher, self._tell = teacher, tell

    def ask(self, texts: Sequence[str]) -> Floats:
        """A row for each text."""
        known, rows = self._recall()
        places = {text: place for place, text in enumerate(known)}
        new = [text for text in dict.fromkeys(texts) if text not in places]
        if new:
            rows = np.concatenate([*([rows] if len(rows) else []), self._say(new)])
            places.update({text: len(known) + place for place, text in enumerate(new)})
            self._texts.parent.mkdir(parents=True, exist_ok=True)
            np.save(self._vectors, rows)
            self._texts.write_text(json.dumps([*known, *new]), encoding="utf-8")
        return rows[[places[text] for text in texts]].astype(np.float32)

    def _recall(self) -> tuple[list[str], Floats]:
        if not self._texts.is_file() or not self._vectors.is_file():
            return [], np.empty((0, 0), np.float32)
        known: list[str] = json.loads(self._texts.read_text(encoding="utf-8"))
        rows = np.load(self._vectors, allow_pickle=False)
        return known[: len(rows)], rows[: len(known)]

    def _say(self, texts: list[str]) -> Floats:
        said: dict[int, NDArray[np.float16]] = {}
        done, told = 0, 0
        for places, vectors in self._teacher.vectors(texts):
            said.update(zip(places, vectors.astype(np.float16), strict=True))
            done += len(places)
            if done - told >= 5000:
                self._tell(f"the teacher has read {done} of {len(texts)}")
                told = done
        rows: Floats = np.stack([said[place] for place in range(len(texts))])
        return rows
