"""Where sentences end: `|` stands at each place that must be seen, and nowhere else."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gateway.anchors._sentences import sentence_ends


def shown(text: str) -> str:
    places = [0, *sentence_ends(text, 0, len(text)), len(text)]
    return "|".join(text[start:end] for start, end in pairwise(places))


@pytest.mark.parametrize(
    "text",
    [
        "年费三百元。|首年免收。|次年起",
        "真的吗？|当然！|好；|继续",
        "他说：“可以退款。”|然后挂了。|再",
        "他说：“可以。”，然后挂了。|再",
        "「知道了。」|他走了。|完",
        "（详见附件。）|第二条",
        '他说："可以退款。"|然后挂了。|再',
        '她到了。|"你好"是他说的。|完',
        "**注意。**|下一句。|完",
        "好。|*斜体*在此。|完",
        "等等……|后来呢？！|不知道",
        "“真的？！”|他问。|好",
        "利率是3.14%。|其次",
        "利率是３．１４％。|其次",
        "价格为1.5万元，年化4.2%左右",
        "1. 开户。|2. 签约。|3",
        "1.首先，开户",
        "我们用 vLLM.|然后测试",
        "版本v2.0.1已发布。|下载",
        "他问：可以吗?|可以!|好",
        "第一段没有句号\n\n|第二段",
        "你好！——他说",
        "见王先生(Dr.王)的意见。|完",
    ],
)
def test_chinese(text: str) -> None:
    assert shown(text.replace("|", "")) == text


@pytest.mark.parametrize(
    "text",
    [
        "It rains.| We stay.| Then",
        "Dr. Smith met Mr. Jones.| They left.| Then",
        "See e.g. Chapter 3, i.e. the end.| Then",
        "The U.S. Senate met.| It voted.| Then",
        "Order No. 5 is late.| No.| It is lost.| Then",
        "It weighs approx. 3.14 kg.| Good.| Then",
        "Use v2.0.1.| It works.| Then",
        "See https://example.com/a.b?c=1.d for more.| Then",
        "J. R. Smith wrote it.| Then",
        "Well... maybe not.| Then",
        "Well...| Maybe not.| Then",
        "Well…| Maybe… not.| Then",
        'He said "Go."| She went.| Then',
        'He said "Go!" and left.| Then',
        "He said 'Go.'| She went.| Then",
        "(It rained.)| We stayed.| Then",
        "“Really?”| She nodded.| Then",
        "It cost $3.50.| We paid.| Then",
        "1. First do this.| Then",
        "  2. First do this.| Then",
        "a. First do this.| Then",
        "iv. First do this.| Then",
        "See Fig. 3 and Eq. 12.| Then",
        "On Jan. 5 it snowed.| In Jan.| Then",
        "He has a Ph.D. in maths.| Then",
        "Read node.js and main.py files.| Then",
        "Is it? no! yes.| Then",
        "**Note.**| It works.| Then",
        "Acme Inc. and Co. Ltd. merged.| Then",
        "Smith et al. (2020) agree.| Then",
        "No stop here\n\n|Another",
        "One line.|\nanother one",
        "a == b ? c : d",
        "The 3rd.| Then",
        "In 2024.| Then",
        "We left at 10 a.m. on Monday.| Then",
        "Wait?!| Then",
    ],
)
def test_english(text: str) -> None:
    assert shown(text.replace("|", "")) == text


@pytest.mark.parametrize(
    "text", ["It rains.", "It rains. ", "年费三百元。", "年费三百元。”", 'He said "Go.', "Wait..", "Pi is 3."]
)
def test_the_end_of_a_text_may_go_on_and_so_ends_no_sentence(text: str) -> None:
    assert list(sentence_ends(text, 0, len(text))) == []


def test_only_the_asked_part_is_told() -> None:
    text = "一。二。三。四。五"
    assert list(sentence_ends(text, 3, 6)) == [4, 6]


def test_a_long_text_of_stops_and_quotes_is_read_in_one_pass() -> None:
    text = '。"a' * 20_000 + "... " * 20_000
    assert len(list(sentence_ends(text, 0, len(text)))) > 1000
