"""The refine cache: what it finds, what it refuses, and that it is bounded and apart by tenant."""

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError

from gateway.refine.memo import CacheSpec, Corrections, Hit, Memo, plain
from gateway.similar import Similar
from gateway.types import Correction

Q, A = "提前还款的手续费是多少？", "提前还款的手续费是5%。"
FIX: Corrections = (Correction("5%", "1%", "合同第三条"),)


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Heard:
    """What a memo tells, and the memo: every question is near every other one, so the gates stand alone."""

    def __init__(self, **fields: object) -> None:
        self.words: list[str] = []
        self.now = Clock()
        self.memo = Memo(CacheSpec.model_validate(fields), lambda _: (0, 0), self.words.append, self.now, b"k" * 32)

    @property
    def counted(self) -> Counter[str]:
        return Counter(self.words)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_what_was_put_is_found_again(heard: Heard) -> None:
    entry = heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.get("t", Q, A, "m") == Hit(entry, FIX, True)
    assert heard.words == ["stored", "exact"]


def test_that_nothing_was_wrong_is_worth_knowing_too(heard: Heard) -> None:
    heard.memo.put("t", "m", Q, A, ())
    hit = heard.memo.get("t", Q, A, "m")
    assert hit is not None
    assert hit.corrections == ()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("提前还款的手续费是多少?", A),
        (f"  {Q}\n", f"{A} "),
        (Q, "提前还款的手续费是5%。\n"),
    ],
)
def test_width_and_blanks_say_nothing(heard: Heard, question: str, answer: str) -> None:
    entry = heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.get("t", question, answer, "m") == Hit(entry, FIX, True)


def test_the_first_letter_s_case_says_nothing_and_elsewhere_it_may(heard: Heard) -> None:
    heard.memo.put("t", "m", "What does the US tax?", "It taxes 5 things.", ())
    assert (hit := heard.memo.get("t", "what does the US tax?", "It taxes 5 things.", "m")) is not None
    assert hit.exact
    assert heard.memo.get("t", "US rules", "x", "m") is None
    heard.memo.put("t", "m", "US rules", "x", ())
    hit = heard.memo.get("t", "uS rules", "x", "m")
    assert hit is None or not hit.exact


def test_a_form_that_means_something_is_kept() -> None:
    assert plain("10⁵") != plain("105")
    assert plain("x½") == "x½"
    assert plain("①") == "①"
    assert plain("ＡＢＣ１２　３％") == "ABC12 3%"
    assert plain("e\u0301") == "é"


@pytest.mark.parametrize(
    ("tenant", "question", "answer", "model"), [("u", Q, A, "m"), ("t", Q, A, "n"), ("tm", Q, A, ""), ("", Q, A, "tm")]
)
def test_nothing_is_found_across_tenants_or_models(
    heard: Heard, tenant: str, question: str, answer: str, model: str
) -> None:
    entry = heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.get(tenant, question, answer, model) is None
    assert heard.memo.get(tenant, "请问" + question, answer, model) is None
    assert not heard.memo.wrong("u", entry)
    assert heard.memo.get("t", Q, A, "m") is not None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("请问提前还款的手续费是多少", A),
        ("提前还款手续费多少？", A),
        (Q, "提前还款的手续费是5%!"),
    ],
)
def test_another_way_to_ask_is_served(heard: Heard, question: str, answer: str) -> None:
    heard.memo.put("t", "m", Q, A, FIX)
    hit = heard.memo.get("t", question, answer, "m")
    assert hit is not None
    assert not hit.exact
    assert hit.corrections == FIX
    assert heard.words == ["stored", "near"]


def test_so_is_one_in_english(heard: Heard) -> None:
    fix = (Correction("5 dollars", "6 dollars", "price list"),)
    heard.memo.put("t", "m", "What is the early repayment fee?", "The fee is 5 dollars.", fix)
    hit = heard.memo.get("t", "Please tell me what the early repayment fee is", "The fee is 5 dollars!", "m")
    assert hit is not None
    assert (hit.corrections, hit.exact) == (fix, False)


# Each gate, and two questions that sound alike and are not the same by it.
ALIKE = [
    ("language", "怎么退款", "how to refund"),
    ("number", "贷款5万元的利息是多少", "贷款6万元的利息是多少"),
    ("number", "What is the fee for 5 users?", "What is the fee for 6 users?"),
    ("date", "2023年的利率是多少", "2024年的利率是多少"),
    ("date", "What was the rate in 2023?", "What was the rate in 2024?"),
    ("unit", "5公斤的运费是多少", "5磅的运费是多少"),
    ("unit", "What is the fee for 5 kg?", "What is the fee for 5 lb?"),
    ("negation", "可以刷卡付款吗", "不可以刷卡付款吗"),
    ("negation", "Can I pay by card?", "Can I not pay by card?"),
    ("polarity", "怎么开通短信提醒", "怎么关闭短信提醒"),
    ("polarity", "How do I turn on alerts?", "How do I turn off alerts?"),
    ("comparative", "哪些套餐高于5元", "哪些套餐低于5元"),
    ("comparative", "Which plan has more than 5 users?", "Which plan has less than 5 users?"),
    ("entity", "北京银行的利率是多少", "南京银行的利率是多少"),
    ("entity", "Is the office in Boston open?", "Is the office in Denver open?"),
    ("asked", "怎么付款", "什么时候付款"),
    ("asked", "How do I pay?", "When do I pay?"),
    ("content", "怎么买猫粮", "怎么买狗粮"),
    ("content", "How do I buy a cat?", "How do I buy a dog?"),
    ("direction", "张三怎么向李四转账", "李四怎么向张三转账"),
    ("direction", "Why did the rate go from 5 to 6?", "Why did the rate go from 6 to 5?"),
]


@pytest.mark.parametrize(("gate", "one", "other"), ALIKE)
def test_a_question_that_only_sounds_alike_is_refused_by_its_gate(gate: str, one: str, other: str) -> None:
    for stored, asked in ((one, other), (other, one)):
        heard = Heard()
        heard.memo.put("t", "m", stored, "以合同为准。", ())
        assert heard.memo.get("t", asked, "以合同为准。", "m") is None
        assert heard.words == ["stored", f"refused_{gate}", "miss"]


@pytest.mark.parametrize(
    ("answer", "gate"),
    [
        ("提前还款的手续费是5%，但最低6元。", "answer_number"),
        ("提前还款的手续费不是5%。", "answer_negation"),
        ("提前还款的手续费是5%。另有说明。", "answer_sentences"),
        ("我不知道提前还款的手续费是5%。", "answer_asked"),
        ("提前还款的手续费是5%", ""),
        ("提前还款的手续费是4%。", "quote"),
        ("提前还款的手续费是5%，即5%。", "quote"),
    ],
)
def test_an_answer_that_only_sounds_alike_is_refused(heard: Heard, answer: str, gate: str) -> None:
    heard.memo.put("t", "m", Q, A, FIX)
    assert (heard.memo.get("t", Q, answer, "m") is None) == bool(gate)
    assert heard.words[1:] == ([f"refused_{gate}", "miss"] if gate else ["near"])


def test_what_was_found_wrong_must_stand_there_word_for_word(heard: Heard) -> None:
    heard.memo.put("t", "m", "a", "Rate:  5%", (Correction("Rate:  5%", "Rate: 1%", "e"),))
    assert heard.memo.get("t", "a", "Rate: 5%", "m") is None
    assert heard.memo.get("t", "a", "Rate:  5%", "m") is not None


def test_a_hit_that_was_wrong_is_gone(heard: Heard) -> None:
    entry = heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.wrong("t", entry)
    assert heard.memo.get("t", Q, A, "m") is None
    assert not heard.memo.wrong("t", entry)
    assert heard.counted["wrong"] == 1


def test_a_near_pair_that_was_wrong_never_meets_again_in_either_order(heard: Heard) -> None:
    asked = "请问提前还款的手续费是多少"
    heard.memo.put("t", "m", Q, A, FIX)
    hit = heard.memo.get("t", asked, A, "m")
    assert hit is not None
    assert not heard.memo.wrong("u", hit.entry)
    assert heard.memo.wrong("t", hit.entry)
    assert len(heard.memo) == 0
    heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.get("t", asked, A, "m") is None
    assert heard.words[-2:] == ["refused_wrong", "miss"]
    entry = heard.memo.put("t", "m", asked, A, ())
    assert heard.memo.get("t", asked, A, "m") == Hit(entry, (), True)
    heard.memo.wrong("t", heard.memo.put("t", "m", Q, A, FIX))
    assert heard.memo.get("t", Q, A, "m") is None
    assert heard.memo.get("t", "提前还款手续费多少？", A, "m") is not None
    assert not heard.memo.wrong("t", hit.entry)


@pytest.mark.parametrize("entry", ["", "-", "--", "a-b-c", "0" * 32, "é-é-é", "\ud83d-a-\ud83d", "x" * 10_000])
def test_what_is_no_hit_is_none(heard: Heard, entry: str) -> None:
    heard.memo.put("t", "m", Q, A, FIX)
    assert not heard.memo.wrong("t", entry)
    assert len(heard.memo) == 1


def test_a_pair_cannot_be_made_up(heard: Heard) -> None:
    name = heard.memo.put("t", "m", Q, A, FIX)
    hit = heard.memo.get("t", "提前还款手续费多少？", A, "m")
    assert hit is not None
    _, asked, sign = hit.entry.split("-")
    assert not heard.memo.wrong("t", f"{asked}-{name}-{sign}")
    assert heard.memo.get("t", "提前还款手续费多少？", A, "m") is not None


def test_what_was_found_is_believed_for_a_while() -> None:
    heard = Heard(ttl_seconds=10)
    heard.memo.put("t", "m", Q, A, FIX)
    heard.now.seconds += 9.9
    assert heard.memo.get("t", Q, A, "m") is not None
    heard.now.seconds += 0.1
    assert heard.memo.get("t", Q, A, "m") is None
    assert len(heard.memo) == 0
    heard.memo.put("t", "m", Q, A, FIX)
    heard.now.seconds += 10
    assert heard.memo.get("t", "提前还款手续费多少？", A, "m") is None
    assert heard.counted["expired"] == 2
    assert heard.memo._size == 0


def test_what_was_used_least_goes_first() -> None:
    heard = Heard(most=3)
    for n in range(3):
        heard.memo.put("t", "m", f"问题{n}", "答", ())
    heard.memo.get("t", "问题0", "答", "m")
    heard.memo.put("t", "m", "问题3", "答", ())
    assert [heard.memo.get("t", f"问题{n}", "答", "m") is not None for n in range(4)] == [True, False, True, True]
    assert heard.counted["displaced"] == 1


def test_bytes_are_bounded() -> None:
    heard = Heard(bytes=1 << 16)
    for n in range(200):
        heard.memo.put("t", "m", f"q{n}", "答" * 500, ())
        assert heard.memo._size <= 1 << 16
    assert 10 < len(heard.memo) < 200
    heard.memo.put("t", "m", "q", "答" * 50_000, ())
    assert heard.counted["too_large"] == 1
    for n in range(200):
        heard.memo.wrong("t", heard.memo.put("t", "m", f"q{n}", "答" * 500, ()))
    assert (heard.memo._size, len(heard.memo), heard.memo._bands._bands) == (0, 0, {})


def test_to_put_the_same_again_replaces_it(heard: Heard) -> None:
    first = heard.memo.put("t", "m", Q, A, FIX)
    assert heard.memo.put("t", "m", Q, A, ()) == first
    assert len(heard.memo) == 1
    assert heard.memo.get("t", Q, A, "m") == Hit(first, (), True)


@pytest.mark.parametrize("fields", [{"near": False}, {}])
def test_without_codes_only_the_same_is_found(fields: dict[str, object]) -> None:
    words: list[str] = []
    codes = (lambda _: (0,)) if fields else None
    memo = Memo(CacheSpec.model_validate(fields), codes, words.append)
    memo.put("t", "m", Q, A, FIX)
    assert memo.get("t", "请问" + Q, A, "m") is None
    assert memo.get("t", Q, A, "m") is not None


def test_codes_that_are_far_are_not_looked_at() -> None:
    words: list[str] = []
    memo = Memo(CacheSpec(radius=3), lambda text: (len(text) * 0x0123456789ABCDEF & (1 << 64) - 1,), words.append)
    memo.put("t", "m", Q, A, FIX)
    assert memo.get("t", "请问" + Q, A, "m") is None
    assert words == ["stored", "miss"]


def test_with_the_real_codes_a_paraphrase_is_found() -> None:
    words: list[str] = []
    memo = Memo(CacheSpec(radius=7), Similar().codes, words.append)
    memo.put("t", "m", "How do I reset my password?", "Open the settings and choose reset.", ())
    hit = memo.get("t", "how do I reset my password", "Open the settings and choose reset.", "m")
    assert hit is not None
    assert not hit.exact
    assert memo.get("t", "How do I bake bread?", "Open the settings and choose reset.", "m") is None


def test_half_characters_and_empty_texts_do_no_harm(heard: Heard) -> None:
    entry = heard.memo.put("t", "m", "\ud83d", "", ())
    assert heard.memo.get("t", "\ud83d", "", "m") == Hit(entry, (), True)
    assert heard.memo.get("t", "", "", "m") is None


@pytest.mark.parametrize("fields", [{"most": 0}, {"radius": 8}, {"ttl_seconds": 0}, {"bytes": 1}, {"size": 1}])
def test_what_makes_no_cache_is_refused(fields: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        CacheSpec.model_validate(fields)
