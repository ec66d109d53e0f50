"""`retrace doctor`: lights with fixes, in words, as JSON, as exit code."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.cli.inside import said
from tests.plugin import engine, in_front
from tests.rig import answers, completion, regex, upstream, write_config


async def test_a_gateway_and_its_engine_are_well_or_told_what_to_do(tmp_path: Path) -> None:
    async with engine(answers(completion("x"))) as (url, _, _), in_front(tmp_path, [url], [regex("x")]) as running:
        words = ("doctor", "-c", str(tmp_path / "gateway.yaml"), "--url", running.url + "/", "--seconds", "0", "--json")
        told = await asyncio.to_thread(said, *words, RETRACE_POOL=str(tmp_path))
    found = json.loads(told.stdout)
    lights = {one["symptom"]: one["light"] for one in found["findings"]}
    assert (told.exit_code, found["light"]) == (0, "green"), found
    assert {lights[name] for name in ("configuration", "gateway", "backend", "plugin", "reuse", "clock")} == {"green"}
    assert lights["growth"] == lights["redis"] == "grey"


def test_what_is_broken_is_red_with_its_fix_in_the_language_of_the_reader(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, ["http://127.0.0.1:9"], [regex("x")]))
    told = said("doctor", "-c", config, "--url", "http://127.0.0.1:9", "--lang", "en")
    assert told.exit_code == 2
    assert "✖ broken backends up http://127.0.0.1:9: can't be reached" in told.stdout
    assert "→ is it running, and is `urls` in gateway.yaml right?" in told.stdout
    assert "● ok configuration" in told.stdout
    assert "○ not looked at alerts" in told.stdout
    chinese = said("doctor", "-c", config, "--url", "http://127.0.0.1:9", "--lang", "zh")
    assert "✖ 故障 后端" in chinese.stdout
    assert "它在运行吗" in chinese.stdout


async def test_a_single_endpoint_needs_no_file(tmp_path: Path) -> None:
    async with upstream(answers(b"{}")) as (url, _):
        words = ("doctor", "--backend", url, "--seconds", "0", "--json")
        told = await asyncio.to_thread(said, *words, RETRACE_POOL=str(tmp_path))
    seen = [one for one in json.loads(told.stdout)["findings"] if one["symptom"] == "backend"]
    assert [(one["about"], one["light"]) for one in seen] == [(f"backend {url}", "green")]


async def test_yellow_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    async with upstream(answers(b"{}", 404)) as (url, _):
        config = str(write_config(tmp_path, [url], [regex("x")]))
        words = ("doctor", "-c", config, "--seconds", "0", "--json")
        told = await asyncio.to_thread(said, *words, RETRACE_POOL=str(tmp_path))
    found = json.loads(told.stdout)
    assert (told.exit_code, found["light"]) == (1, "yellow"), found
    assert [one["symptom"] for one in found["findings"] if one["light"] == "yellow"] == ["plugin"]


def test_a_file_that_can_t_be_read_is_told_by_name(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, ["http://127.0.0.1:9"], []))
    told = said("doctor", "-c", config, "--feedback", str(tmp_path / "none"))
    assert told.exit_code == 2
    assert "none" in told.stderr
