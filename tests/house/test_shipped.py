"""The files that are shipped are sound: they make a house, every reason is defined, every file names its schema."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from gateway.config import House, schemas
from gateway.rules import BROKEN
from tests.house.shipped import PACKS, RULES, switched_on

WRITTEN = {"policies.yaml", "tuned.yaml"}  # by a gateway that has run from here
FILES = sorted({*RULES.glob("*.yaml"), *RULES.glob("packs/*/*.yaml")} - {RULES / name for name in WRITTEN})
RULE_FILES = [path for path in FILES if path.name in ("input.yaml", "output.yaml") or path.parent != RULES]


class TestHouse:
    def test_the_shipped_files_make_a_house_without_packs(self, core: House) -> None:
        assert {name.split(".")[0] for name in core.rules} == {"input", "output"}
        (backend,) = [spec.model_dump() for spec in core.file.backends]
        assert (backend["name"], backend["type"], backend["urls"]) == ("local", "vllm", ("http://127.0.0.1:8000",))
        assert (core.file.listen.host, core.file.listen.port) == ("127.0.0.1", 8080)
        assert not core.keys

    @pytest.mark.parametrize("pack", PACKS)
    def test_each_pack_is_switched_on_by_its_line(self, tmp_path: Path, pack: str) -> None:
        house = switched_on(tmp_path, pack)
        assert {name.split(".")[0] for name in house.rules} == {"input", "output", pack}

    def test_every_rule_says_why_it_exists(self, full: House) -> None:
        assert [rule.id for rule in full.rules.values() if len(rule.about) < 20] == []

    def test_words_of_a_rule_come_in_both_languages(self, full: House) -> None:
        told = [rule.message for rule in full.rules.values() if rule.message]
        assert told
        assert all(set(message) == {"en", "zh"} for message in told)

    def test_rules_of_distress_answer_with_help(self, full: House) -> None:
        for name in ("input.crisis.method", "education.distress"):
            rule = full.rules[name]
            words = rule.message or full.reasons[rule.reason].message
            assert rule.respond == "answer"
            assert "12356" in words["zh"]
            assert "988" in words["en"]


class TestReasons:
    def test_every_reason_that_is_used_is_defined(self, full: House) -> None:
        assert {rule.reason for rule in full.rules.values()} <= set(full.reasons)

    def test_every_reason_speaks_both_languages(self, core: House) -> None:
        for reason in core.reasons.values():
            assert set(reason.message) == {"en", "zh"}
            assert reason.message["en"].isascii()
            assert re.search(r"[\u4e00-\u9fff]", reason.message["zh"])

    def test_names_are_ascii_and_given_once(self, core: House) -> None:
        names = [reason.name for reason in core.reasons.values()]
        assert all(name.isascii() for name in names)
        assert len(set(names)) == len(names)

    @pytest.mark.parametrize(
        ("code", "name", "status"),
        [
            ("R101", "sensitive.content", 400),
            ("R203", "factual.error", 400),
            ("R307", "format.violation", 400),
            (BROKEN, "guard.broken", 503),
        ],
    )
    def test_public_codes_keep_their_meaning(self, core: House, code: str, name: str, status: int) -> None:
        assert (core.reasons[code].name, core.reasons[code].status) == (name, status)


class TestFiles:
    @pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(RULES)))
    def test_a_yaml_file_names_its_schema(self, path: Path) -> None:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
        assert named
        kind = "rules" if path in RULE_FILES else path.stem
        assert (path.parent / named[1]).resolve() == RULES / "schema" / f"{kind}.json"

    @pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: str(path.relative_to(RULES)))
    def test_a_rule_file_teaches_how_to_add_one(self, path: Path) -> None:
        head = path.read_text(encoding="utf-8").split("\nrules:")[0]
        assert "To add a rule" in head
        assert len(head.splitlines()) >= 6

    def test_the_schemas_are_those_of_the_code(self) -> None:
        shipped = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RULES.glob("schema/*.json")}
        assert shipped == schemas(), "run `retrace schema --write rules/schema`"

    def test_word_lists_hold_each_word_once(self) -> None:
        for path in RULES.glob("packs/*/*.txt"):
            words = [line.split("#")[0].strip().lower() for line in path.read_text(encoding="utf-8").splitlines()]
            words = [word for word in words if word]
            assert sorted(words) == sorted(set(words)), path.name

    def test_rule_files_hold_nothing_but_rules(self) -> None:
        assert all(list(yaml.safe_load(path.read_text(encoding="utf-8"))) == ["rules"] for path in RULE_FILES)
