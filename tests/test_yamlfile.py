"""YAML with line numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Complaint, ConfigFault
from gateway.rules import RuleFile
from gateway.yamlfile import Document

RULES = """rules:
  - id: first
    side: output
    check: {type: words, words: [bomb]}
    action: block
    reason: R101
"""


def read(folder: Path, text: str) -> Any:
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    return Document(folder / "a.yaml").value


def complaints(folder: Path, text: str | bytes) -> list[Complaint]:
    """What is wrong with a file of rules."""
    path = folder / "a.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigFault) as caught:
        Document(path).into(RuleFile)
    assert {complaint.file for complaint in caught.value.complaints} == {path}
    return caught.value.complaints


def test_a_file_becomes_what_its_model_says(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(RULES, encoding="utf-8")
    assert Document(tmp_path / "a.yaml").into(RuleFile).rules[0].id == "first"


def test_an_empty_file_is_an_empty_block(tmp_path: Path) -> None:
    assert read(tmp_path, "") == {}
    assert read(tmp_path, "# nothing yet\n") == {}


@pytest.mark.parametrize(
    "word",
    [
        "on",
        "off",
        "yes",
        "no",
        "y",
        "n",
        "On",
        "NO",
        "0x1F",
        "0o17",
        "1_000",
        "12:30:45",
        "2020-01-01",
        ".inf",
        "=",
        "<<",
    ],
)
def test_a_word_that_only_yaml_1_1_reads_otherwise_stays_a_text(tmp_path: Path, word: str) -> None:
    assert read(tmp_path, f"a: {word}\n") == {"a": word}
    assert read(tmp_path, f"[{word}, x]\n") == [word, "x"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("'1'", "1"),
        ('"true"', "true"),
    ],
)
def test_plain_values_are_what_yaml_1_2_says(tmp_path: Path, word: str, value: object) -> None:
    assert read(tmp_path, f"a: {word}\n") == {"a": value}


def test_words_as_keys_stay_words(tmp_path: Path) -> None:
    assert read(tmp_path, "on: 1\nno: 2\n") == {"on": 1, "no": 2}


def test_a_key_that_stands_twice_is_told_where(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES + "    reason: R102\n")
    assert (told.line, told.field) == (7, "reason")
    assert "stands twice" in told.problem


def test_a_wrong_value_is_told_with_its_line_and_place(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("action: block", "action: explode"))
    assert (told.line, told.field) == (5, "rules.0.action")
    assert "explode" in told.problem


def test_an_unknown_field_is_told_on_its_own_line(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES + "    acton: block\n")
    assert (told.line, told.field) == (7, "rules.0.acton")
    assert "no such field" in told.problem
    assert "typing error" in told.fix


def test_a_missing_field_is_told_where_it_is_missing(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("    reason: R101\n", ""))
    assert (told.line, told.field) == (2, "rules.0.reason")
    assert told.problem == "this field is missing"


@pytest.mark.parametrize(("typed", "meant"), [("wrods", "words"), ("regexp", "regex"), ("lenght", "length")])
def test_a_mistyped_kind_of_check_is_told_what_was_meant(tmp_path: Path, typed: str, meant: str) -> None:
    (told,) = complaints(tmp_path, RULES.replace("type: words", f"type: {typed}"))
    assert told.line == 4
    assert f"unknown type '{typed}'" in told.problem
    assert told.fix == f"did you mean `{meant}`?"


def test_a_kind_of_check_like_none_is_told_which_there_are(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("type: words", "type: zzz"))
    assert "pii, regex, repeat" in told.fix


def test_a_check_without_a_kind_is_told(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("type: words, ", ""))
    assert told.line == 4


def test_a_field_of_a_check_is_told_without_steps_that_do_not_stand_in_the_file(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("words: [bomb]", "words: [bomb, [1]]"))
    assert (told.line, told.field) == (4, "rules.0.check.words.1")


def test_what_a_check_itself_refuses_is_told_with_its_fix(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, RULES.replace("{type: words, words: [bomb]}", "{type: regex, pattern: 'a*'}"))
    assert told.field == "rules.0.check.pattern"
    assert "without bound" in told.problem
    assert told.fix.startswith("say how many at most")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = RULES.replace("side: output", "side: sideways").replace("R101", "101").replace("id: first", "id: First")
    assert [told.line for told in complaints(tmp_path, text)] == [2, 3, 6]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("rules: [", 1),
        ("rules:\n  - id: 'half", 2),
        ("rules:\n\t- id: x", 2),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: *nobody\n", 1),
        ("rules:\n- a\n b: 1\n", 3),
        ("? [a]\n: b\n", 1),
        ("a: !!python/name:os.system x\n", 1),
        ("a: \0b\n", None),
        ("[" * 50_000, None),
    ],
)
def test_half_a_file_is_told_and_where_it_breaks(tmp_path: Path, text: str, line: int | None) -> None:
    (told,) = complaints(tmp_path, text)
    assert told.fix
    if line:
        assert told.line in (line, line + 1)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: *a}\n"])
def test_what_stands_within_itself_is_told(tmp_path: Path, text: str) -> None:
    (told,) = complaints(tmp_path, text)
    assert told.problem == "nested without end"


@pytest.mark.parametrize(("tag", "word"), [("int", "abc"), ("float", "x"), ("bool", "zz"), ("timestamp", "x")])
def test_a_tag_that_does_not_fit_is_told(tmp_path: Path, tag: str, word: str) -> None:
    (told,) = complaints(tmp_path, f"a: !!{tag} {word}\n")
    assert (told.line, told.problem) == (1, f"tag:yaml.org,2002:{tag} is not what stands there")


def test_an_anchor_is_what_it_stands_for(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x [1]\nb: *x\n") == {"a": [1], "b": [1]}


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match=r"none\.yaml: there is no such file -> create it"):
        Document(tmp_path / "none.yaml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="can't be read"):
        Document(tmp_path)


def test_what_is_no_utf8_is_told(tmp_path: Path) -> None:
    (told,) = complaints(tmp_path, "rules: 炸弹".encode("gb18030"))
    assert "UTF-8" in told.fix


def test_a_file_that_is_no_block_of_fields_is_told(tmp_path: Path) -> None:
    for text in ("- a\n- b\n", "just words\n", "3\n"):
        (told,) = complaints(tmp_path, text)
        assert told.line == 1
