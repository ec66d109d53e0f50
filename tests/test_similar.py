"""Codes of questions that mean the same are near, in both languages; a broken model is told and done without."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

import pytest

from classifiers.manifest import ModelFault
from gateway import similar
from gateway.metrics import Metrics
from gateway.retrace import Retrace
from gateway.similar import MODELS, Similar
from gateway.stores.memory import Plug as Memory

NEAR = [
    ("How do I get a refund for my order?", "how can i get my order refunded"),
    ("我的订单怎么申请退款？", "订单退款怎么申请"),
]
FAR = ("What is the boiling point of water?", "火星有几颗卫星？")


@pytest.fixture(scope="module")
def models() -> Similar:
    return Similar()


def apart(models: Similar, a: str, b: str) -> list[int]:
    """By how many bits the codes of two texts differ, one a kind."""
    return [(one ^ other).bit_count() for one, other in zip(models.codes(a), models.codes(b), strict=True)]


@pytest.mark.parametrize(("a", "b"), NEAR)
def test_what_means_the_same_is_nearer_than_what_does_not(models: Similar, a: str, b: str) -> None:
    for far in FAR:
        assert all(near < other for near, other in zip(apart(models, a, b), apart(models, a, far), strict=True))


def test_case_width_and_punctuation_change_nothing(models: Similar) -> None:
    assert apart(models, "How do I pay?", "ＨＯＷ do i  pay") == [0, 0]


def test_nothing_has_no_codes_and_anything_else_has_two(models: Similar) -> None:
    assert models.codes("") == models.codes(" \n") == ()
    for odd in ("?", "🐎", "x" * 100_000, "\ud800"):
        codes = models.codes(odd)
        assert len(codes) == 2
        assert all(0 <= code < 1 << 64 for code in codes)


def test_a_broken_model_is_told_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "context"
    shutil.copytree(MODELS, broken)
    (broken / "encoder.onnx").write_bytes(b"half")
    with pytest.raises(ModelFault, match=r"encoder\.onnx"):
        Similar(broken)
    monkeypatch.setattr(similar.Similar.__init__, "__defaults__", (broken,))
    metrics = Metrics()
    of = Retrace(metrics)
    with caplog.at_level(logging.ERROR):
        asyncio.run(of.apply(Memory(), codes=True))
    assert "encoder.onnx" in caplog.text
    assert 'retrace_store_faults_total{kind="model"} 1.0' in metrics.page().decode()
    assert of.store is not None
