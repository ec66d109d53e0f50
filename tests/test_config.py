"""gateway.yaml and what it names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gateway.config import House, Source, build, schemas
from gateway.errors import Complaint, ConfigFault
from gateway.keys import hashed
from tests.rig import REASONS, regex, rule, write_config

URL = "http://127.0.0.1:1"


def house(folder: Path, rules: list[dict[str, Any]] | None = None, **fields: Any) -> House:
    return build(Source(write_config(folder, [URL], rules or [], **fields)))


def complaints(of: Callable[[], House]) -> list[Complaint]:
    with pytest.raises(ConfigFault) as caught:
        of()
    return caught.value.complaints


def change(folder: Path, name: str, **fields: Any) -> Source:
    """Other fields for one of the files."""
    path = folder / name
    value = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(yaml.safe_dump({**value, **fields}, allow_unicode=True), encoding="utf-8")
    return Source(folder / "gateway.yaml")


def test_files_become_a_house(tmp_path: Path) -> None:
    made = house(tmp_path, [regex("bomb")])
    assert list(made.rules) == ["output.regex"]
    assert made.reasons["R101"].message["zh"] == "此内容不可。"
    assert made.file.backends[0].name == "up"
    assert not made.keys


def test_the_files_that_were_read_are_watched(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("bomb\n", encoding="utf-8")
    made = house(tmp_path, [rule({"type": "words", "file": "list.txt"})])
    assert {path.name for path in made.watched} == {"gateway.yaml", "rules.yaml", "reasons.yaml", "list.txt"}


@pytest.mark.parametrize("name", ["gateway.yaml", "rules.yaml", "reasons.yaml", "list.txt"])
def test_the_revision_is_another_when_any_file_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "list.txt").write_text("bomb\n", encoding="utf-8")
    before = house(tmp_path, [rule({"type": "words", "file": "list.txt"})]).revision
    source = Source(tmp_path / "gateway.yaml")
    assert build(source).revision == before
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write("\n# another comment\n")
    assert build(source).revision != before


def test_rules_are_read_from_many_files_in_order(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [])
    for name in ("b", "a"):
        change(tmp_path, f"pack-{name}.yaml", rules=[regex("x", id=name)])
    assert list(build(change(tmp_path, "gateway.yaml", rules=["pack-*.yaml"])).rules) == ["a", "b"]


def test_a_reason_code_that_is_not_defined_is_told_with_those_that_are(tmp_path: Path) -> None:
    (told,) = complaints(lambda: house(tmp_path, [regex("x", reason="R999")]))
    assert (told.file.name, told.field, told.problem) == ("rules.yaml", "rules.0.reason", "R999 is not defined")
    assert told.line
    assert "R101, R102" in told.fix


def test_an_id_that_stands_in_two_files_is_told_with_the_other(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [regex("x", id="same")])
    change(tmp_path, "more.yaml", rules=[regex("y", id="same")])
    (told,) = complaints(lambda: build(change(tmp_path, "gateway.yaml", rules=["rules.yaml", "more.yaml"])))
    assert (told.file.name, told.field) == ("more.yaml", "rules.0.id")
    assert "rules.yaml too" in told.problem


def test_the_reason_for_broken_checks_must_be_there(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [])
    reasons = {code: entry for code, entry in REASONS.items() if code != "R900"}
    (told,) = complaints(lambda: build(change(tmp_path, "reasons.yaml", reasons=reasons)))
    assert "R900 is missing" in told.problem


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.com"])
def test_a_host_that_others_can_reach_needs_a_key(tmp_path: Path, host: str) -> None:
    (told,) = complaints(lambda: house(tmp_path, listen={"host": host}))
    assert told.field == "listen.host"
    assert "`retrace key`" in told.fix
    change(tmp_path, "tiers.yaml", keys=[{"hash": hashed("k"), "tenant": "acme"}])
    made = build(change(tmp_path, "gateway.yaml", tiers="tiers.yaml"))
    assert made.keys.principal("k").tenant == "acme"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_local_machine_needs_none(tmp_path: Path, host: str) -> None:
    assert house(tmp_path, listen={"host": host}).file.listen.host == host


def test_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    path = write_config(tmp_path, [URL], [])
    made = build(Source(path, "localhost", "http://127.0.0.1:9/v1"))
    assert made.file.listen.host == "localhost"
    (backend,) = made.file.backends
    assert (backend.type, backend.model_dump()["urls"]) == ("vllm", ("http://127.0.0.1:9",))


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("gateway.yaml", {"reasons": "none.yaml"}),
        ("gateway.yaml", {"tiers": "none.yaml"}),
        ("gateway.yaml", {"rules": ["none.yaml"]}),
        ("gateway.yaml", {"refine": "none.yaml"}),
    ],
)
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str, fields: dict[str, Any]) -> None:
    write_config(tmp_path, [URL], [])
    (told,) = complaints(lambda: build(change(tmp_path, name, **fields)))
    assert "none.yaml" in str(told)
    assert "create it" in told.fix


def test_the_main_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    (told,) = complaints(lambda: build(Source(tmp_path / "gateway.yaml")))
    assert "there is no such file" in told.problem


def test_a_house_knows_what_is_captured_and_on_what_terms(tmp_path: Path) -> None:
    assert house(tmp_path).terms.capture == "rejected"
    reasons = {**REASONS, "R101": {**REASONS["R101"], "inject": {"mode": "splice"}}}
    change(tmp_path, "reasons.yaml", reasons=reasons)
    terms = build(change(tmp_path, "gateway.yaml", retrace={"capture": "all"})).terms
    assert terms.capture == "all"
    assert (terms.policy("R101").mode, terms.policy("R102").mode) == ("splice", "prefix")


def test_a_policy_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [])
    reasons = {**REASONS, "R101": {**REASONS["R101"], "inject": {"mode": "mask"}}}
    (told,) = complaints(lambda: build(change(tmp_path, "reasons.yaml", reasons=reasons)))
    assert told.field == "reasons.R101.inject.mode"
    assert told.line
    assert "write `prefix` or `splice`" in told.fix


@pytest.mark.parametrize("pattern", ["", ".", "/etc/hostname", "/none/*.yaml", "..", "**", "[", "a\0b"])
def test_a_file_name_that_is_none_is_told(tmp_path: Path, pattern: str) -> None:
    write_config(tmp_path, [URL], [])
    assert complaints(lambda: build(change(tmp_path, "gateway.yaml", rules=[pattern])))


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [regex("x", reason="R999"), regex("y", id="b", reason="R998")])
    (tmp_path / "half.yaml").write_text("rules: [", encoding="utf-8")
    change(tmp_path, "odd.yaml", rules=[regex("a*", id="Odd")])
    files = ["rules.yaml", "half.yaml", "odd.yaml", "none.yaml"]
    told = complaints(lambda: build(change(tmp_path, "gateway.yaml", rules=files, listen={"host": "0.0.0.0"})))
    assert sorted({complaint.file.name for complaint in told}) == [
        "gateway.yaml",
        "half.yaml",
        "odd.yaml",
        "rules.yaml",
    ]
    assert len(told) == 7


@pytest.mark.parametrize(
    "fields",
    [
        {"backends": []},
        {"backends": [{"name": "x", "type": "vllm", "urls": ["ftp://x"]}]},
        {"backends": [{"name": "x", "type": "vllm", "urls": ["http://u:p@x"]}]},
        {"backends": [{"name": "x", "type": "vlm", "urls": [URL]}]},
        {"listen": {"port": 70000}},
        {"limits": {"body_bytes": 1}},
        {"lissten": {}},
        {"retrace": {"capture": "some"}},
    ],
)
def test_a_main_file_that_makes_no_sense_is_told_with_a_line(tmp_path: Path, fields: dict[str, Any]) -> None:
    write_config(tmp_path, [URL], [])
    told, *_ = complaints(lambda: build(change(tmp_path, "gateway.yaml", **fields)))
    assert told.file.name == "gateway.yaml"
    assert told.line


@pytest.mark.parametrize("backend", [{"type": "vllm", "urls": ["ftp://x"]}, {"type": "vlm", "urls": [URL]}])
def test_one_thing_that_is_wrong_is_told_once(tmp_path: Path, backend: dict[str, Any]) -> None:
    write_config(tmp_path, [URL], [])
    assert len(complaints(lambda: build(change(tmp_path, "gateway.yaml", backends=[{"name": "x", **backend}])))) == 1


def test_an_address_s_password_is_never_repeated(tmp_path: Path) -> None:
    backend = {"name": "x", "type": "vllm", "urls": ["http://u:hunter2@x"]}
    write_config(tmp_path, [URL], [])
    told = complaints(lambda: build(change(tmp_path, "gateway.yaml", backends=[backend])))
    assert "hunter2" not in "\n".join(map(str, told))


@pytest.mark.parametrize("entry", [{"hash": "rtk-hunter2"}, {"hash": ["rtk-hunter2"]}, {"key": "rtk-hunter2"}])
def test_a_key_written_where_its_hash_belongs_is_never_repeated(tmp_path: Path, entry: dict[str, Any]) -> None:
    """What is told stands on stderr, in logs and on /readyz."""
    write_config(tmp_path, [URL], [])
    change(tmp_path, "tiers.yaml", keys=[{"tenant": "acme", **entry}])
    told = complaints(lambda: build(change(tmp_path, "gateway.yaml", tiers="tiers.yaml")))
    assert "hunter2" not in "\n".join(map(str, told))


def test_a_house_refines_if_its_file_says_how(tmp_path: Path) -> None:
    assert house(tmp_path).refine is None
    change(tmp_path, "refine.yaml", delivery="hold", backend="up", degraded={"tags": {"zh": "〔待核〕"}})
    made = build(change(tmp_path, "gateway.yaml", refine="refine.yaml"))
    assert made.refine is not None
    assert (made.refine.delivery, made.refine.backend, made.refine.degraded.tags.zh) == ("hold", "up", "〔待核〕")
    assert made.folder == tmp_path
    assert tmp_path / "refine.yaml" in made.watched
    change(tmp_path, "refine.yaml", bill=True)
    again = build(Source(tmp_path / "gateway.yaml"))
    assert again.revision != made.revision
    assert again.refine is not None
    assert again.refine.bill


@pytest.mark.parametrize("known", [["up"], ["one", "two"]])
def test_a_backend_that_is_to_read_and_is_none_is_told_with_its_line(tmp_path: Path, known: list[str]) -> None:
    write_config(tmp_path, [URL], [])
    backends = [{"name": name, "type": "openai", "urls": [URL]} for name in known]
    (tmp_path / "refine.yaml").write_text("delivery: live\n# 谁来核对\nbackend: reader\n", encoding="utf-8")
    (told,) = complaints(lambda: build(change(tmp_path, "gateway.yaml", refine="refine.yaml", backends=backends)))
    assert (told.file.name, told.line, told.field) == ("refine.yaml", 3, "backend")
    assert "reader" in told.problem
    assert all(name in told.fix for name in known)


def test_the_command_line_s_backend_is_the_only_one_that_can_read(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [])
    change(tmp_path, "refine.yaml", backend="up")
    source = change(tmp_path, "gateway.yaml", refine="refine.yaml")
    (told,) = complaints(lambda: build(source._replace(backend=URL)))
    assert told.field == "backend"


@pytest.mark.parametrize("text", ["", "# delivery: hold\n", "delivery: [\n", "delivery: later\n", "- hold\n"])
def test_a_refine_file_that_makes_no_sense_is_told(tmp_path: Path, text: str) -> None:
    write_config(tmp_path, [URL], [])
    (tmp_path / "refine.yaml").write_text(text, encoding="utf-8")
    told, *_ = complaints(lambda: build(change(tmp_path, "gateway.yaml", refine="refine.yaml")))
    assert told.file.name == "refine.yaml"


@pytest.mark.long
def test_rules_that_are_too_large_together_are_told(tmp_path: Path) -> None:
    huge = r"[一-龥\w]{1,200}x[\w\u0400-\u04ff]{1,200}y"
    (told,) = complaints(lambda: house(tmp_path, [regex(f"{huge}{n}", id=f"r{n}") for n in range(20)]))
    assert "smaller" in str(told)


@pytest.mark.parametrize("name", sorted(schemas()))
def test_each_kind_of_file_has_a_schema(name: str) -> None:
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_the_schemas_take_what_the_gateway_takes(tmp_path: Path) -> None:
    write_config(tmp_path, [URL], [regex("x", when={"model": "m", "role": ["user"]})])
    for name, file in (("gateway", "gateway.yaml"), ("rules", "rules.yaml"), ("reasons", "reasons.yaml")):
        value = yaml.safe_load((tmp_path / file).read_text(encoding="utf-8"))
        jsonschema.validate(value, schemas()[name])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"rules": [{"id": "x"}]}, schemas()["rules"])
