"""Fenced code blocks."""

from __future__ import annotations

import pytest

from gateway.anchors._fences import Fence, may_open, step


@pytest.mark.parametrize(
    ("line", "fence"),
    [
        ("```\n", Fence("```", "")),
        ("```Python title=x\r\n", Fence("```", "python")),
        ("~~~~ js\n", Fence("~~~~", "js")),
        ("- ```sh\n", Fence("```", "sh")),
        ("   > ```\n", Fence("```", "")),
        ("```inline```\n", None),
        ("text ```\n", None),
        ("``\n", None),
    ],
)
def test_what_opens_a_block(line: str, fence: Fence | None) -> None:
    assert step(None, line) == fence


@pytest.mark.parametrize(
    ("line", "open_"),
    [
        ("```\n", False),
        ("  `````  \n", False),
        ("> ```\n", False),
        ("``\n", True),
        ("~~~\n", True),
        ("```x\n", True),
        ("\n", True),
    ],
)
def test_what_closes_one(line: str, open_: bool) -> None:
    fence = Fence("```", "")
    assert step(fence, line) == (fence if open_ else None)


def test_a_longer_fence_needs_as_long_an_end() -> None:
    fence = Fence("````", "")
    assert step(fence, "```\n") == fence
    assert step(fence, "````\n") is None


def test_a_line_that_begins_like_a_fence() -> None:
    assert [may_open(line) for line in ("```", "  ~~~", "> ```py", "``", "x```")] == [True, True, True, False, False]
