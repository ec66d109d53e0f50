"""What the domain model learns from, and that it learns."""

from __future__ import annotations

from pathlib import Path

import fasttext
import numpy as np
import pytest

from classifiers import lists
from classifiers.ngrams import LABEL
from classifiers.text import words
from classifiers.training.data import Pair
from classifiers.training.domains import examples, train

BANK = Pair("why was my top up reverted", "my top-up failed", True, "k", "banking77.en", "train")
HELD = BANK._replace(a="held out", b="held out too", split="test")
OTHER = Pair("把客厅的灯关掉", "怎么退款", True, "k", "home.zh", "train")


def test_a_bank_s_questions_are_finance_and_what_names_a_term_is_not_general() -> None:
    found = examples([BANK, HELD, OTHER], ["这道方程怎么解", "今天很冷"], np.random.default_rng(1))
    assert ("finance", BANK.a) in found
    general = {text for domain, text in found if domain == "general"}
    assert {"把客厅的灯关掉", "今天很冷"} <= general
    assert general.isdisjoint({"怎么退款", "这道方程怎么解"})
    assert "held out" not in {text for _, text in found}
    assert {domain for domain, _ in found} == set(lists.DOMAINS)


@pytest.mark.long
def test_it_learns_the_terms_and_fits_in_two_megabytes(tmp_path: Path) -> None:
    target = tmp_path / "small.ftz"
    train(examples([BANK], [], np.random.default_rng(1)), target, seed=1)
    assert target.stat().st_size < 2 << 20
    model = fasttext.load_model(str(target))
    told = {text: model.predict(" ".join(words(text)))[0][0] for text in ("期货爆仓", "课后习题答案", "退货运费谁出")}
    assert list(told.values()) == [f"{LABEL}{domain}" for domain in ("finance", "education", "ecommerce")]
