"""`retrace check`: what is right is listed, with what it comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.inside import said
from tests.cli.queues import FILE, configured
from tests.commands import retrace
from tests.rig import regex, rule, write_config

URL = ["http://127.0.0.1:9"]


def test_check_takes_what_is_right_and_lists_it(tmp_path: Path) -> None:
    write_config(tmp_path, URL, [regex("bomb", side="input"), rule({"type": "pii"}, "mask", id="pii.out")])
    for path in (tmp_path, tmp_path / "gateway.yaml"):
        told = said("check", str(path))
        assert told.exit_code == 0, told.stderr
        assert "all right" in told.stdout
        assert "input.regex" in told.stdout
        assert "pii.out" in told.stdout
        assert "R101 sensitive.content" in told.stdout


@pytest.mark.long
def test_the_shipped_rules_are_right() -> None:
    told = retrace("check")
    assert told.returncode == 0, told.stderr
    assert "all right" in told.stdout


TIERS = [
    {"type": "business", "cases": [{"why": "vip", "tier": ["vip"], "decision": "force"}]},
    {"type": "business", "cases": [{"why": "other", "decision": "skip"}]},
]


@pytest.mark.parametrize(
    ("refine", "words"),
    [
        ({}, ("delivery hold;", "tiers none (only rules with `action: refine`", "queue none")),
        (
            {"delivery": "live", "tiers": TIERS, "queue": FILE, "routes": [{"refine": False}]},
            ("delivery live, otherwise on 1 routes;", "tiers business > business;", "queue file"),
        ),
    ],
)
def test_its_last_line_is_how_answers_are_read_once_more(
    tmp_path: Path, refine: dict[str, Any], words: tuple[str, ...]
) -> None:
    told = said("check", configured(tmp_path, **refine))
    assert (told.exit_code, told.stderr) == (0, "")
    last = told.stdout.splitlines()[-1]
    assert last.startswith("read once more: refine.yaml, ")
    for word in words:
        assert word in last


def test_a_wish_to_read_once_more_that_nobody_fulfils_is_told(tmp_path: Path) -> None:
    rules = [regex("maybe", action="refine", id="doubt"), regex("x")]
    told = said("check", str(write_config(tmp_path, URL, rules)))
    assert told.exit_code == 0
    assert told.stdout.splitlines()[-1].startswith("all right")
    assert "`action: refine` of doubt does nothing" in told.stderr
    assert "refine: refine.yaml" in told.stderr
    write_config(tmp_path, URL, rules, refine="refine.yaml")
    (tmp_path / "refine.yaml").write_text("delivery: live\n")
    assert said("check", str(tmp_path)).stderr == ""
