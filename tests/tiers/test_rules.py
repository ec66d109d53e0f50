"""`type: rules`: hedges force, citations leave, figures weigh, and what only looks like one of them does nothing."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.tiers import Decision, Opinion, Tier
from gateway.tiers.rules import Plug
from tests.tiers.cases import case, shipped

HEDGED = [
    "该公司去年的营收可能是30亿元。",
    "明年利率可能会上调两次。",
    "这座桥大概建于1950年前后。",
    "据推测，这批文物来自唐代。",
    "这一消息未经证实，请谨慎参考。",
    "他似乎在2019年离开了公司。",
    "答案应该是42。",
    "发明人应该叫李明。",
    "也许是因为温度过高。",
    "我不太确定具体的日期。",
    "据我所知，首都在上世纪迁移过。",
    "我没记错的话，截止日期是6月30日。",
    "目前尚不清楚事故的原因。",
    "估计有两万人参加。",
    "网传该政策下月取消。",
    "大概率会在年底前发布。",
    "您可能患有流行性感冒。",
    "這本書或許寫於清代。",
    "The bridge was probably built in 1950.",
    "Perhaps the tax was abolished in 2011.",
    "It is believed that the treaty was signed in May.",
    "As far as I know, the limit is $500.",
    "Reportedly, he left the firm in 2019.",
    "The figures are unconfirmed.",
    "I’m not entirely sure about the exact date.",
    "I think the capital moved in 1960.",
    "The fee might have changed since then.",
    "The rate might not be 3%.",
    "It may be around 40 kilometres.",
    "This information may be outdated.",
    "The law may have been amended.",
    "The price is likely to be higher.",
    "The author is most likely a monk.",
    "The answer should be 42.",
    "It could be that the file was lost.",
    "If I recall correctly, it has 12 members.",
    "I can't confirm the number.",
    "It seems the museum closed in 2003.",
    "这个数字 probably 偏高。",
]
INNOCENT = [
    "请尽可能提供完整的材料。",
    "这种可能性很低。",
    "这在数学上是不可能的。",
    "没有可能绕过这一步。",
    "这项技术使远程手术成为可能。",
    "可能的原因有三个。",
    "只有两种可能：通过或退回。",
    "吸烟可能会导致肺癌。",
    "逾期可能面临罚款。",
    "您可能想了解退货流程。",
    "您似乎想问退款进度。",
    "大概念教学强调迁移。",
    "下面介绍大概流程。",
    "纪律应该是每个人的自觉。",
    "遵守规则应该是公民的义务。",
    "本应该是上午发货。",
    "最大似然估计是一种参数估计方法。",
    "测量结果的不确定性很小。",
    "“可能”是一个情态词。",
    "她跑得好像风一样。",
    "疑似病例应当立即隔离。",
    "The meeting is on 3 May 2024 in the mayor's office.",
    "You may return the goods within 30 days.",
    "You may be eligible for a refund.",
    "The tenant may terminate the lease.",
    "The deadline may be extended by the court.",
    "You might want to check your settings.",
    "The empire's military might grew.",
    "Smoking might cause cancer.",
    "Smokers are more likely to fall ill.",
    "Heads and tails are equally likely.",
    "Choose the most likely option in the list.",
    "We can't possibly charge you twice.",
    "Maybe you could restart the router.",
    "It seems you are asking about refunds.",
    "I think you will like this recipe.",
    'The word "probably" is an adverb.',
    "This is an improbable but proven result.",
    "He believed in fairness.",
    "Invoices should be filed by year.",
    "The file could be opened with any editor.",
]
CITED = [
    "根据《中华人民共和国劳动合同法》第三十九条，用人单位可以解除劳动合同。",
    "依据《民法典》第577条，违约方应当承担违约责任。",
    "截至2023年第三季度，公司营收为12亿元（来源：公司三季报）。",
    "截至2023年Q3，存款余额为2.1万亿元，数据来源：中国人民银行官网。",
    "根据公司2023年年报显示，截至2023年12月31日，员工总数为1.2万人。",
    "根据《关于推进养老服务的意见》（银发〔2023〕12号），补贴按月发放。",
    "该结论见文献[3]。",
    "营收为12亿元。来源：https://stats.gov.cn/x",
    "Under Article 17 of the GDPR, you may ask for erasure.",
    "Article 6(1)(b) GDPR allows it.",
    "Under 12 CFR 1026.19 the lender tells it, and by § 42 he proves it.",
    "According to [1], the rate was 3%.",
    "As of Q3 2025, revenue was $3.5 billion (source: quarterly report).",
    "As of 31 December 2023 the bank had 1,200 branches, according to its annual report.",
    "The limit is 500 USD. Source: Federal Register.",
    "The figures are at https://www.bls.gov/cpi/ for all years.",
    "According to the World Bank, growth was 3% (Miller et al., 2021).",
]
UNCITED = [
    "来源：网络，仅作参考。",
    "出处：不详。",
    "截至2023年第三季度，公司营收为12亿元。",
    "截至2023年，公司发布了5款产品。",
    "本课程共第3章，请按顺序学习。",
    "Source: unknown, 2021.",
    "As of Q3 2025, revenue was $3.5 billion.",
    "According to some, the rate was 3%.",
    "Open the source code in an editor.",
    "Use arr[1] and arr[2] in the loop.",
    "See https://example.com/page for the format.",
    "In section 2 we look at the details.",
]


@pytest.fixture(scope="module")
def tier() -> Tier:
    return Plug.model_validate(shipped("rules")[0]).connect()


@pytest.mark.parametrize("answer", HEDGED)
async def test_a_hedge_forces(tier: Tier, answer: str) -> None:
    assert await tier.judge(case(answer)) == Opinion(Decision.FORCE, "hedge")


@pytest.mark.parametrize("answer", INNOCENT)
async def test_what_only_looks_like_a_hedge_does_not(tier: Tier, answer: str) -> None:
    assert (await tier.judge(case(answer))).decision is Decision.PASS


@pytest.mark.parametrize("answer", CITED)
async def test_a_citation_leaves_where_it_is_believed(answer: str) -> None:
    tier = Plug.model_validate({**shipped("rules")[0], "citations": "believed"}).connect()
    opinion = await tier.judge(case(answer))
    assert opinion.decision is Decision.SKIP
    assert opinion.why.startswith("cited.")


@pytest.mark.parametrize("answer", UNCITED)
async def test_what_only_looks_like_a_citation_does_not(tier: Tier, answer: str) -> None:
    assert (await tier.judge(case(answer))).decision is Decision.PASS


@pytest.mark.parametrize(
    "hedge", ["另外，手续费可能是3元。", "Besides, the fee is probably 3 USD.", "此说法未经证实。"]
)
@pytest.mark.parametrize("cited", CITED[:3] + CITED[8:10])
async def test_a_citation_does_not_excuse_a_hedge(tier: Tier, cited: str, hedge: str) -> None:
    assert (await tier.judge(case(cited + hedge))).decision is Decision.FORCE
    assert (await tier.judge(case(hedge + cited))).decision is Decision.FORCE


@pytest.mark.parametrize(("cited", "more"), [(CITED[1], "双方还应当保留证据。"), (CITED[8], " Keep a copy of it all.")])
async def test_a_citation_does_not_vouch_for_a_long_answer(tier: Tier, cited: str, more: str) -> None:
    assert (await tier.judge(case(cited + more, context=cited))).decision is Decision.SKIP
    opinion = await tier.judge(case(cited + more * 100, context=cited))
    assert opinion.decision is Decision.PASS
    assert opinion.risk < 0  # but it counts


@pytest.mark.parametrize(
    ("plain", "risky"),
    [
        ("请在规定的时间内付款。", "请在2024年3月1日前付款，金额为1.2万元。"),
        ("请遵守相关规定。", "请遵守《支付管理办法》和GB/T 35273。"),
        ("Please pay in time.", "Please pay $1,200 by 2024-03-01, plus 3.5% interest."),
        ("Follow the standard.", "Follow ISO 27001 and 12 CFR 1026."),
        ("Take it after meals.", "Take 400 after meals."),
        ("按时归还。", "三十天内归还百分之五。"),
    ],
)
async def test_figures_dates_and_regulations_weigh(tier: Tier, plain: str, risky: str) -> None:
    low, high = await tier.judge(case(plain)), await tier.judge(case(risky))
    assert low.decision is high.decision is Decision.PASS
    assert low.risk == 0 < high.risk <= 1.0
    assert high.why
    assert not low.why


@pytest.mark.parametrize(
    ("domain", "answer"),
    [
        ("medical", "一次服用200毫克。"),
        ("medical", "Take 200 mg."),
        ("finance", "年化收益率为三点五。"),
        ("finance", "The interest rate is 3."),
        ("legal", "诉讼时效为三年。"),
        ("legal", "The statute of limitations is 3 years."),
    ],
)
async def test_a_domain_has_figures_of_its_own(tier: Tier, domain: str, answer: str) -> None:
    there, elsewhere = await tier.judge(case(answer, domain=domain)), await tier.judge(case(answer))
    assert there.risk > elsewhere.risk


async def test_what_a_page_of_figures_adds_is_bounded(tier: Tier) -> None:
    assert (await tier.judge(case("2024年支出1.2万元，增长3%；" * 2000))).risk == 1.0


async def test_odd_texts_are_judged_too(tier: Tier) -> None:
    for odd in ("", "\ud800", "\0", "🐎" * 3000, "《" * 20_000, "截至2023年" * 4000, "a" * 100_000):
        assert (await tier.judge(case(odd))).decision is Decision.PASS


async def test_only_the_head_of_an_endless_answer_is_read() -> None:
    tier = plug(most_chars=100, force_at=0.5).connect()
    assert (await tier.judge(case("x" * 90 + " maybe"))).decision is Decision.FORCE
    assert (await tier.judge(case("x" * 99 + " maybe"))).decision is Decision.PASS


def plug(**fields: Any) -> Plug:
    hedge = {"name": "hedge", "means": "doubt", "weight": 0.5, "most": 3, "en": {"words": ["maybe"]}}
    cited = {"name": "cited", "means": "ground", "weight": 1.0, "en": {"words": ["source"]}}
    return Plug.model_validate({"type": "rules", "signs": [hedge, cited], **fields})


async def test_hedges_add_up_to_a_cap() -> None:
    light = plug(force_at=1.0).connect()
    assert await light.judge(case("maybe")) == Opinion(Decision.PASS, "", 0.5)
    assert (await light.judge(case("maybe, maybe"))).decision is Decision.FORCE
    assert (await plug(force_at=1.6).connect().judge(case("maybe " * 50))).decision is Decision.PASS


async def test_each_language_may_weigh_otherwise_and_the_cap_is_common() -> None:
    sign = {"name": "s", "means": "risk", "weight": 0.2, "most": 2, "zh": {"words": ["大概"]}}
    sign["en"] = {"words": ["maybe"], "weight": 0.5}
    tier = Plug.model_validate({"type": "rules", "signs": [sign], "most_risk": 5}).connect()
    for text, risk in (("大概", 0.2), ("maybe", 0.5), ("大概 maybe", 0.7), ("大概 maybe maybe", 1.0)):
        assert (await tier.judge(case(text))).risk == pytest.approx(risk)


async def test_skipping_can_be_switched_off() -> None:
    assert (await plug(skip_at=None).connect().judge(case("source"))).decision is Decision.PASS
    assert (await plug().connect().judge(case("source"))).decision is Decision.SKIP


@pytest.mark.parametrize("cited", [CITED[0], CITED[1], CITED[8], CITED[9]])
async def test_a_citation_can_be_held_against_what_the_model_read(cited: str) -> None:
    tier = Plug.model_validate({**shipped("rules")[0], "citations": "checked"}).connect()
    assert (await tier.judge(case(cited, context=f"1. {cited}"))).decision is Decision.SKIP
    assert (await tier.judge(case(cited, question=cited))).decision is Decision.SKIP
    nowhere = await tier.judge(case(cited))
    assert nowhere.decision is Decision.PASS
    assert nowhere.risk > 0


async def test_a_sign_counts_in_its_scope_only() -> None:
    sign = {"name": "s", "means": "doubt", "weight": 1, "tenant": "bank", "en": {"words": ["maybe"]}}
    tier = Plug.model_validate({"type": "rules", "signs": [sign]}).connect()
    assert (await tier.judge(case("maybe", tenant="bank"))).decision is Decision.FORCE
    assert (await tier.judge(case("maybe"))).decision is Decision.PASS


@pytest.mark.parametrize(
    "sign",
    [
        {"name": "s", "means": "doubt", "weight": 0},
        {"name": "s", "means": "hope", "weight": 1},
        {"name": "S!", "means": "risk", "weight": 1},
        {"name": "s", "means": "risk", "weight": 1, "en": {"words": [" "]}},
        {"name": "s", "means": "risk", "weight": 1, "en": {"patterns": ["a*"]}},
    ],
)
def test_a_sign_that_makes_no_sense_is_refused(sign: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Plug.model_validate({"type": "rules", "signs": [sign]})
