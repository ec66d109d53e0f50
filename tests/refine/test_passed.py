"""Where numbers are no facts."""

from __future__ import annotations

import pytest

from gateway.refine._passed import FENCE
from gateway.refine.caution import spans


@pytest.mark.parametrize(
    "text",
    [
        "1. 打开设置\n2. 保存\n10) 完成\n3、退出",
        "一、概述\n（2）说明\n(3) notes\n## 2.1 范围\n- 4. 其他\n> 12. quoted",
        "见 https://example.org/2020/12?size=15kg 与 www.example.cn/99%25",
        "`5%` and ``12 kg`` and ```30天```",
        "```python\nrate = 12.5  # 5%\n```\n",
        "~~~\n12 kg\n~~~",
        "```\nnever closed 12.5 kg\n2020年3月1日",
        "as follows:\n\n    rate = 12.5\n    days = 30\n",
        "GPT-4, COVID-19, v2.1.3, x86_64, utf-8, MP3, a_12, 3D, 1080p, 4K, 192.168.1.10, 10.0.0.1",
        "mail jo12@example.org or 12ab@example.org",
        r"\(x=12\) and \[ y = 12.5 \] and $$z = 30$$ and $x_1 = 15$",
        "见[说明](docs/2020-01-01/a.md)，另见[1]和[^12]",
        '<a href="12.5">so</a>',
        "Step 12 of Table 34, 图12，表 34",
    ],
)
def test_it_is_passed_over(text: str) -> None:
    assert spans(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```\nx = 12\n```\n共 15 人", "15 人"),
        ("1.5 million people", "1.5 million people"),
        ("1. 等待 5 分钟", "5 分钟"),
        ("见 https://example.org/2020。共 15 人", "15 人"),
        ("代表10个国家", "10个"),
        ("使用 GPT-4 后增长 5%", "5%"),
        ("$5 is not $x_1$", "$5"),
    ],
)
def test_what_stands_beside_is_found(text: str, wanted: str) -> None:
    assert [text[span.start : span.end] for span in spans(text)] == [wanted]


def test_a_fence_ends_with_one_of_its_own_kind() -> None:
    text = "````\n```\n12 kg\n````\nafter\n```\nopen"
    first, second = FENCE.finditer(text)
    assert (first["closed"], second["closed"]) == ("````", None)
    assert second.end() == len(text)
