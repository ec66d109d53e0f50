"""`type: json`."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.anchors import choose
from gateway.anchors._edges import joined
from gateway.anchors.json import closing
from tests.anchors.sight import kept, kind, shown
from tests.anchors.test_machine import DOCUMENTS

VALUE, WORD = kind("json"), kind("json", mode="word")
WHOLE = kind("json", mode="word", whole=True)


@pytest.mark.long
@settings(max_examples=300)
@given(DOCUMENTS, st.data(), st.sampled_from([VALUE, WORD, WHOLE]))
def test_what_is_kept_can_become_json(document: str, data: st.DataObject, anchor: object) -> None:
    finding = data.draw(st.integers(0, len(document)))
    frontier = data.draw(st.integers(0, finding))
    position, name = choose([anchor], document, finding, frontier)  # type: ignore[list-item]
    assert frontier <= position <= finding
    if name == "json":
        prefix = document[:position]
        assert not joined(document, position)
        json.loads(prefix + closing(prefix))
        if "\\ud" not in document:
            orjson.loads(prefix + closing(prefix))


@pytest.mark.parametrize(
    "text",
    [
        '{|"a": 1|, "b": "x. Y"|}|\nDone',
        "Here:\n[|1|, 2|]| and so on",
        'Here:\n```json\n  {|"a": [|]|}|\n```\n',
        '{|"a": 1|}|\n{|"b": 2|}|\n',
        "[link](http://x) and {braces} and [1] too",
        "{not json}\n",
        "text [1, 2]",
    ],
)
def test_values_in_prose(text: str) -> None:
    assert shown(VALUE, text.replace("|", "")) == text


def test_nothing_else_cuts_inside_of_json() -> None:
    text = '{"a": "Good. Fine. EVIL"}'
    assert kept([kind("sentence"), VALUE], text, "EVIL") == ("{", "json")
    assert kept([kind("sentence"), WORD], text, "EVIL") == ('{"a": "Good. Fine.', "sentence")
    assert kept([kind("word"), VALUE], '{"a": 1, "b": "x EVIL"}', "EVIL") == ('{"a": 1', "json")


def test_an_array_is_no_open_link() -> None:
    text = '[{"a": "*x_ [y"}, {"b": EVIL}]'
    assert kept([kind("markdown"), VALUE], text, "EVIL") == ('[{"a": "*x_ [y"}, {', "json")


def test_keys_stay_whole() -> None:
    assert kept([WORD], '{"good": 1, "very EVIL key": 2}', "EVIL") == ('{"good": 1', "json")


def test_prose_behind_a_value_is_prose() -> None:
    assert kept([kind("sentence"), VALUE], '{"a": 1}\nGood. EVIL', "EVIL") == ('{"a": 1}\nGood.', "sentence")


def test_behind_what_is_no_json_any_more_nothing_is_safe() -> None:
    text = '{"a": 1, oops. Well. EVIL'
    assert kept([kind("sentence"), VALUE], text, "EVIL") == ('{"a": 1', "json")


def test_brackets_in_prose_are_no_json() -> None:
    assert kept([kind("sentence"), VALUE], "[Note. Well] Good. EVIL", "EVIL") == ("[Note. Well] Good.", "sentence")


def test_arguments_of_a_tool_call_are_json_and_nothing_else() -> None:
    assert kept([WHOLE], '{"city": "San EVIL', "EVIL") == ('{"city": "San', "json")
    assert kept([kind("sentence"), WHOLE], "{oops. Well. EVIL", "EVIL") == ("{", "json")
    assert kept([kind("sentence"), WHOLE], '{"a": 1} Good. EVIL', "EVIL") == ('{"a": 1}', "json")
    assert kept([WHOLE], '"one two EVIL', "EVIL") == ('"one two', "json")


def test_json_in_a_markdown_block_can_be_cut() -> None:
    text = 'Here. So:\n```json\n{\n  "a": 1,\n  "b": EVIL\n'
    for anchors in ([kind("markdown"), VALUE], [kind("markdown"), kind("code"), VALUE]):
        assert kept(anchors, text, "EVIL") == ('Here. So:\n```json\n{\n  "a": 1', "json")


def test_a_half_pair_is_no_place() -> None:
    text = '["x \\ud83d\\ude00 y"]'
    for position in WORD.anchors(text, 0, len(text)):
        orjson.loads(text[:position] + closing(text[:position]))
