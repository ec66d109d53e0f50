"""A disguise keeps what is asked."""

from __future__ import annotations

import re

import numpy as np
import pytest

from classifiers.training.disguise import disguise


@pytest.mark.parametrize("text", ["订单12345什么时候不能退款", "why was my transfer of 120 euro not accepted"])
def test_no_number_and_no_negation_is_lost(text: str) -> None:
    random = np.random.default_rng(1)
    disguised = {disguise(text, random) for _ in range(200)}
    assert len(disguised) > 20
    for one in disguised:
        assert re.findall(r"\d+", one) == re.findall(r"\d+", text)
        assert ("不" in one) == ("不" in text)
        assert len(one) < 2 * len(text) + 20
    if text.isascii():
        assert all("not" in one.split() for one in disguised)


def test_slips_only_swap_letters_inside_a_word() -> None:
    random = np.random.default_rng(1)
    slipped = {disguise("refunds", random).replace("?", "") for _ in range(300)} - {"refunds"}
    plain = [word for one in slipped for word in one.split() if sorted(word) == sorted("refunds")]
    assert len(set(plain)) > 3
    assert all(word.startswith("r") and word.endswith("s") for word in plain)


def test_short_and_empty_texts_pass() -> None:
    random = np.random.default_rng(1)
    assert all(isinstance(disguise(text, random), str) for text in ("", " ", "a", "退") for _ in range(20))
