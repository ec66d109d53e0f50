"""Answers that say the same, and those that only sound alike."""

from __future__ import annotations

import pytest

from gateway.refine._agree import LONGEST, differ


@pytest.mark.parametrize(
    ("one", "other", "gate"),
    [
        ("贷款利率是5%。请按时还款。", "贷款利率是6%。请按时还款。", "number"),
        ("利率从5%涨到6%。", "利率从6%涨到5%。", "number"),
        ("The fee is 5 dollars.", "The fee is 6 dollars.", "number"),
        ("手续费是五元。", "手续费是5元。", "number"),
        ("It opens at 8 am.", "It opens at 8 pm.", "date"),
        ("会议在三月召开。", "会议在五月召开。", "number"),
        ("The meeting is in March.", "The meeting is in May.", "date"),
        ("The limit is 5 kg.", "The limit is 5 lb.", "unit"),
        ("限重5公斤。", "限重5磅。", "unit"),
        ("本产品保本。", "本产品不保本。", "negation"),
        ("The fee is refundable.", "The fee is not refundable.", "negation"),
        ("Rates rise.", "Rates fall.", "polarity"),
        ("请开启短信提醒。", "请关闭短信提醒。", "polarity"),
        ("Pay at least 5 dollars.", "Pay at most 5 dollars.", "comparative"),
        ("不低于5元。", "不高于5元。", "comparative"),
        ("由北京银行发行。", "由南京银行发行。", "entity"),
        ("It is in Paris, France.", "It is in Rome, Italy.", "entity"),
        ("北京到上海的票价是553元。", "上海到北京的票价是553元。", "direction"),
        ("Alice approved it.", "Carol approved it.", "content"),
        ("手续费可以退。", "The fee is refundable.", "language"),
        ("You must file it.", "You may file it.", "asked"),
        ("I am not sure the fee is 5 dollars.", "The fee is 5 dollars.", "wording"),
        ("我不知道手续费是5元。", "手续费是5元。", "wording"),
        ("The fee is 5 dollars. It is due.", "The fee is 5 dollars.", "sentences"),
        ("a" * LONGEST, "a" * (LONGEST + 1), "length"),
        ("A。" * 100, "B。" * 100, "sentences"),
    ],
)
def test_a_gate_finds_the_difference_whichever_comes_first(one: str, other: str, gate: str) -> None:
    assert differ(one, other) == gate
    assert differ(other, one) == gate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", ""),
        ("利率是5%。", "利率是5%。"),
        ("您可以随时取消订单。", "您随时可以取消订单。"),
        ("The fee is waived.\nRefunds take 5 days", "The fee is waived!\n\nRefunds take 5 days."),
        ("a" * 2 * LONGEST, "a" * 2 * LONGEST),
    ],
)
def test_what_says_the_same_passes(one: str, other: str) -> None:
    assert differ(one, other) == ""
