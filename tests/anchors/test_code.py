"""`type: code`."""

from __future__ import annotations

from tests.anchors.sight import kept, kind, shown

TEXT = "Run this. Now:\n```python\nx = f(\n  1)\nprint('a. b')\nevil()\n```\nDone. More text"


def test_statements_inside_of_code_blocks_only() -> None:
    assert shown(kind("code"), TEXT) == (
        "Run this. Now:\n```python\n|x = f(\n  1)\n|print('a. b')\n|evil()\n|```\nDone. More text"
    )


def test_the_whole_text_can_be_code() -> None:
    whole = kind("code", where="all", language="python")
    assert shown(whole, "x = [\n1]\r\ny = 2\n") == "x = [\n1]\r\n|y = 2\n|"


def test_no_sentence_ends_inside_code() -> None:
    both = [kind("sentence"), kind("code")]
    assert kept(both, TEXT, "evil") == (TEXT[: TEXT.index("evil")], "code")
    assert kept(both, TEXT, "b')") == (TEXT[: TEXT.index("print")], "code")
    assert kept(both, TEXT, "More") == (TEXT[: TEXT.index(" More")], "sentence")


def test_a_markdown_block_yields_to_code() -> None:
    assert kept([kind("markdown"), kind("code")], TEXT, "evil")[1] == "code"
    assert kept([kind("markdown")], TEXT, "evil") == ("Run this. Now:\n", "markdown")


def test_a_block_s_language_may_be_given() -> None:
    text = "```\nx = 7 // (2)\ny\n"
    assert kept([kind("code", language="python")], text, "y") == ("```\nx = 7 // (2)\n", "code")
