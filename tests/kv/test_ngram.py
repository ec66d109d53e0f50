"""A ban on given text, by its tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv.ngram import LIMIT, LONGEST, Ban

VOCABULARY = range(6)
N = st.integers(1, 4)
SPANS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=8), max_size=3)


def banned(spans: Sequence[Sequence[int]], n: int) -> set[tuple[int, ...]]:
    """The n-grams of each span; of one shorter than n, itself."""
    found = set()
    for span in spans:
        size = min(n, len(span))
        found |= {tuple(span[start : start + size]) for start in range(len(span) - size + 1)}
    return found - {()}


def says(text: Sequence[int], gram: tuple[int, ...]) -> bool:
    return any(tuple(text[start : start + len(gram)]) == gram for start in range(len(text)))


@settings(deadline=None)
@given(SPANS, N, st.randoms(use_true_random=False))
def test_a_generation_that_obeys_never_says_what_is_banned(
    spans: list[list[int]], n: int, chance: random.Random
) -> None:
    ban, text = Ban(spans, n), list[int]()
    for _ in range(40):
        open_ = [token for token in VOCABULARY if token not in ban.forbidden(text)]
        if not open_:
            break
        text.append(chance.choice(open_))
    assert [gram for gram in banned(spans, n) if says(text, gram)] == []


@settings(deadline=None)
@given(SPANS, N, st.lists(st.sampled_from(VOCABULARY), max_size=6))
def test_exactly_what_would_end_a_banned_n_gram_is_forbidden(spans: list[list[int]], n: int, tail: list[int]) -> None:
    ends = {token for token in VOCABULARY if any((*tail, token)[-len(gram) :] == gram for gram in banned(spans, n))}
    assert Ban(spans, n).forbidden(tail) == ends


@settings(deadline=None)
@given(SPANS, N, st.lists(st.sampled_from(VOCABULARY), max_size=6))
def test_no_more_than_the_last_tokens_matter(spans: list[list[int]], n: int, tail: list[int]) -> None:
    ban = Ban(spans, n)
    assert ban.forbidden(tuple(tail)) == ban.forbidden(tail[len(tail) - min(n - 1, len(tail)) :])


def test_each_three_tokens_of_a_span_are_banned() -> None:
    ban = Ban([(1, 2, 3, 4), (9, 2, 3, 5)])
    assert ban.forbidden([1, 2]) == {3}
    assert ban.forbidden([0, 2, 3]) == {4, 5}
    assert ban.forbidden([2]) == ban.forbidden([]) == ban.forbidden([3, 2]) == set()


def test_a_short_span_is_banned_as_a_whole_and_a_single_token_everywhere() -> None:
    ban = Ban([(1, 2), (7,)])
    assert ban.forbidden([]) == {7}
    assert ban.forbidden([5, 1]) == {2, 7}


def test_a_short_tail_is_not_taken_for_a_short_span() -> None:
    """[1] is where (1, 2) begins; (0, 1, 2) has another token before."""
    assert Ban([(0, 1, 2)]).forbidden([1]) == set()
    assert Ban([(0, 1, 2), (1, 3)]).forbidden([1]) == {3}


@pytest.mark.parametrize("spans", [[], [[]], [[], ()]])
def test_nothing_is_banned_where_nothing_is_given(spans: list[Sequence[int]]) -> None:
    ban = Ban(spans)
    assert not ban
    assert ban.forbidden([1, 2]) == set()


def test_a_ban_on_something_is_true() -> None:
    assert Ban([[1]])


def test_no_more_than_the_limit_is_taken_and_the_rest_is_told() -> None:
    long = list(range(LIMIT - 2))
    ban = Ban([long, [-1, -2, -3, -4], [-5]])
    assert ban.left_out == 3
    assert ban.forbidden(long[-3:-1]) == {long[-1]}
    assert Ban([long, [-1, -2]]).left_out == 0
    assert Ban([long, [-1, -2]]).forbidden([-1]) == {-2}


def test_what_the_limit_cuts_off_does_not_become_a_short_span() -> None:
    """Else a token that merely happens to stand at the limit would be forbidden everywhere."""
    long = list(range(LIMIT - 1))
    for rest in ([-1, -2, -3, -4], [-1, -2]):
        ban = Ban([long, rest])
        assert ban.forbidden([]) == set()
        assert ban.forbidden([-1]) == ban.forbidden([-1, -2]) == set()


def test_however_much_is_given_little_is_kept() -> None:
    spans = [[*range(start, start + 50)] for start in range(0, 100_000, 50)]
    ban = Ban(spans, LONGEST)
    kept = [start for start in range(100_000) if ban.forbidden(range(start, start + LONGEST - 1))]
    assert 0 < len(kept) <= LIMIT
    assert ban.left_out == 100_000 - LIMIT
    assert max(kept) < LIMIT


@pytest.mark.parametrize("n", [0, -1, LONGEST + 1])
def test_an_n_that_makes_no_sense_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"n={n} must be from 1 to {LONGEST}"):
        Ban([[1]], n)
