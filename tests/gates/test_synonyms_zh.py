"""Chinese words that say the same."""

from __future__ import annotations

import pytest

from gateway.gates._rows import rows
from gateway.gates._synonyms_zh import ROWS
from tests.gates.questions import differs


@pytest.mark.parametrize("words", [sides[0] for sides in rows(ROWS) if len(sides[0]) > 1], ids=lambda words: words[0])
def test_a_word_passes_for_another_of_its_row(words: list[str]) -> None:
    said = [f"谁喜欢{word}？" for word in words]
    assert [other for other in said[1:] if differs(said[0], other)] == []
