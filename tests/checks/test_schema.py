"""`type: schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.checks.schema import Plug
from gateway.types import View
from tests.sight import check, spans

AGE = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
LOOKING = check("schema", json_schema=AGE)


@pytest.mark.parametrize(
    "text",
    [
        '{"age": 3}',
        ' {"age": 0, "more": "炸"}\n',
        '```json\n{"age": 3}\n```',
        '```\n{"age": 3}\n```',
        '\n```json \n{"age":3}\n``` ',
    ],
)
def test_an_answer_that_fits_is_let_alone(text: str) -> None:
    assert spans(LOOKING, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{}",
        '{"age": -1}',
        '{"age": "3"}',
        '{"age": 3',
        "{'age': 3}",
        '{"age": NaN}',
        '{"age": Infinity}',
        'Here it is: {"age": 3}',
        '{"age": 3} {"age": 3}',
        '```json\n{"age": 3}',
        '```json\n{"age": 3}\n```\nDone.',
        "3",
        "\0",
        "[" * 100_000,
        "🙂",
    ],
)
def test_an_answer_that_does_not_fit_is_found_whole(text: str) -> None:
    assert spans(LOOKING, text) == [(0, len(text))]


def test_fences_can_be_forbidden() -> None:
    assert spans(check("schema", json_schema=AGE, allow_fence=False), '```json\n{"age": 3}\n```') != []


def test_it_can_only_say_so_at_the_end_and_holds_everything_until_then() -> None:
    assert LOOKING.look(View('{"age": "3"}', final=False)) == ([], 0)


def test_a_schema_can_stand_in_a_file_beside_the_rules(tmp_path: Path) -> None:
    (tmp_path / "age.json").write_text(json.dumps(AGE), encoding="utf-8")
    looking = Plug.model_validate({"file": "age.json"}, context={"folder": tmp_path})
    assert spans(looking, '{"age": 3}') == []
    assert spans(looking, "{}") != []


def test_a_file_that_is_not_there_or_no_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"type": ', encoding="utf-8")
    for name in ("none.json", "half.json"):
        with pytest.raises(ValidationError, match="can't read the schema"):
            Plug.model_validate({"file": name}, context={"folder": tmp_path})


@pytest.mark.parametrize("fields", [{}, {"json_schema": AGE, "file": "age.json"}])
def test_the_schema_is_given_in_exactly_one_way(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="give either `json_schema` or `file`"):
        check("schema", **fields)


def test_what_is_no_schema_is_refused_and_the_place_is_told() -> None:
    with pytest.raises(ValidationError, match=r"not a JSON Schema: at \$\.type"):
        check("schema", json_schema={"type": "objekt"})


def test_a_megabyte_of_json_is_read() -> None:
    text = json.dumps({"age": 3, "more": ["炸弹🙂"] * 100_000}, ensure_ascii=False)
    assert spans(LOOKING, text) == []
    assert spans(LOOKING, text[:-1]) != []
