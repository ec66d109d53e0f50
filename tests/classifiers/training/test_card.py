"""The card tells the figures it was given, and that a measure was not taken."""

from __future__ import annotations

from classifiers.training.card import NOT_MEASURED, Figures, write

TRAINED_ON = {
    "teacher": "a teacher",
    "sources": [{"name": "pairs: shop (zh)", "licence": "CC0", "rows": 7}],
    "data_sha256": "abc",
    "seed": 3,
    "cpu_seconds": 77,
}


def test_all_figures_are_in_the_card() -> None:
    card = write(Figures("THE TABLE", "THE RADII", "THE DOMAINS", {"fast": {"p50": 0.1, "p99": 0.2}}), TRAINED_ON)
    for told in ("THE TABLE", "THE RADII", "THE DOMAINS", "| fast | 0.1 | 0.2 |", "| pairs: shop (zh) | CC0 | 7 |"):
        assert told in card
    assert NOT_MEASURED in card
    assert "{" not in card
