"""Where the tokens of a donor and of a request agree."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.kv.align import align, common_prefix, runs
from gateway.kv.nouns import Span

TEXT = list(range(1000, 9000))  # no token twice
PREAMBLE = list(range(100))


def tokens(letters: str, longest: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from([ord(letter) for letter in letters]), max_size=longest)


SMALL = st.one_of(tokens("ab", 14), tokens("abcd", 18), tokens("abcdefgh", 24))
LEAST = st.integers(1, 5)


def all_runs(donor: Sequence[int], request: Sequence[int], least: int) -> set[Span]:
    """Each maximal run, token by token."""
    found = set()
    for place, start in itertools.product(range(len(donor)), range(len(request))):
        if place and start and donor[place - 1] == request[start - 1]:
            continue
        pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(donor[place:], request[start:], strict=False))
        length = sum(1 for _ in pairs)
        if length >= least:
            found.add(Span(place, start, length))
    return found


def most(donor: Sequence[int], request: Sequence[int], least: int, toll: int = 0) -> int:
    """The most tokens of stretches in order, none shorter than `least`, less a toll for each after the first."""
    rows = [[0] * (len(request) + 1) for _ in range(len(donor) + 1)]
    for row, column in itertools.product(range(1, len(donor) + 1), range(1, len(request) + 1)):
        best = max(rows[row - 1][column], rows[row][column - 1])
        length = 1
        while length <= min(row, column) and donor[row - length] == request[column - length]:
            if length >= least:
                best = max(best, rows[row - length][column - length] + length - toll)
            length += 1
        rows[row][column] = best
    return rows[-1][-1] and rows[-1][-1] + toll


def in_order(spans: Sequence[Span]) -> bool:
    return all(
        first.end <= second.start and first.donor + first.length <= second.donor
        for first, second in itertools.pairwise(spans)
    )


@settings(deadline=None)
@given(SMALL, SMALL, LEAST)
@example([*b"abcd"], [*b"bcdabc"], 3)
def test_each_run_is_found_once_and_whole(donor: list[int], request: list[int], least: int) -> None:
    found = runs(donor, request, least)
    assert len(set(found)) == len(found)
    assert set(found) == all_runs(donor, request, least)


@settings(deadline=None)
@given(SMALL, SMALL, LEAST)
def test_spans_agree_and_are_long_enough_and_in_order_in_both(donor: list[int], request: list[int], least: int) -> None:
    spans = align(donor, request, least)
    for place, start, length in spans:
        assert length >= least
        assert donor[place : place + length] == request[start : start + length]
        assert len(request[start : start + length]) == length
    assert in_order(spans)


@settings(deadline=None)
@given(SMALL, SMALL, LEAST)
def test_a_span_is_a_whole_run_or_begins_where_the_one_before_it_ends(
    donor: list[int], request: list[int], least: int
) -> None:
    whole = {(run.shift, run.end): run for run in all_runs(donor, request, least)}
    before = Span(0, 0, 0)
    for span in align(donor, request, least):
        run = whole[span.shift, span.end]
        assert span == run or before.end == span.start or before.donor + before.length == span.donor
        before = span


@settings(deadline=None)
@given(SMALL, SMALL, LEAST)
@example([*b"abcdefghabc"], [*b"efghabcdabc"], 3)
@example([*b"aabbabab"], [*b"ababbaab"], 2)
def test_no_choice_has_many_more_tokens(donor: list[int], request: list[int], least: int) -> None:
    """What cutting an overlap from the later span can cost is a span that falls under `least` by it, each time."""
    total = sum(span.length for span in align(donor, request, least))
    assert most(donor, request, least, toll=least - 1) <= total <= most(donor, request, least)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 90), st.booleans()), max_size=5), st.randoms(use_true_random=False))
@example([(90, True)] * 3, random.Random(1))
@example([(1, False), (80, False), (90, True)], random.Random(2))
def test_however_many_blocks_change_places_those_in_order_that_have_the_most_tokens_are_found(
    groups: list[tuple[int, bool]], chance: random.Random
) -> None:
    """Blocks without a common token, in groups; some groups are turned around, then all of them are shuffled."""
    edges = itertools.accumulate((size for size, _ in groups), initial=0)
    numbers = [
        [*range(start, end)][:: -1 if turned else 1]
        for (start, end), (_, turned) in zip(itertools.pairwise(edges), groups, strict=True)
    ]
    chance.shuffle(numbers)
    sizes = [chance.randrange(2, 9) for _ in range(sum(size for size, _ in groups))]
    blocks = [range(10 * number, 10 * number + size) for number, size in enumerate(sizes)]
    order = list(itertools.chain(*numbers))
    best = [0] * len(blocks)
    for place, number in enumerate(order):
        best[number] = sizes[number] + max((best[other] for other in order[:place] if other < number), default=0)
    spans = align([*itertools.chain(*blocks)], [*itertools.chain(*(blocks[number] for number in order))], 2)
    assert sum(span.length for span in spans) == max(best, default=0)
    assert in_order(spans)


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), max_size=60), st.lists(st.integers(0, 40), max_size=60))
def test_where_single_tokens_pay_it_is_the_longest_common_subsequence(donor: list[int], request: list[int]) -> None:
    assert sum(span.length for span in align(donor, request, 1)) == most(donor, request, 1)


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=5), st.integers(1, 600), st.randoms(use_true_random=False))
def test_a_document_that_moved_is_found_whole(edges: list[int], length: int, chance: random.Random) -> None:
    """Wherever it stands in either, among tokens that it doesn't have, however the seeds fall."""
    text = [chance.randrange(500) for _ in range(length)]
    before, after = chance.randrange(400), chance.randrange(400)
    donor = [*range(10_000, 10_000 + before), *text, 7777]
    request = [*range(20_000, 20_000 + after), *text, 8888]
    for least in {max(length - 3, 1), length}:
        assert align(donor, request, least) == [Span(before, after, length)]
    assert align(donor, request, length + 1) == []


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=200), st.integers(1, 40))
def test_what_is_the_same_is_one_span(same: list[int], least: int) -> None:
    assert align(same, same, least) == ([Span(0, 0, len(same))] if len(same) >= least else [])


def test_a_changed_preamble() -> None:
    assert align(PREAMBLE + TEXT, PREAMBLE[:40] + TEXT, 256) == [Span(100, 40, 8000)]


def test_an_edited_middle() -> None:
    request = PREAMBLE + TEXT[:3000] + PREAMBLE + TEXT[3100:]
    assert align(TEXT, request, 256) == [Span(0, 100, 3000), Span(3100, 3200, 4900)]


def test_many_edits() -> None:
    request = [token if number % 300 else 0 for number, token in enumerate(TEXT)]
    expected = [Span(place, place, min(299, 8000 - place)) for place in range(1, 8000, 300)]
    assert align(TEXT, request, 256) == [span for span in expected if span.length >= 256]


def test_of_what_crossed_the_longer_part_is_taken() -> None:
    assert align(TEXT, TEXT[5000:] + TEXT[:5000], 256) == [Span(0, 3000, 5000)]
    assert align(TEXT, TEXT[3000:] + TEXT[:3000], 256) == [Span(3000, 0, 5000)]


def test_several_short_spans_win_over_a_longer_one_that_crosses_them() -> None:
    parts = [TEXT[place : place + 300] for place in range(0, 1200, 300)]
    request = [*parts[1], 0, *parts[2], 1, *parts[3], 2, *TEXT[7000:7500]]
    donor = [*TEXT[7000:7500], *itertools.chain(*parts)]
    assert [span.length for span in align(donor, request, 256)] == [300, 300, 300]


def test_a_paragraph_said_twice_and_dropped_once_is_cut_from_the_later_span() -> None:
    """donor A P x P B, request A P B: the runs A P and P B both have the P that is left."""
    first, said, dropped, second = TEXT[:1000], TEXT[1000:1200], TEXT[2000:2100], TEXT[3000:3600]
    donor = [*first, *said, *dropped, *said, *second]
    assert align(donor, first + said + second, 256) == [Span(0, 0, 1200), Span(1500, 1200, 600)]


def test_what_is_left_of_a_span_that_overlaps_must_be_long_enough_too() -> None:
    first, said, second = TEXT[:1000], TEXT[1000:1200], TEXT[3000:3100]
    assert align([*first, *said, 0, *said, *second], first + said + second, 256) == [Span(0, 0, 1200)]


def test_runs_that_cross_it_do_not_hide_the_span_before() -> None:
    """The last run, behind 90 that cross it, follows the first one and not the short one at the first one's end."""
    first, last = TEXT[:100], TEXT[200:250]
    crossing = [TEXT[place : place + 5] for place in range(1000, 1450, 5)]
    donor = [*first, 0, *first[90:], 1, 2, 3, 0, *last, *itertools.chain(*crossing[::-1])]
    request = [*first, 1, 2, 3, *itertools.chain(*crossing), *last]
    assert align(donor, request, 4) == [Span(0, 0, 100), Span(115, 553, 50)]


def test_runs_inside_of_it_do_not_hide_the_span_before() -> None:
    """Said once more in the donor, in 80 pieces, each between tokens that the request doesn't have."""
    first, last = TEXT[:400], TEXT[500:600]
    pieces = [[*first[place : place + 5], -place - 1] for place in range(0, 400, 5)]
    donor = [*first, 0, *last, 0, *itertools.chain(*pieces)]
    assert align(donor, first + last, 4) == [Span(0, 0, 400), Span(401, 400, 100)]


def test_padding_in_both_does_not_hide_the_text_around_it() -> None:
    padding = [0] * 2000
    donor = TEXT[:2000] + padding + TEXT[2000:4000]
    assert align(donor, PREAMBLE + padding + TEXT[:4000], 256) == [Span(0, 2100, 2000), Span(4000, 4100, 2000)]
    moved = TEXT[:4000] + padding
    request = PREAMBLE + TEXT[:2000] + padding + TEXT[2000:4000]
    assert align(moved, request, 256) == [Span(0, 100, 2000), Span(2000, 4100, 2000)]


def test_nothing_agrees_with_nothing() -> None:
    assert align([], [], 1) == align(TEXT, [], 1) == align([], TEXT, 1) == align(TEXT, PREAMBLE, 1) == []


def test_a_token_differs_if_any_of_its_bytes_does() -> None:
    assert align([1 << 8, 1 << 16], [1, 1 << 24, 1 << 8], 1) == [Span(0, 2, 1)]
    assert align([0, 1, 0, 0], [256, 0, 0], 2) == [Span(2, 1, 2)]


@pytest.mark.parametrize("least", [0, -1])
def test_a_span_of_no_tokens_is_refused(least: int) -> None:
    with pytest.raises(ValueError, match=f"least={least} must be 1 or more"):
        align([1], [1], least)


def test_a_token_that_no_engine_has_is_refused() -> None:
    with pytest.raises(OverflowError):
        align([1 << 31], [1], 1)


@settings(deadline=None)
@given(st.lists(st.integers(0, 1), max_size=300), st.lists(st.integers(0, 1), max_size=300), st.integers(0, 300))
def test_the_common_prefix(donor: list[int], request: list[int], shared: int) -> None:
    request = donor[:shared] + request
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(donor, request, strict=False))
    assert common_prefix(donor, request) == common_prefix(request, tuple(donor)) == sum(1 for _ in pairs)


def test_the_common_prefix_ends_at_the_one_token_that_differs() -> None:
    for place in (*range(130), 4095, 4096, 7999):
        assert common_prefix(TEXT, [*TEXT[:place], 0, *TEXT[place + 1 :]]) == place
    assert common_prefix(TEXT, TEXT) == len(TEXT)
