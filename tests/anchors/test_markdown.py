"""`type: markdown`: `|` would be a table's, so `¦` stands at each place that must be seen."""

from __future__ import annotations

import pytest

from tests.anchors.sight import kept, kind, shown

MARKDOWN = kind("markdown")
BOTH = [kind("sentence"), MARKDOWN]


@pytest.mark.parametrize(
    "text",
    [
        "Intro\n¦- one\n¦- two\n  more\n¦- three",
        "说明\n¦1、开户\n¦2、签约\n¦三、放款",
        "Intro\n¦1. one\n¦2. two",
        "# Title\n¦text\n¦## Next\n¦text",
        "one\n\n¦two\r\n\r\n¦three",
        "Intro\n¦| a | b |\n|---|---|\n¦| 1 | 2 |\n¦| 3 | 4",
        "Intro\n¦```py\nx = 1\n\n# no title\n- no item\n```\n¦after",
        "Intro\n¦```py\nx = 1\n",
        "a * b\n*c* d\n1.5 kg\n#tag",
        "Intro\n¦~~~\n```\n~~~\n¦- x",
    ],
)
def test_blocks(text: str) -> None:
    plain = text.replace("¦", "")
    assert shown(MARKDOWN, plain).count("|") == plain.count("|") + text.count("¦")
    places = [at for at, char in enumerate(text) if char == "¦"]
    assert list(MARKDOWN.anchors(plain, 0, len(plain))) == [at - number for number, at in enumerate(places)]


@pytest.mark.parametrize(
    ("text", "finding", "wanted"),
    [
        ("Good. Use `a. B` and **c. D** EVIL", "EVIL", "Good."),
        ("Good. Use **one. Two EVIL", "EVIL", "Good."),
        ("Good. **Bold. Run.** Then EVIL", "EVIL", "Good. **Bold. Run.**"),
        ("好。见[说明。文档](http://x) EVIL", "EVIL", "好。"),
        ("Intro. So:\n| a. B | c |\n|---|---|\n| x. Y | EVIL |\n", "EVIL", "Intro. So:\n| a. B | c |\n|---|---|\n"),
        ("Intro. So:\n| a. B | EVIL", "EVIL", "Intro. So:\n"),
        ("Intro. So:\n```\na. B EVIL\n```\n", "EVIL", "Intro. So:\n"),
        ("Intro. So:\n```\na. B\n```\nEVIL", "EVIL", "Intro. So:\n```\na. B\n```\n"),
        ("- one. Two\n- EVIL", "EVIL", "- one. Two\n"),
        ("- one. Two EVIL", "EVIL", "- one."),
        ("A lone ** here.\n\nB is. C EVIL", "EVIL", "A lone ** here.\n\nB is."),
        ("Good. ```EVIL", "EVIL", "Good."),
    ],
)
def test_no_cut_inside_of_what_must_stay_whole(text: str, finding: str, wanted: str) -> None:
    assert kept(BOTH, text, finding)[0] == wanted
