"""Runs inside a paragraph: `‹` and `›` stand around what must stay whole."""

from __future__ import annotations

import pytest

from gateway.anchors._inline import runs
from gateway.types import NEVER


def covered(text: str, ended: bool = True) -> set[int]:
    return {p for start, end, _ in runs(text, ended) for p in range(start + 1, min(end, len(text) + 1))}


@pytest.mark.parametrize(
    "shown",
    [
        "use ‹`a. b`› here",
        "use ‹``a ` b``› here",
        "see ‹[the. docs](http://a.b/c_(d))› now",
        "see ‹![an. image](a.png)› now",
        "see ‹[a. b][ref]› now",
        "an ‹*it. alic*› run",
        "a ‹**bo. ld**› run",
        "a ‹***both. of*** ›".replace("*** ›", "***›"),
        "a ‹__bold. b__› run",
        "a ‹~~gone. b~~› run",
        "注意‹**重要。内容**›结束",
        "2 * 3 * 4. Then",
        "snake_case_name. Then",
        r"not \*it. alic\* at all",
        "array [0, 1]. Then",
        "a lone * star. and ** more. Then",
        "a lone ` tick. and `` more. Then",
        "an open [bracket. Then",
        "a lone **pair. Then",
        r"‹`tick \`› then. more",
        "see ‹[x](http://unclosed. and\n›more",
    ],
)
def test_what_must_stay_whole(shown: str) -> None:
    text = shown.replace("‹", "").replace("›", "")
    wanted: set[int] = set()
    start = shown.find("‹")
    if start >= 0:
        wanted = set(range(start + 1, shown.index("›") - 1))
    assert covered(text) == wanted


@pytest.mark.parametrize(
    "text", ["a `b. c", "a **b. c", "a [b. c", "a [b](c. d", "a [b]", "a [b][c. d", "a *", "a ``b`. c"]
)
def test_what_is_open_stays_open_until_the_paragraph_ends(text: str) -> None:
    assert any(end == NEVER for _, end, _ in runs(text, ended=False))
    assert all(end <= len(text) for _, end, _ in runs(text, ended=True))


def test_nothing_is_open_in_plain_prose() -> None:
    assert list(runs("It costs 3 * 4 and a_b. Fine. ", ended=False)) == []


@pytest.mark.parametrize("part", ["[](", "](", "*a ", "`", "``a`", "[", "_a_ ", "[a][", "**a* "])
def test_long_paragraphs_of_marks_are_read_in_one_pass(part: str) -> None:
    text = part * 10_000
    assert len(list(runs(text, ended=False))) < len(text)
