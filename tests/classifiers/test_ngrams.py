"""Codes that are near where words are shared; the domain of a question; nothing a client may send breaks it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from classifiers import lists
from classifiers.manifest import FILE, ModelFault
from classifiers.ngrams import FILES, Ngrams, Simhash
from classifiers.text import VOCABULARY
from tests.classifiers.models import ODD, apart, copy, ngrams, replace

# Sentences written for this test; none of them was trained on.
DOMAINS = {
    "finance": (
        "我的信用卡账单为什么多扣了五十块",
        "基金定投什么时候赎回比较划算",
        "期货保证金不足会被强制平仓吗",
        "房贷提前还款要交违约金吗",
        "why was my card declined at the shop",
        "what interest rate do you offer on a mortgage",
        "how can I buy government bonds",
        "there is a transaction on my statement I do not recognise",
    ),
    "ecommerce": (
        "我买的鞋子小了一码可以换货吗",
        "快递三天没更新物流信息了",
        "优惠券为什么在下单的时候用不了",
        "卖家一直不发货怎么投诉",
        "my parcel says delivered but I never got it",
        "can I return these shoes after thirty days",
        "the discount code does not work at checkout",
        "I received the wrong item in my order",
    ),
    "education": (
        "这道一元二次方程的题怎么做",
        "期末考试的复习资料在哪里下载",
        "老师布置的作文写什么好",
        "高考志愿填报有什么技巧",
        "can you help me with my algebra homework",
        "when is the deadline for the college application essay",
        "explain photosynthesis for a tenth grade student",
        "how many credit hours do I need to graduate from university",
    ),
    "general": (
        "明天上海会下雨吗",
        "给我讲个笑话",
        "附近有什么好吃的餐馆",
        "把客厅的灯打开",
        "wake me up at six tomorrow",
        "play some jazz music",
        "who won the football match last night",
        "turn off the lights in the kitchen",
    ),
}


@pytest.mark.parametrize(
    ("one", "other"),
    [("How do I get a refund?", "how do i get a REFUND"), ("请问怎么退款？", "怎么退款。"), ("Ｔ＋０交割", "t+0 交割")],
)
def test_case_width_marks_and_politeness_change_no_bit(one: str, other: str) -> None:
    assert ngrams().code(one) == ngrams().code(other)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("如何修改订单的收货地址", "修改订单的收货地址要怎么操作", "期末考试的成绩什么时候公布"),
        ("how do I change the delivery address of my order", "change delivery address of an order", "tell me a joke"),
    ],
)
def test_shared_words_bring_codes_together(text: str, near: str, far: str) -> None:
    assert apart(ngrams().code(text), ngrams().code(near)) + 8 < apart(ngrams().code(text), ngrams().code(far))


def test_a_wider_window_tells_word_order_apart() -> None:
    one, other = "dogs chase cats", "cats chase dogs"
    assert ngrams().code(one, 1) == ngrams().code(other, 1)
    assert ngrams().code(one, 3) != ngrams().code(other, 3)


@pytest.mark.parametrize("text", ["", " ", "?!", "\ud800"])
def test_a_text_without_a_word_has_the_code_0_and_no_sure_domain(text: str) -> None:
    assert ngrams().code(text) == 0
    assert ngrams().domain(text) == ("general", 0.0)


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:9]))
def test_nothing_breaks_it(text: str) -> None:
    assert 0 <= ngrams().code(text) < 1 << 64
    domain, sure = ngrams().domain(text)
    assert domain in lists.DOMAINS
    assert 0 <= sure <= 1


@pytest.mark.parametrize("domain", lists.DOMAINS)
def test_most_questions_are_given_to_their_domain(domain: str) -> None:
    given = {text: ngrams().domain(text) for text in DOMAINS[domain]}
    right = sum(found == domain for found, _ in given.values())
    assert right >= 5, given


def test_each_id_votes_for_about_half_of_the_bits_and_no_two_for_the_same() -> None:
    simhash = Simhash(np.ones(VOCABULARY))
    codes = [simhash.code(np.array([number], np.int32)) for number in range(2000)]
    assert len(set(codes)) == 2000
    assert 31 < np.mean([code.bit_count() for code in codes]) < 33


def test_the_planes_never_change() -> None:
    """Codes are kept in stores that outlive a release."""
    assert f"{Simhash(np.ones(VOCABULARY)).code(np.array([0, 1, 49_999], np.int32)):016x}" == "ff4dbdecc33e53c3"


def test_the_heavier_id_wins() -> None:
    weights = np.ones(VOCABULARY)
    weights[7] = 5
    simhash = Simhash(weights)
    alone = simhash.code(np.array([7], np.int32))
    assert simhash.code(np.array([7, 8, 9, 10], np.int32)) == alone


def test_there_must_be_a_weight_for_each_id() -> None:
    with pytest.raises(ValueError, match="50000 weights expected"):
        Simhash(np.ones(7))


@pytest.mark.parametrize(("name", "content"), [(FILES[0], b"not a model"), (FILES[1], b""), (FILES[1], b"junk")])
def test_a_file_that_is_no_model_is_a_fault_even_if_the_manifest_agrees(
    tmp_path: Path, name: str, content: bytes
) -> None:
    folder = copy(tmp_path)
    replace(folder, name, content)
    with pytest.raises(ModelFault, match=rf"{name}: can't be loaded"):
        Ngrams(folder)


def test_weights_of_another_size_are_a_fault(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    few = io.BytesIO()
    np.save(few, np.ones(3))
    replace(folder, FILES[1], few.getvalue())
    with pytest.raises(ModelFault, match="50000 weights expected"):
        Ngrams(folder)


def test_weights_learnt_with_other_ids_are_a_fault(tmp_path: Path) -> None:
    folder = copy(tmp_path)
    told = json.loads((folder / FILE).read_text(encoding="utf-8"))
    told["trained_on"]["ids_sha256"] = "of other ids"
    (folder / FILE).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelFault, match=r"weights\.npy: was learnt with other word lists or other ids"):
        Ngrams(folder)


def test_a_truncated_fasttext_file_never_reaches_fasttext(tmp_path: Path) -> None:
    """It would ask for terabytes, and die."""
    folder = copy(tmp_path)
    path = folder / FILES[0]
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ModelFault, match="has 2000 bytes instead of"):
        Ngrams(folder)


def test_saying_it_again_changes_little() -> None:
    assert apart(ngrams().code("cancel my order"), ngrams().code("cancel my order " * 300)) <= 16
