"""The card holds every figure it is given, and what the classifier can't do."""

from __future__ import annotations

from classifiers.training.refinecard import Tables, write

TRAINED_ON = {
    "sources": [{"name": "shop (en)", "licence": "CC0", "rows": 3}],
    "teacher": "a teacher",
    "cpu_seconds": 1234,
    "seed": 9,
    "data_sha256": "abc",
    "layers": 6,
    "pieces": 31_882,
    "parameters": 23_400_000,
    "dev": {"shop.en": 0.85},
    "curve": [
        {"cpu_seconds": 100, "plain": 1, "grounded": 0.3, "auc": {"shop.en": 0.7}},
        {"cpu_seconds": 250, "plain": 2.5, "grounded": 0.7, "auc": {"shop.en": 0.8}},
    ],
}


def test_the_card_tells_all() -> None:
    card = write(Tables("TABLE", "SHORTCUTS", "HARDER", "MODES", "TIMES"), TRAINED_ON)
    for part in (
        "TABLE",
        "SHORTCUTS",
        "HARDER",
        "MODES",
        "TIMES",
        "| shop (en) | CC0 | 3 |",
        "a teacher",
        "1234",
        "abc",
    ):
        assert part in card
    assert "## What it cannot do" in card
    assert "23 million parameters" in card


def test_the_curve_adds_up() -> None:
    card = write(Tables("", "", "", "", ""), TRAINED_ON)
    assert "| 100 | 1.0 / 0.3 | 0.700 |" in card
    assert "| 350 | 3.5 / 1.0 | 0.800 |" in card
    assert "| the mean of the last two | | 0.850 |" in card
