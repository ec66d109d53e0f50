"""What rules look for and policies stand on, in short, and what changed of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gateway.rules import Inject, Rule, RuleFile
from gateway.terms import ACCEPTED
from gateway.watch.prints import carried, changes, fingerprint
from tests.rig import regex, rule


def read(folder: Path, *rules: dict[str, Any]) -> tuple[Rule, ...]:
    return RuleFile.model_validate({"rules": rules}, context={"folder": folder}).rules


def prints(folder: Path, *rules: dict[str, Any]) -> dict[str, str]:
    return {one.id: fingerprint(one) for one in read(folder, *rules)}


def test_what_a_rule_looks_for_is_told_apart_from_how_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bomb\n# a comment\ngrenade\n")
    words = rule({"type": "words", "words": ["knife", "gun"], "file": "words.txt"}, id="w")
    before = prints(tmp_path, words)
    (tmp_path / "words.txt").write_text("grenade # another\n\nbomb\nbomb\n")
    same = rule({"type": "words", "words": ["gun", "knife"], "file": "words.txt"}, id="w", about="x", mask="#")
    assert prints(tmp_path, same) == before
    (tmp_path / "words.txt").rename(tmp_path / "others.txt")
    moved = rule({"type": "words", "words": ["gun", "knife"], "file": "others.txt"}, id="w", on_error="tag")
    assert prints(tmp_path, moved) == before
    (tmp_path / "others.txt").write_text("grenade\nbomb\nrocket\n")
    assert prints(tmp_path, moved) != before


def test_anything_that_changes_what_is_found_changes_the_fingerprint(tmp_path: Path) -> None:
    plain = fingerprint(*read(tmp_path, regex("a")))
    for other in (
        regex("b"),
        regex("a", action="tag"),
        regex("a", side="input"),
        regex("a", reason="R102"),
        regex("a", when={"tenant": "bank"}),
        rule({"type": "regex", "pattern": "a", "ignore_case": False}),
        rule({"type": "words", "words": ["a"]}),
    ):
        assert fingerprint(*read(tmp_path, other)) != plain, other
    lists = [regex("a", when={"tenant": names}) for names in (["x", "y"], ["y", "x", "y"])]
    assert len({fingerprint(*read(tmp_path, one)) for one in lists}) == 1


def test_of_a_service_the_address_counts_and_not_how_long_it_may_take(tmp_path: Path) -> None:
    def asked(**fields: Any) -> str:
        check = {"type": "external", "url": "http://127.0.0.1:9/verify", **fields}
        return fingerprint(*read(tmp_path, rule(check)))

    assert asked() == asked(timeout_ms=500, at_most=3) != asked(url="http://127.0.0.1:9/other")


def test_a_code_s_policy_stands_on_its_own_rules_and_those_whose_findings_it_keeps_out(tmp_path: Path) -> None:
    rules = read(tmp_path, regex("a", id="a", reason="R307"), regex("b", id="b", reason="R308"), regex("c", id="c"))
    found = carried(rules, {"R307": Inject(cut=("R308",)), "R308": Inject(), ACCEPTED: Inject(sensitive="allow")})
    assert {code: set(of) for code, of in found.items()} == {"R307": {"a", "b"}, "R308": {"b"}, ACCEPTED: set()}


def test_what_changed_is_told_rule_by_rule() -> None:
    before = {"a": "R1 1-1", "b": "R1 2-1", "c": "R1 3-1", "d": "R1 4-1"}
    after = {"a": "R1 9-1", "b": "R1 2-9", "c": "R1 3-1", "e": "R1 5-1"}
    told = ("a: looks for something else", "b: applies elsewhere, or acts otherwise", "d: is gone", "e: is new")
    assert changes(before, after) == told
    assert changes(before, {"z": "R1 1-1", "y": "R1 2-1", "x": "R1 3-1", "w": "R1 4-1"}) == ()
