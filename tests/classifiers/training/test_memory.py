"""The teacher is asked for each text once in its life."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from classifiers.training.memory import Memory


class Teacher:
    """Says of a text its length; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def vectors(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        self.asked += texts
        for place in reversed(range(len(texts))):
            yield [place], np.array([[len(texts[place]), 1.0]], np.float32)


def test_each_text_has_its_row_however_often_it_is_named(tmp_path: Path) -> None:
    memory = Memory(tmp_path, Teacher(), print)
    assert memory.ask(["ab", "退", "ab"]).tolist() == [[2, 1], [1, 1], [2, 1]]


def test_what_was_said_is_not_asked_again_even_by_another(tmp_path: Path) -> None:
    teacher = Teacher()
    Memory(tmp_path, teacher, print).ask(["ab", "退"])
    rows = Memory(tmp_path, teacher, print).ask(["退", "abc", "ab"])
    assert teacher.asked == ["ab", "退", "abc"]
    assert rows.tolist() == [[1, 1], [3, 1], [2, 1]]
    assert rows.dtype == np.float32


def test_files_cut_short_cost_nothing_but_time(tmp_path: Path) -> None:
    teacher = Teacher()
    Memory(tmp_path, teacher, print).ask(["a", "bb"])
    np.save(tmp_path / "vectors.npy", np.load(tmp_path / "vectors.npy")[:1])
    assert Memory(tmp_path, teacher, print).ask(["a", "bb"]).tolist() == [[1, 1], [2, 1]]
    assert teacher.asked == ["a", "bb", "bb"]
