"""`type: entity`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.anchors import Tape
from gateway.anchors.entity import Plug
from tests.anchors.sight import kept, kind

TERMS = {
    "patterns": [r"\bORD-\d{4,12}(?:\.\d{1,4})?\b", r"银发〔\d{4}〕\d{1,4}号", r"\bReg\. [A-Z]\b"],
    "words": ["白金信用卡", "信用卡", "Platinum Card No. 1"],
}
ENTITY = kind("entity", **TERMS)


@pytest.mark.parametrize(
    ("text", "finding", "wanted"),
    [
        ("您好。订单 ORD-123456 已发货", "3456", "您好。订单"),
        ("您好。订单 ORD-123456 已发货", "已", "您好。"),
        ("推荐白金信用卡给您", "信用卡", "推荐"),
        ("依据银发〔2023〕12号文", "〔", "依据"),
        ("We offer the platinum card no. 1 today", "card", "We offer the"),
        ("Fine. See Reg. E applies", "E app", "Fine. See"),
        ("Fine. See Reg. E applies", "applies", "Fine."),
    ],
)
def test_a_finding_inside_a_term_goes_back_to_its_start(text: str, finding: str, wanted: str) -> None:
    assert kept([kind("sentence"), ENTITY], text, finding)[0] == wanted


def test_no_cut_splits_a_term() -> None:
    text = "Fine. See Reg. E, it holds"
    assert kept([kind("word"), ENTITY], text, "it")[0] == "Fine. See Reg. E,"
    assert kept([kind("word"), ENTITY], text, ", it")[0] == "Fine. See"
    assert kept([kind("word")], text, ", it")[0] == "Fine. See Reg."


def test_terms_that_overlap_are_one() -> None:
    both = [kind("entity", words=["白金信用卡"]), kind("entity", words=["信用卡年费"]), kind("sentence")]
    assert kept(both, "您的白金信用卡年费", "年费") == ("您的", "entity")


def test_an_error_may_begin_at_the_first_term_of_its_sentence() -> None:
    first = kind("entity", back="first", **TERMS)
    text = "好。ORD-9999 无误。您的 ORD-1234 属于白金信用卡，年费八千元"
    assert kept([kind("sentence"), first], text, "八千") == ("好。ORD-9999 无误。您的", "entity")
    assert kept([kind("sentence"), ENTITY], text, "八千") == ("好。ORD-9999 无误。", "sentence")


def test_a_cut_before_a_term_can_be_refused() -> None:
    plain = kind("entity", resume=False, **TERMS)
    assert kept([kind("sentence"), plain], "您好。订单 ORD-123456 已发货", "3456") == ("您好。", "sentence")


def test_a_term_that_has_left_the_house_stays() -> None:
    text = "订单 ORD-123456 已发货"
    assert kept([ENTITY], text, "456", frontier=8) == (text[:8], "frontier")


def test_positions_are_of_the_whole_text() -> None:
    text = "订单 ORD-123456 已"
    assert ENTITY.before(Tape(text[2:], 2), 8) == 2
    assert ENTITY.before(Tape(text, 0), 1) == 1


@pytest.mark.parametrize(
    "fields", [{}, {"patterns": ["a*"]}, {"patterns": ["(?=x)y"]}, {"patterns": ["("]}, {"words": [""]}]
)
def test_terms_that_can_t_be_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Plug.model_validate(fields)


def test_terms_stand_in_a_file(tmp_path: Path) -> None:
    tmp_path.joinpath("terms.txt").write_text("# cards\n钻石卡  # the best\n", encoding="utf-8")
    plug = Plug.model_validate({"file": "terms.txt"}, context={"folder": tmp_path})
    assert plug.words == ("钻石卡",)
    with pytest.raises(ValidationError, match="can't read"):
        Plug.model_validate({"file": "none.txt"}, context={"folder": tmp_path})
