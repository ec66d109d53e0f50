"""Cases on regular expressions that operators write: none may stall the gateway."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from gateway.checks._pattern import translate
from gateway.checks.regex import Plug
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
