"""A citation counts as checked where all that it names was shown."""

from __future__ import annotations

import pytest

from gateway.tiers._citation import stands_in

ZH = "请根据下文回答。《劳动合同法》第三十九条：劳动者有下列情形之一的……（截至2023年）"
EN = "[3] Article 17 of the GDPR gives a right to erasure. Federal Register, 12 CFR 1026, https://law.example.gov/a"


@pytest.mark.parametrize(
    ("citation", "shown"),
    [
        ("根据《劳动合同法》第三十九条", ZH),
        ("截至2023年", ZH),
        ("Under Article 17 of the GDPR", EN),
        ("see [3]", EN),
        ("12 CFR 1026", EN),
        ("Source: Federal Register", EN),
        ("https://law.example.gov/a", EN),
    ],
)
def test_what_was_shown_stands(citation: str, shown: str) -> None:
    assert stands_in(citation, shown)


@pytest.mark.parametrize(
    ("citation", "shown"),
    [
        ("根据《劳动合同法》第四十条", ZH),
        ("根据《民法典》第三十九条", ZH),
        ("Under Article 18 of the GDPR", EN),
        ("Source: World Bank", EN),
        ("see [4]", EN),
        ("https://law.example.gov/b", EN),
        ("来源", ZH),
        ("Source: the", EN),
        ("根据《劳动合同法》第三十九条", ""),
    ],
)
def test_what_was_not_comes_from_nowhere(citation: str, shown: str) -> None:
    assert not stands_in(citation, shown)
