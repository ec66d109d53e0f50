"""Laws, standards and rulings by name and number."""

from __future__ import annotations

import pytest

from gateway.refine.caution import spans


def regulations(text: str) -> list[str]:
    return [text[span.start : span.end] for span in spans(text) if span.kind == "regulation"]


@pytest.mark.parametrize(
    "name",
    [
        "《个人信息保护法》",
        "《个人信息保护法》第十七条",
        "《中华人民共和国民法典》第一千零四十二条第二款",
        "《商业银行资本管理办法（试行）》",
        "银保监发〔2020〕9号",
        "银发[2019]5号",
        "个人信息保护法第十七条",
        "国务院令第684号",
        "（2021）京01民终123号",
        "第三十八条之一",
    ],
)
def test_chinese_law(name: str) -> None:
    assert regulations(f"根据{name}，应当告知用户。") == [name]


@pytest.mark.parametrize(
    "name",
    ["GB/T 35273-2020", "GB 18030", "JR/T 0171-2020", "ISO 27001", "ISO/IEC 27001:2022", "RFC 2616", "NIST SP 800-53"],
)
def test_standards(name: str) -> None:
    assert regulations(f"本系统符合 {name} 的要求") == [name]
    assert regulations(f"It complies with {name}.") == [name]


@pytest.mark.parametrize(
    "name",
    [
        "Article 17 GDPR",
        "Article 6(1)(f) of the GDPR",
        "GDPR",
        "12 CFR 1026.19",
        "12 CFR Part 1026",
        "15 U.S.C. § 1681",
        "Regulation (EU) 2016/679",
        "Directive 95/46/EC",
        "Regulation Z",
        "Pub. L. 111-203",
        "Truth in Lending Act",
        "Civil Rights Act of 1964",
        "Section 404 of the Sarbanes-Oxley Act",
        "Sections 10 and 12",
        "PSD2",
    ],
)
def test_english_law(name: str) -> None:
    assert regulations(f"Under the {name}, it must be told.") == [name]
    assert regulations(f"依据 {name} 处理") == [name]


@pytest.mark.parametrize(
    "text", ["《红楼梦》是小说", "What an Act! The act of giving.", "an article about regulation", "第二天"]
)
def test_other_names_are_none(text: str) -> None:
    assert regulations(text) == []
