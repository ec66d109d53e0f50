"""Documents are read as they are promised, and never those that are set aside."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.docs import DEFAULT, SPLITS, NoData, load


def row(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "id": f"d{number}",
        "title": "t",
        "text": f"text {number}",
        "questions": [{"q": " why? ", "a": "so"}, {"q": "when?"}],
        "question_kind": "human",
        "source": "s",
        "split": "train",
    } | changed


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "docs").mkdir()
    with gzip.open(folder / "docs" / "docs.zh.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in rows)
    return folder


def test_what_is_set_aside_is_never_read(tmp_path: Path) -> None:
    data = written(tmp_path, *(row(i, split=split) for i, split in enumerate(("test", "dev", "heldout", "train"))))
    assert [doc.id for doc in load(data, "zh")] == ["d1", "d3"]


def test_only_what_fits(tmp_path: Path) -> None:
    rows = [
        row(0, text="short"),
        row(1, questions=[]),
        row(2, question_kind="heading-template"),
        row(3),
        row(4, text="text 3"),
    ]
    (doc,) = load(written(tmp_path, *rows), "zh", least=6, human=True)
    assert doc.text == "text 3"
    assert doc.questions == ("why?", "when?")


def test_what_is_missing_or_broken_is_told_plainly(tmp_path: Path) -> None:
    with pytest.raises(NoData, match="--data"):
        load(tmp_path, "en")
    data = written(tmp_path, {"text": "no split"})
    with pytest.raises(NoData, match=r"docs\.zh\.jsonl\.gz can't be read"):
        load(data, "zh")


@pytest.mark.skipif(not DEFAULT.is_dir(), reason="the documents are not on this machine")
def test_there_are_enough_of_both_languages() -> None:
    for lang, least in (("zh", 1500), ("en", 5000)):
        found = load(DEFAULT, lang, least=least)  # type: ignore[arg-type]
        assert len(found) >= 20
        assert {doc.split for doc in found} <= SPLITS
