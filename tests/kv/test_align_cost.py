"""What aligning costs where the tokens are made to cost much: lines executed, bytes, tokens compared; never a clock."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

from gateway.kv.align import EFFORT, FLOOR, align, runs
from gateway.kv.nouns import Span

if TYPE_CHECKING:
    from _typeshed import TraceFunction

TEXT = list(range(1000, 1300))  # no token twice


def noise(size: int, kinds: int) -> list[int]:
    chance = random.Random(size + kinds)
    return [chance.randrange(kinds) for _ in range(size)]


def broken(size: int, shift: int) -> list[int]:
    """Runs of 19 tokens that all are the same, and between them tokens that the other sequence doesn't have."""
    return [7 if number % 20 else number + shift for number in range(size)]


HOSTILE: dict[str, Callable[[int], tuple[list[int], list[int]]]] = {
    "all equal": lambda size: ([7] * size, [7] * size),
    "a period of three": lambda size: (([1, 2, 3] * size)[:size], ([2, 3, 1] * size)[:size]),
    "a period of 300": lambda size: ((TEXT[:300] * size)[:size], (TEXT[100:300] + TEXT[:300] * size)[:size]),
    "two kinds of tokens": lambda size: (noise(size, 2), noise(size, 2)[::-1]),
    "broken all the time": lambda size: (broken(size, 0), broken(size, 1 << 20)),
    "half equal, half other periods": lambda size: (
        [7] * (size // 2) + [8, 9] * (size // 4),
        [9, 8, 8] * (size // 6) + [7] * (size // 2),
    ),
}


def lines_executed(donor: Sequence[int], request: Sequence[int], least: int) -> int:
    executed = 0

    def watch(_frame: FrameType, event: str, _told: Any) -> TraceFunction:
        nonlocal executed
        executed += event == "line"
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        align(donor, request, least)
    finally:
        sys.settrace(before)
    return executed


def most_bytes(donor: Sequence[int], request: Sequence[int], least: int) -> int:
    tracemalloc.start()
    align(donor, request, least)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("least", [1, 18, 256])
@pytest.mark.parametrize("size", [2000, 8000])
def test_hostile_tokens_cost_no_more_than_their_number(name: str, least: int, size: int) -> None:
    donor, request = HOSTILE[name](size)
    assert lines_executed(donor, request, least) < 200 * size
    assert most_bytes(donor, request, least) < 300 * size


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("least", [1, 18, 256])
def test_hostile_tokens_are_not_compared_again_and_again(name: str, least: int) -> None:
    donor, request = HOSTILE[name](8000)
    found = runs(donor, request, least)
    assert sum(run.length for run in found[:-1]) <= EFFORT * (len(donor) + len(request)) + FLOOR


def test_what_repeats_itself_endlessly_is_still_used() -> None:
    assert align([7] * 8000, [7] * 8000, 256) == [Span(0, 0, 8000)]
    for name in ("a period of three", "a period of 300", "half equal, half other periods"):
        donor, request = HOSTILE[name](8000)
        (span,) = align(donor, request, 256)
        assert span.length > 3000
