"""JSON, as far as it has come."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.anchors._machine import Machine, Mode, closing

TEXTS = st.text(st.sampled_from('ab 好。"\\/\n\té\u0301🙂\u200d'), max_size=12) | st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.builds(
    lambda value, indent, ascii_: json.dumps(value, indent=indent, ensure_ascii=ascii_),
    VALUES,
    st.sampled_from([None, 2]),
    st.booleans(),
)


@pytest.mark.long
@settings(max_examples=300)
@given(DOCUMENTS, st.data())
def test_any_beginning_of_a_document_can_be_closed(document: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(document)))
    json.loads(document[:cut] + closing(document[:cut]))
    assert closing(document) == ""


@settings(max_examples=200)
@given(DOCUMENTS, st.lists(st.integers(1, 7), min_size=1, max_size=5), st.booleans())
def test_pieces_make_no_difference(document: str, sizes: list[int], words: bool) -> None:
    at_once, in_pieces = Machine(words=words), Machine(words=words)
    at_once.feed(document)
    rest = document
    number = 0
    while rest:
        size = sizes[number % len(sizes)]
        in_pieces.feed(rest[:size])
        rest = rest[size:]
        number += 1
    assert in_pieces.marks == at_once.marks
    assert in_pieces.closing() == at_once.closing() == ""


def marked(text: str, words: bool = False) -> str:
    machine = Machine(words=words)
    machine.feed(text)
    places = [0, *machine.marks, len(text)]
    return "|".join(text[start:end] for start, end in pairwise(places))


@pytest.mark.parametrize(
    "text",
    [
        '{|"a": 12|, "b": [|1|, true|, {|}|]|}|',
        '[|"a b"|, -1.5e3| ]|',
        '{|"a": "half',
        '{|"a": 1',
        "[|nul",
    ],
)
def test_places_to_cut_at(text: str) -> None:
    assert marked(text.replace("|", "")) == text


@pytest.mark.parametrize(
    "text",
    [
        '{|"a b": "one| two"|}|',
        '[|"年|费|300|元"|]|',
        '[|"a\\n|b| c\\"d| e"|]|',
        '[|"x\\u4f60y| z"|]|',
    ],
)
def test_places_inside_of_strings(text: str) -> None:
    assert marked(text.replace("|", ""), words=True) == text


@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        ("", "0"),
        ("{", "}"),
        ("[", "]"),
        ("[1,", "0]"),
        ('{"a"', ":0}"),
        ('{"a', '":0}'),
        ('{"a":', "0}"),
        ('{"a":1,', '"":0}'),
        ('["x\\', '\\"]'),
        ('["\\u00', '00"]'),
        ('["\\ud83d', '\\udc00"]'),
        ('["\\ud83d\\', 'udc00"]'),
        ('["\\ud83d\\ud', 'c00"]'),
        ('["\\ud83d\\ude00', '"]'),
        ('["\\ud8', '00\\udc00"]'),
        ('["\\u', '0000"]'),
        ("-", "0"),
        ("[1.", "0]"),
        ("[1e", "0]"),
        ("[1e+", "0]"),
        ("[12", "]"),
        ("[tr", "ue]"),
        ("n", "ull"),
        ('[{"a":[', "]}]"),
        (' {"a": 1} \n', ""),
    ],
)
def test_the_shortest_close(prefix: str, rest: str) -> None:
    assert closing(prefix) == rest
    orjson.loads(prefix + rest)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "{a",
        "{1",
        "[1 2",
        '{"a" 1',
        "[,",
        "[1,]",
        '{"a":1,}',
        "[01",
        "[1.x",
        "[-x",
        '["\\x',
        '["\\u00g',
        '["a\n',
        "[tx",
        "1 2",
        "}",
        "[}",
        '{"a":1]',
        "[1}",
    ],
)
def test_what_is_no_json_can_t_be_closed(text: str) -> None:
    with pytest.raises(ValueError, match="no beginning"):
        closing(text)


@given(st.text(st.sampled_from('{}[]:,"\\u0d19aetrfnl.+-e \n'), max_size=14))
def test_the_machine_and_the_library_agree_on_what_json_is(text: str) -> None:
    machine = Machine()
    stopped = machine.feed(text + "\n")
    whole = machine.mode is Mode.END and not (text + "\n")[stopped:].strip(" \t\r\n")
    assert whole == readable(text)


def readable(text: str) -> bool:
    def refuse(name: str) -> Any:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True
