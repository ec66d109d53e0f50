"""Cases on files that change while the gateway serves: a bad one changes nothing, a good one is in force at once."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.rig import CHAT, REASONS, Running, answers, completion, gateway, regex, rule, serving, upstream, write_config

OLD = [regex("old", action="mask")]
NEW = yaml.safe_dump({"rules": [regex("new", action="mask")]})
GOOD = yaml.safe_dump({"rules": [*OLD, regex("more", id="more")]})


async def status(running: Running) -> dict[str, Any]:
    async with running.http.get(f"{running.url}/readyz") as response:
        told: dict[str, Any] = orjson.loads(await response.read())
        return told


async def seen(running: Running, condition: Callable[[dict[str, Any]], object], seconds: float = 3.0) -> dict[str, Any]:
    """What /readyz says once the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition(told := await status(running)):  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(0.02)
    return told


def failed(told: dict[str, Any]) -> bool:
    return "last_error" in told


def write_rules(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "rules.yaml").write_text(text)


def edit_rule(**fields: Any) -> Callable[[Path], object]:
    return write_rules(yaml.safe_dump({"rules": [{**OLD[0], **fields}]}))


def _folder_instead(folder: Path) -> None:
    (folder / "rules.yaml").unlink()
    (folder / "rules.yaml").mkdir()


BAD: dict[str, Callable[[Path], object]] = {
    "half a file": write_rules(GOOD[: len(GOOD) // 2]),
    "empty": write_rules(""),
    "comments only": write_rules("# rules:\n#   - id: x\n"),
    "half a word": write_rules("rules:\n  - id: [unclosed\n"),
    "a tab": write_rules("rules:\n\t- id: x\n"),
    "not utf-8": lambda folder: (folder / "rules.yaml").write_bytes(b"rules: \xff\xfe\n"),
    "binary": lambda folder: (folder / "rules.yaml").write_bytes(os.urandom(200)),
    "missing": lambda folder: (folder / "rules.yaml").unlink(),
    "a folder instead": _folder_instead,
    "a list": write_rules("- 1\n- 2\n"),
    "a number": write_rules("7\n"),
    "wrong type": edit_rule(action=7),
    "unknown action": edit_rule(action="refuse"),
    "unknown check": edit_rule(check={"type": "regexp", "pattern": "x"}),
    "unknown field": edit_rule(actoin="block"),
    "unknown reason": edit_rule(reason="R999"),
    "missing field": write_rules(yaml.safe_dump({"rules": [{"id": "x"}]})),
    "key twice": write_rules("rules: []\nrules: []\n"),
    "id twice": write_rules(yaml.safe_dump({"rules": [*OLD, *OLD]})),
    "refers to itself": write_rules("rules: &a\n  - *a\n"),
    "deeply nested": write_rules("rules: " + "[" * 5000 + "]" * 5000),
    "not the main file": lambda folder: (folder / "gateway.yaml").unlink(),
    "main file wrong": lambda folder: (folder / "gateway.yaml").write_text("backends: 7\n"),
    "main file empty": lambda folder: (folder / "gateway.yaml").write_text(""),
    "reasons missing": lambda folder: (folder / "reasons.yaml").unlink(),
    "reasons without R900": lambda folder: (folder / "reasons.yaml").write_text(
        yaml.safe_dump({"reasons": {k: v for k, v in REASONS.items() if k != "R900"}})
    ),
    "absolute rules": lambda folder: _main(folder, rules=[str(folder / "*.yaml")]),
    "no pattern": lambda folder: _main(folder, rules=[""]),
    "rules without file": lambda folder: _main(folder, rules=["rules.yaml", "packs/*.yaml"]),
    "open to all without keys": lambda folder: _main(folder, listen={"host": "0.0.0.0"}),
    "tiers empty": lambda folder: _empty_tiers(folder),
    "key of no environment": lambda folder: _main(folder, tiers="tiers.yaml"),
}


def _empty_tiers(folder: Path) -> None:
    _main(folder, tiers="tiers.yaml")
    (folder / "tiers.yaml").write_text("")


def _main(folder: Path, **fields: Any) -> None:
    path = folder / "gateway.yaml"
    if "tiers" in fields:
        (folder / "tiers.yaml").write_text(yaml.safe_dump({"keys": [{"env": "NOT_SET_ANYWHERE", "tenant": "a"}]}))
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **fields}))


async def notice(running: Running, bad: str) -> None:
    """A few are left to the watch, which takes its time; the others are looked at now."""
    if bad not in ("half a file", "missing", "wrong type", "not the main file"):
        await running.server.steward.reload(running.server._apply)


@pytest.mark.parametrize("bad", BAD)
async def test_C85_C86_a_bad_file_changes_nothing_and_says_why(tmp_path: Path, bad: str) -> None:
    async with upstream(answers(completion("old and new"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        first = await status(running)
        assert "last_error" not in first
        BAD[bad](tmp_path)
        await notice(running, bad)
        told = await seen(running, failed)
        assert (told["revision"], told["rules"], told["ready"]) == (first["revision"], 1, True)
        assert told["since"] == first["since"]
        complaint = told["last_error"]["complaints"][0]
        assert complaint["problem"]
        assert str(tmp_path) in complaint["file"]
        figures = await running.metrics()
        assert figures["retrace_reload_ok"] == 0
        assert figures['retrace_reloads_total{result="failed"}'] >= 1
        assert b"*** and new" in await running.ask("/v1/chat/completions", CHAT)

        shutil.rmtree(tmp_path / "rules.yaml", ignore_errors=True)  # now all is mended
        write_config(tmp_path, [url], [regex("new", action="mask")])
        await notice(running, bad)
        told = await seen(running, lambda told: not failed(told) and told["revision"] != first["revision"])
        assert b"old and ***" in await running.ask("/v1/chat/completions", CHAT)
        assert (await running.metrics())["retrace_reload_ok"] == 1


async def test_C85_under_load_no_request_is_without_its_rules(tmp_path: Path) -> None:
    """The old word is masked before, while and after; the new one from some moment on for good."""
    async with upstream(answers(completion("old and new"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        got: list[bytes] = []
        done = asyncio.Event()

        async def load() -> None:
            while not done.is_set():
                got.append(await running.ask("/v1/chat/completions", CHAT))

        loading = [asyncio.create_task(load()) for _ in range(4)]
        both = yaml.safe_dump({"rules": [*OLD, regex("new", action="mask", id="new")]})
        for text in (both[: len(both) // 3], "rules: 7\n", both[:-30]):
            (tmp_path / "rules.yaml").write_text(text)
            await asyncio.sleep(0.1)
        await seen(running, failed)
        (tmp_path / "rules.yaml").write_text(both)
        await seen(running, lambda told: not failed(told) and told["rules"] == 2)
        mark = len(got) + 4
        await asyncio.sleep(0.1)
        done.set()
        await asyncio.gather(*loading)
    assert len(got) > mark
    assert all(b"*** and" in body for body in got)
    assert all(b"*** and ***" in body for body in got[mark:])


async def test_C86_each_state_is_told_as_it_is(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        first = await status(running)
        (tmp_path / "rules.yaml").write_text("rules:\n  - id: x\n    side: input\n    action: blokc\n")
        told = await seen(running, failed)
        complaints = {item["field"]: item for item in told["last_error"]["complaints"]}
        assert complaints["rules.0.action"]["line"] == 4
        assert complaints["rules.0.action"]["file"] == str(tmp_path / "rules.yaml")
        assert told["last_error"]["at"] > first["since"]
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": OLD}))  # as it was before
        told = await seen(running, lambda told: not failed(told))
        assert told == first


RUNTIME: dict[str, tuple[dict[str, Any], str]] = {
    "word list": ({"type": "words", "file": "words.txt"}, "words.txt"),
    "schema file": ({"type": "schema", "file": "schema.json"}, "schema.json"),
}


@pytest.mark.parametrize("kind", RUNTIME)
@pytest.mark.parametrize("damage", ["missing", "garbage", "folder", "empty"])
async def test_C87_a_valid_file_that_cannot_work_is_not_moved_into(tmp_path: Path, kind: str, damage: str) -> None:
    check, name = RUNTIME[kind]
    good = b"forbidden\n" if kind == "word list" else b'{"type": "object"}'
    file = tmp_path / name
    async with upstream(answers(completion("an old forbidden"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        first = await status(running)
        if damage == "garbage":
            file.write_bytes(b"\xff\xfe\x00{")
        elif damage == "folder":
            file.mkdir()
        elif damage == "empty":
            file.write_bytes(b"")
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [*OLD, rule(check)]}))
        told = await seen(running, failed)
        assert told["revision"] == first["revision"]
        assert name in str(told["last_error"]) or damage == "empty"
        assert b"an *** forbidden" in await running.ask("/v1/chat/completions", CHAT)
        if damage == "folder":
            file.rmdir()
        file.write_bytes(good)
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [*OLD, rule(check)]}) + "\n# again\n")
        await seen(running, lambda told: not failed(told) and told["rules"] == 2)
        assert b'"finish_reason":"content_filter"' in await running.ask("/v1/chat/completions", CHAT)


@pytest.mark.parametrize("reference", ["#/$defs/missing", "http://127.0.0.1:9/x.json", "other.json", "#anchor"])
async def test_C87_a_schema_that_could_only_fail_at_work_is_not_moved_into(tmp_path: Path, reference: str) -> None:
    async with upstream(answers(completion("old"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        first = await status(running)
        schema = {"$defs": {"here": {"type": "object"}}, "properties": {"a": {"$ref": reference}}}
        (tmp_path / "rules.yaml").write_text(
            yaml.safe_dump({"rules": [rule({"type": "schema", "json_schema": schema})]})
        )
        await running.server.steward.reload(running.server._apply)
        told = await status(running)
        assert told["revision"] == first["revision"]
        assert reference in told["last_error"]["complaints"][0]["problem"]
        schema["properties"] = {"a": {"$ref": "#/$defs/here"}, "b": {"$ref": "#"}}
        (tmp_path / "rules.yaml").write_text(
            yaml.safe_dump({"rules": [rule({"type": "schema", "json_schema": schema})]})
        )
        await running.server.steward.reload(running.server._apply)
        assert not failed(await status(running))


async def test_C87_a_word_list_is_followed_too(tmp_path: Path) -> None:
    words = tmp_path / "lists" / "words.txt"
    words.parent.mkdir()
    words.write_text("forbidden\n")
    rules = [rule({"type": "words", "file": "lists/words.txt"}, "mask")]
    async with (
        upstream(answers(completion("forbidden and unwanted"))) as (url, _),
        gateway(tmp_path, [url], rules) as running,
    ):
        first = await status(running)
        assert b"*** and unwanted" in await running.ask("/v1/chat/completions", CHAT)
        words.unlink()
        await seen(running, failed)
        assert b"*** and unwanted" in await running.ask("/v1/chat/completions", CHAT)
        words.write_text("unwanted\n")
        await seen(running, lambda told: not failed(told) and told["revision"] != first["revision"])
        assert b"forbidden and ***" in await running.ask("/v1/chat/completions", CHAT)


@pytest.mark.long
async def test_C87_heavy_patterns_are_built_beside_the_traffic(tmp_path: Path) -> None:
    """The old house serves while the new one is built, and it takes the new one whole or not at all."""
    heavy = [regex(rf"(?:[\w]{{1,30}}[{chr(97 + n)}]){{1,30}}x{n}", id=f"r{n}") for n in range(6)]
    async with upstream(answers(completion("old"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        first = await status(running)
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": heavy}))
        slowest = 0.0
        async with asyncio.timeout(15):
            while (told := await status(running))["revision"] == first["revision"] and not failed(told):
                began = time.perf_counter()
                await running.ask("/v1/chat/completions", CHAT)
                slowest = max(slowest, time.perf_counter() - began)
        assert slowest < 3  # one set is compiled under the interpreter lock; its size is bounded


def swap(folder: Path, way: str, text: str) -> None:
    """Change rules.yaml the way an editor, a package manager or a cluster does."""
    target = folder / "rules.yaml"
    if way == "in place":
        target.write_text(text)
    elif way == "rename":
        (folder / ".rules.tmp").write_text(text)
        (folder / ".rules.tmp").rename(target)
    elif way == "away and back":
        target.unlink()
        target.write_text(text)
    elif way == "truncate and write slowly":
        with target.open("w") as file:
            for place in range(0, len(text), 7):
                file.write(text[place : place + 7])
                file.flush()


@pytest.mark.parametrize("way", ["in place", "rename", "away and back", "truncate and write slowly"])
async def test_C85_every_way_of_saving_is_noticed(tmp_path: Path, way: str) -> None:
    async with upstream(answers(completion("old and new"))) as (url, _), gateway(tmp_path, [url], OLD) as running:
        for number, text in enumerate((NEW, GOOD, NEW)):
            revision = (await status(running))["revision"]
            swap(tmp_path, way, text + f"# {number}\n")
            await seen(running, lambda told, old=revision: not failed(told) and told["revision"] != old)  # type: ignore[misc]
        assert b"old and ***" in await running.ask("/v1/chat/completions", CHAT)


async def test_C85_a_mounted_config_map_is_followed(tmp_path: Path) -> None:
    """Kubernetes: the files are links into a folder behind a link that is exchanged in one go."""
    mount = tmp_path / "mount"
    mount.mkdir()
    async with upstream(answers(completion("old and new"))) as (url, _):
        for version, rules in (("v1", OLD), ("v2", [regex("new", action="mask")]), ("v3", OLD)):
            folder = mount / f"..{version}"
            folder.mkdir()
            write_config(folder, [url], rules)
            if version == "v1":
                (mount / "..data").symlink_to(folder.name)
                for name in ("gateway.yaml", "rules.yaml", "reasons.yaml"):
                    (mount / name).symlink_to(f"..data/{name}")
        async with serving(mount / "gateway.yaml") as running:
            for before, after, masked in (("v1", "v2", b"old and ***"), ("v2", "v3", b"*** and new")):
                (mount / "..data_tmp").symlink_to(f"..{after}")
                (mount / "..data_tmp").rename(mount / "..data")
                shutil.rmtree(mount / f"..{before}")
                async with asyncio.timeout(5):
                    while masked not in await running.ask("/v1/chat/completions", CHAT):  # noqa: ASYNC110
                        await asyncio.sleep(0.03)
                assert not failed(await status(running))
