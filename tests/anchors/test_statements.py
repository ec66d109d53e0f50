"""Whether a statement ends with a line."""

from __future__ import annotations

import pytest

from gateway.anchors._statements import Statements, family


def ends(language: str, source: str) -> list[bool]:
    code = Statements(family(language))
    return [code.line(line) for line in source.split("\n")]


@pytest.mark.parametrize(
    ("language", "source", "wanted"),
    [
        ("python", "x = 1\ny = f(\n    x,\n)\nz = [1,\n2]", [1, 0, 0, 1, 0, 1]),
        ("python", "d = {\n'a': 1\n}", [0, 0, 1]),
        ("python", 's = """a\nb (\n"""\nx = 1', [0, 0, 1, 1]),
        ("python", "x = 1  # open ( here\ny = 'it(s'\nz = 1 + \\\n  2", [1, 1, 0, 1]),
        ("python", "x = 'broken\ny = 1", [0, 1]),
        ("python", "x = 7 // 2\ny = 1", [1, 1]),
        ("js", "function f() {\n  return g(1,\n    2);\n}", [1, 0, 1, 1]),
        ("js", "const s = `a\nb {(`;\nlet y = 1; // it's (", [0, 1, 1]),
        ("c", "/* it's\n ( */\nint x = 1;\nx +=\n 2;", [0, 1, 1, 0, 1]),
        ("sql", "SELECT a -- it's (\nFROM t\nWHERE x IN (1,\n2);", [1, 1, 0, 1]),
        ("bash", "echo 'a\nb'\nls # don't\nif x; then", [0, 1, 1, 1]),
        ("", "x = 1\ny = (\n1)", [1, 0, 1]),
        ("rust", "fn f<'a>(x: &'a str) {\n  g(x);", [1, 1]),
    ],
)
def test_lines_that_end_a_statement(language: str, source: str, wanted: list[int]) -> None:
    assert ends(language, source) == [bool(flag) for flag in wanted]


def test_a_bracket_too_many_closes_nothing() -> None:
    assert ends("js", "}\n)\nf();") == [True, True, True]


def test_deep_nesting_is_read_in_one_pass() -> None:
    assert not any(ends("python", "(\n" * 20_000)[:-1])
