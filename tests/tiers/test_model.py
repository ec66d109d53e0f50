"""The model of classifiers/ behind this room's seam; a folder that holds none is told, and nothing is loaded before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from classifiers.manifest import ModelFault
from gateway.tiers._model import FOLDER, MOST, Asked, asked, broken, load
from tests.tiers.cases import case


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="manifest"):
        load(tmp_path)


def test_the_model_shipped_gives_probabilities_and_thresholds() -> None:
    model = load(FOLDER)
    texts = [
        Asked("How tall is it?", "", "It is 40 m."),
        Asked("有多高？", "塔高四十米。", "四十米。"),
        Asked("", "", ""),
    ]
    assert all(0 <= risk <= 1 for risk in model.risks(texts))
    assert all(0 < model.threshold(to, given) < 1 for to in ("zh", "en") for given in (False, True))


def test_no_more_is_remembered_than_a_model_reads() -> None:
    long = asked(case("a" * 99_999, question="q" * 99_999, context="c" * 99_999))
    assert [len(text) for text in long] == [MOST] * 3
    assert asked(case("a", question="b", context="c")) == ("b", "c", "a")


def test_whatever_a_model_raises_is_a_fault_of_this_tier() -> None:
    assert broken(KeyError("x")).kind == "broken"
    assert "KeyError" in str(broken(KeyError("x")))


def test_without_this_tier_nothing_of_it_is_loaded() -> None:
    script = "import gateway.tiers.classifier, sys; sys.exit(any(m in sys.modules for m in ('onnxruntime', 'numpy')))"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", script], cwd=root, check=False).returncode == 0
