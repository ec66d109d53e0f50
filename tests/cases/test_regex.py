"""Cases on regular expressions that operators write: none may stall the gateway."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.checks._pattern import translate
from gateway.checks.regex import Plug
from gateway.checks.schema import Plug as Schema
from gateway.types import View
from tests.rig import CHAT, answers, completion, gateway, regex, upstream

UNBOUNDED = ["(a+)+$", "(a|aa)+b", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "a*", "x{3,}", "(?:a?){2,}", ".+",
             r"(\w+\s?)*$", "(a{1,}){1,5}"]  # fmt: skip
NOT_LINEAR = [r"(a)\1", "(?=a)b", "(?<!a)b", "(?>a)b", "a++b", "(?(1)a|b)"]
TOO_LARGE = [
    "(a{0,100}){0,100}",
    "a{0,1001}",
    ".{900}.{900}",
    "((((a{0,10}){0,10}){0,10}){0,10})",
    r"[\w\s]{1000}{1000}",
]
NOT_ONE = ["(", "[a-", "a{2,1}", "(?P<n>a)(?P<n>b)", "*", "\\", "(?i", "a" * 10 + "("]
EMPTY = ["a?", "", "(?:)", r"\b", "^$", "a{0,5}", "(|a)"]
NASTY = [
    "(?:" * 60 + "a" + ")?" * 59 + "){1}",
    "a?" * 400 + "b",
    "(?:a|b|c|d){1,400}",
    "(?:(?:(?:(?:a?b?){0,3}c?){0,3}d?){0,3}e?){0,3}f",
    "(?:a{0,30}b{0,30}){0,16}c",
    "|".join(f"word{n}[0-9]{{1,9}}" for n in range(500)),
    r"(?:[a-f0-9]{1,30}[ -]?){1,30}x",
    "(?:a.{0,90}b.{0,90}c.{0,90}d)",
]


@pytest.mark.parametrize("pattern", [*UNBOUNDED, *NOT_LINEAR, *TOO_LARGE, *NOT_ONE, *EMPTY])
def test_C84_a_pattern_without_bound_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]{3}.*"):
        Plug(pattern=pattern)


@pytest.mark.parametrize("pattern", NASTY)
def test_C84_whatever_is_taken_is_read_and_run_in_bounded_time(pattern: str) -> None:
    began = time.perf_counter()
    try:
        plug = Plug(pattern=pattern)
        plug.look(View("a" * 20_000 + "!" + "ab" * 5_000, final=False))
        plug.look(View("a" * 20_000 + "!" + "ab" * 5_000))
    except (ValueError, MemoryError):
        pass
    assert time.perf_counter() - began < 3


def test_C84_deep_groups_do_not_double_at_each_level() -> None:
    for depth in (5, 9):
        pattern = "(?:" * depth + "a" + "){0,2}" * depth + "b"
        assert len(translate(pattern).alive or "") < 200_000


async def test_C84_a_bad_pattern_in_a_reload_leaves_the_old_rules(tmp_path: Path) -> None:
    async with (
        upstream(answers(completion("the old word"))) as (url, _),
        gateway(tmp_path, [url], [regex("old word", action="mask")]) as running,
    ):
        steward, applied = running.server.steward, running.server._apply
        revision = steward.house.revision
        for pattern in (UNBOUNDED[0], NOT_LINEAR[0], TOO_LARGE[0], NOT_ONE[0], EMPTY[0]):
            (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex(pattern)]}))
            began = time.perf_counter()
            await steward.reload(applied)
            assert time.perf_counter() - began < 2
            assert steward.house.revision == revision
            complaint = steward.status()["last_error"]["complaints"][0]
            assert complaint["file"].endswith("rules.yaml")
            assert complaint["field"] == "rules.0.check.pattern"
            assert complaint["line"] > 1
            assert complaint["problem"]
            assert b"the ***" in await running.ask("/v1/chat/completions", CHAT)
        assert (await running.metrics())["retrace_reload_ok"] == 0


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_C84_nor_can_a_pattern_inside_a_json_schema_stall(pattern: str) -> None:
    check = Schema(json_schema={"properties": {"a": {"pattern": pattern}}})
    began = time.perf_counter()
    spans, _ = check.look(View('{"a": "' + "a" * 50_000 + '!"}'))
    assert spans
    assert check.look(View('{"a": 7}'))[0] == []
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "(?=x)y"}}},
        {"patternProperties": {"^(a+)+$": {}}},
        {"properties": {"a": {"anyOf": [{"pattern": r"(a)\1"}]}}},
    ],
)
def test_C84_what_no_linear_engine_can_do_is_refused_there_too(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"linear|RE2"):
        Schema(json_schema=schema)


@pytest.mark.parametrize("text", ["```json\n" + "\n" * 60_000 + "x", "```" * 20_000, "`" * 60_000, " " * 60_000 + "{"])
def test_C84_no_answer_can_stall_the_check_of_its_json(text: str) -> None:
    began = time.perf_counter()
    Schema(json_schema={"type": "object"}).look(View(text))
    assert time.perf_counter() - began < 1
