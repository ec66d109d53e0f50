"""The replay is the same for the same seed, and its requests are as alike as their kinds say."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.bench import docs, overlap
from tests.bench.replay import KINDS, Ask, replay


def written(folder: Path) -> Path:
    """Documents and questions enough for a replay, of no one else's text."""
    for name in ("docs", "pairs"):
        (folder / name).mkdir()
    for lang, words in (("en", "ledger clerk parcel window"), ("zh", "账本 柜台 包裹 窗口")):
        rows = [
            {
                "id": f"{lang}{n}",
                "title": f"{n}",
                "text": " ".join(f"{word}{n}-{k}" for k in range(1500) for word in words.split())[: 4200 + n],
                "questions": [{"q": f"which {n}?"}, {"q": f"why {n}?"}],
                "question_kind": "human",
                "source": "s",
                "split": "train",
            }
            for n in range(90)
        ]
        with gzip.open(folder / "docs" / f"docs.{lang}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(map(json.dumps, rows)))
        with gzip.open(folder / "pairs" / f"pairs.{lang}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(json.dumps({"a": f"asked {n}", "split": "train"}) for n in range(9)))
    return folder


@pytest.fixture(scope="module")
def asks(tmp_path_factory: pytest.TempPathFactory) -> list[Ask]:
    return list(replay(written(tmp_path_factory.mktemp("data")), 300))


def test_the_same_seed_gives_the_same_requests_and_another_others(tmp_path: Path) -> None:
    data = written(tmp_path)
    assert list(replay(data, 40)) == list(replay(data, 40))
    assert list(replay(data, 40)) != list(replay(data, 40, seed=12))


def test_each_kind_has_its_share_and_every_tenant_begins_with_something_new(asks: list[Ask]) -> None:
    counts = Counter(ask.kind for ask in asks)
    for kind, share in KINDS.items():
        assert share / 2 < 100 * counts[kind] / len(asks) < share * 2, counts
    first: dict[str, str] = {}
    for ask in asks:
        first.setdefault(ask.tenant, ask.kind)
    assert set(first.values()) == {"novel"}
    assert len(first) > 6


def test_a_request_shares_with_an_earlier_one_what_its_kind_says(asks: list[Ask]) -> None:
    document = {ask.messages[-1]["content"][:1400] for ask in asks if ask.kind == "novel"}
    for ask in asks:
        text = ask.messages[1]["content"] if ask.kind == "turn" else ask.messages[-1]["content"]
        if ask.kind in ("question", "date", "system", "moved"):
            assert text[:1400] in document


def test_without_data_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(docs.NoData, match="--data DIR"):
        list(replay(tmp_path, 1))


def test_what_a_donor_gives_is_told_by_the_engine_s_own_plan() -> None:
    prompt = tuple(range(1000, 1800))
    capture = overlap.donor("d", prompt)
    assert overlap.given(prompt, capture) == 799  # one is left to compute
    assert overlap.given([1, 2, 3, *prompt[8:]], capture) > 600
    assert overlap.given(range(5000, 5800), capture) == 0
