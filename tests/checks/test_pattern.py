"""Reading regular expressions: what they match, what could still become a match, and what is refused."""

from __future__ import annotations

import itertools
import re

import pytest
import re2

from gateway.checks._pattern import MAX_WIDTH, translate

EXACT = [
    "ab",
    "a|ab",
    "ab|a",
    "abc?",
    "a?b",
    "(?:ab){1,2}",
    "a{2,3}",
    "a{1,3}b",
    "a{1,3}?b",
    "(a|b)c",
    "(?:a?b?c){1,2}",
    "a(?:b|ca)?c",
    "[ab]c",
    "[^a]b",
    "a.c",
    "(?:a|bc){2}",
    "(?:(?:a|b){1,2}c){1,2}",
    "a?b?c",
    "(?:a?){2}b",
    "(?:ab?|b){1,2}",
    "a{0}b",
    "(?:ab){0}c",
]
ANCHORED = [r"a$", r"a\b", r"\ba", r"a\Bb", r"(?m)^a$", r"\Aab", r"ab\Z", r"a\b b", r"(?:a\b)?b"]
REFUSED = {
    "a*": "say how many at most",
    "a+": "say how many at most",
    "a{3,}": "say how many at most",
    "a.*?b": "say how many at most",
    "(?:ab)+c": "say how many at most",
    "(?=a)b": "match the surroundings themselves",
    "(?<=a)b": "match the surroundings themselves",
    "(?!a)b": "use two rules, or a words check",
    "(?<!a)b": "use two rules, or a words check",
    r"(a)\1": "spell the alternatives out",
    "(?P<n>a)(?P=n)": "spell the alternatives out",
    "(a)?(?(1)b|c)": "spell the alternatives out",
    "(?>a)b": r"use \(\?:\.\.\.\)",
    "a?+b": r"drop the last \+",
    "": "ask for one character at least",
    "a?": "ask for one character at least",
    r"\b": "ask for one character at least",
    "a|b?": "ask for one character at least",
    "a{1001}": "use smaller counts",
    "(?:a{1,100}){1,100}": "use smaller counts",
    "a{99999999999}": "not a regular expression",
    r"[\Dx]": "list the characters meant",
    r"[^\W]": "list the characters meant",
    "(a": "not a regular expression",
    "[a": "not a regular expression",
    r"\8": "not a regular expression",
}


def texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(letters) for n in range(longest + 1) for letters in itertools.product(alphabet, repeat=n)]


def whole(expression: str, text: str) -> bool:
    return bool(re2.fullmatch(expression, text))


@pytest.mark.parametrize("source", EXACT)
def test_a_pattern_matches_what_python_says_it_matches(source: str) -> None:
    pattern = translate(source)
    for text in texts("abc", 5):
        assert whole(pattern.match, text) == bool(re.fullmatch(source, text)), text


@pytest.mark.parametrize("source", EXACT)
def test_alive_is_exactly_the_beginnings_of_matches_that_could_go_on(source: str) -> None:
    longest = 6
    matches = [text for text in texts("abc", longest) if re.fullmatch(source, text)]
    beginnings = {match[:n] for match in matches for n in range(1, len(match))}
    alive = translate(source).alive
    for text in texts("abc", longest - 1):
        assert bool(alive and whole(alive, text)) == (text in beginnings), text


@pytest.mark.parametrize("source", ANCHORED)
def test_an_anchor_waits_for_what_stands_behind_it(source: str) -> None:
    """If more text makes or breaks a match that begins in a text, the text's tail from there is alive."""
    pattern = translate(source)
    alive = re2.compile(pattern.alive) if pattern.alive else None
    for text, more in itertools.product(texts("ab \n", 3), ["a", "b", " ", "\n"]):
        now = {m.span() for m in re2.finditer(pattern.match, text)}
        then = {m.span() for m in re2.finditer(pattern.match, text + more)}
        changed = [start for start, _ in now ^ then if start < len(text)]
        first = alive.search(text) if alive else None
        assert all(first and first.start() <= start for start in changed), (text, more)


@pytest.mark.parametrize(("source", "told"), REFUSED.items())
def test_what_can_not_be_matched_in_bounded_time_and_space_is_refused_and_told_how_to_write(
    source: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        translate(source)


@pytest.mark.parametrize("depth", [50, 340, 400, 480, 3000])
def test_groups_in_groups_are_read_or_refused_however_deep(depth: int) -> None:
    """Never a RecursionError: that would end whoever loads the file."""
    try:
        pattern = translate("(" * depth + "a" + ")" * depth)
    except ValueError as fault:
        assert "not a regular expression" in str(fault)  # noqa: PT017 - either is right
    else:
        assert whole(pattern.match, "a")


def test_the_widest_pattern_that_is_allowed_is_read() -> None:
    assert whole(translate(f"a{{{MAX_WIDTH}}}").match, "a" * MAX_WIDTH)


def test_case_is_ignored_unless_it_matters() -> None:
    assert whole(translate("Straße").match, "sTRASSE".replace("SS", "ß"))
    assert not whole(translate("ab", ignore_case=False).match, "AB")
    assert whole(translate("(?i)ab", ignore_case=False).match, "AB")
    assert whole(translate("(?i:a)b", ignore_case=False).match, "Ab")
    assert not whole(translate("(?i:a)b", ignore_case=False).match, "AB")
    assert not whole(translate("a(?-i:b)").match, "AB")


@pytest.mark.parametrize(
    ("source", "yes", "no"),
    [
        (r"\d", "7７", "a七٣"),
        (r"\w", "aZ_é中カ한Ａｚ９", " -，。🙂"),
        (r"\s", " \t\n\v\u00a0\u3000\u2009", "a\u200b"),
        (r"\D", "a七 \n", "7７"),
        (r"\W", " -，。🙂", "a中９"),
        (r"\S", "a中🙂", " \u3000"),
        (r"[\d-]", "7７-", "a"),
        (r"[^\d]", "a ", "7７"),
        (r"[一-龥]", "中文", "aカ"),
        (".", "a🙂\0", "\n"),
        ("(?s).", "a🙂\0\n", ""),
        (r"\x00", "\0", "0"),
        (r"\.", ".", "a"),
        ("[^.]", "a\n", "."),
        ("[]^-]", "]^-", "a"),
    ],
)
def test_a_class_holds_what_its_readers_expect(source: str, yes: str, no: str) -> None:
    pattern = translate(source)
    assert [char for char in yes if not whole(pattern.match, char)] == []
    assert [char for char in no if whole(pattern.match, char)] == []


def test_a_word_boundary_is_seen_inside_chinese_text() -> None:
    assert re2.search(translate(r"\bbomb\b").match, "用bomb炸")
    assert not re2.search(translate(r"\bbomb\b").match, "bombastic")
