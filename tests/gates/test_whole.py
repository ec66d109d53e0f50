"""Words that hold a character which alone would mean something else."""

from __future__ import annotations

from gateway.gates._lexicon import cut
from gateway.gates._whole import WORDS
from tests.gates.questions import told


def test_none_is_cut() -> None:
    assert [word for word in WORDS if list(cut(word)) != [word]] == []


def test_none_denies_but_those_that_do() -> None:
    denying = {word for word in WORDS if told("negation", f"{word}在哪里")}
    assert denying <= {word for word in WORDS if word[0] in "不没无非未别" or word in ("还没",)}
    assert not denying & {"不锈钢", "不动产", "无线", "非常", "别人", "除非", "未来", "无论", "没收", "特别"}
