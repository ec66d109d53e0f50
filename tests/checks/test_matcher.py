"""Many patterns in one pass."""

from __future__ import annotations

import pytest

from gateway.checks._matcher import Matcher
from gateway.checks._pattern import translate


def matcher(*sources: str) -> Matcher:
    return Matcher([translate(source) for source in sources])


def test_it_names_the_patterns_that_match_and_those_that_still_could() -> None:
    assert matcher("abc", "bcd", "xyz").suspects("abc") == ([0], [1])


def test_nothing_suspicious_is_an_empty_answer() -> None:
    assert not any(matcher("abc", "xyz").suspects("q"))


def test_a_single_character_is_never_waited_for() -> None:
    """One that needs nothing behind it is a match or none; what does not match now never will."""
    found = matcher("a")
    assert found.suspects("a")[0] == [0]
    assert found.tail(0, "a", 0) == 1


def test_spans_are_in_characters_not_in_bytes() -> None:
    found = matcher("炸弹", "b🙂")
    assert list(found.spans(0, "é🙂炸弹炸弹", 0)) == [(2, 4), (4, 6)]
    assert list(found.spans(1, "a\u0301b🙂", 0)) == [(2, 4)]


def test_spans_begin_at_the_place_asked_for_and_see_what_stands_before_it() -> None:
    found = matcher(r"\bab", "aa")
    assert list(found.spans(0, "xab ab", 1)) == [(4, 6)]
    assert list(found.spans(1, "aaaa", 1)) == [(1, 3)]


def test_the_tail_is_the_leftmost_beginning_of_a_match_that_reaches_the_end() -> None:
    found = matcher("ab?c?d", "xy")
    assert found.tail(0, "zzab", 0) == 2
    assert found.tail(0, "zzabab", 3) == 4
    assert found.tail(0, "abz", 0) == 3
    assert found.tail(1, "🙂x", 0) == 1


def test_a_nul_is_a_character_like_any_other() -> None:
    assert list(matcher(r"a\x00b").spans(0, "\0a\0b", 0)) == [(1, 4)]


def test_a_pattern_too_large_for_its_memory_is_refused_with_a_way_out() -> None:
    huge = translate(r"(?:[一-龥\w\s]{1,10}x[\w\u0400-\u04ff]{1,10}){1,45}")
    with pytest.raises(ValueError, match="smaller"):
        Matcher([huge] * 2000)


@pytest.mark.long
def test_a_set_that_runs_out_of_memory_at_work_never_says_that_nothing_matches() -> None:
    """RE2 answers "nothing" then; whatever the size, what is built also finds."""
    wide = translate(r"needle|[一-龥\w]{1,200}x[\w\u0400-\u04ff]{1,200}y")
    for count in (1, 8, 12, 16, 64):
        try:
            found = Matcher([wide] * count)
            matching, _ = found.suspects("a needle")
        except (ValueError, MemoryError):
            return
        assert sorted(matching) == list(range(count))
    pytest.fail("no set was ever too large: this test tries too little")
