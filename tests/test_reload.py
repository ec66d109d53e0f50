"""The steward: keeps a house that works, follows the files, and misses no edit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.config import House, Source
from gateway.errors import ConfigFault
from gateway.refine._entry import pack
from gateway.refine._queue_file import Bounds, FileSink, done
from gateway.reload import Steward
from gateway.sample import Reservoir
from tests.refine.entries import entry
from tests.rig import regex, rule, until, write_config

OLD = [regex("old")]


def steward(folder: Path, rules: list[dict[str, Any]] | None = None) -> tuple[Steward, list[bool]]:
    told: list[bool] = []
    path = write_config(folder, ["http://127.0.0.1:9"], OLD if rules is None else rules)
    return Steward(Source(path), lambda _rule: None, told.append), told


async def nothing(_house: House) -> None:
    """Nobody needs to be told."""


@asynccontextmanager
async def followed(
    keeper: Steward, apply: Callable[[House], Awaitable[None]] = nothing
) -> AsyncIterator[asyncio.Task[None]]:
    """The files are watched meanwhile."""
    watching = asyncio.create_task(keeper.watch(apply))
    await asyncio.sleep(0.2)
    try:
        yield watching
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_house_that_does_not_stand_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault):
        steward(tmp_path, [{"id": "x"}])
    with pytest.raises(ConfigFault, match="no such file"):
        Steward(Source(tmp_path / "nowhere.yaml"), lambda _rule: None, lambda _ok: None)


async def test_what_did_not_change_is_not_moved_into(tmp_path: Path) -> None:
    keeper, told = steward(tmp_path)
    house, status = keeper.house, keeper.status()
    await keeper.reload(nothing)
    assert keeper.house is house
    assert keeper.status() == status
    assert told == [True, True]


async def test_apply_is_told_before_the_house_is_in_force(tmp_path: Path) -> None:
    keeper, _ = steward(tmp_path)
    old, seen = keeper.house, []

    async def apply(house: House) -> None:
        seen.append((house.revision, keeper.house is old))

    write_config(tmp_path, ["http://127.0.0.1:9"], [regex("new")])
    await keeper.reload(apply)
    assert seen == [(keeper.house.revision, True)]


async def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    keeper, told = steward(tmp_path)
    bad = [regex("a*", id="one"), regex("ok", id="two", reason="R999"), regex("ok", id="three", action="nope")]
    for rules, fields in (
        (bad[:1] + bad[2:], {"rules.0.check.pattern", "rules.1.action"}),
        (bad[1:2], {"rules.0.reason"}),
    ):
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": rules}))
        await keeper.reload(nothing)
        assert {item["field"] for item in keeper.status()["last_error"]["complaints"]} == fields
    assert told[-1] is False


async def test_an_edit_while_the_last_one_is_taken_in_is_not_missed(tmp_path: Path) -> None:
    """Also when the first edit names a new file in another folder, so that other folders must be watched."""
    keeper, _ = steward(tmp_path)
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "words.txt").write_text("bomb\n")
    elsewhere = rule({"type": "words", "file": "lists/words.txt"})
    edits = iter([[*OLD, elsewhere, regex("third", id="third")]])

    async def apply(_house: House) -> None:
        for rules in edits:  # once: somebody saves again at this very moment
            (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": rules}))
            await asyncio.sleep(0.01)

    async with followed(keeper, apply):
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [*OLD, elsewhere]}))
        await until(lambda: len(keeper.house.rules) == 3, 4)
        (lists / "words.txt").write_text("grenade\n")
        revision = keeper.house.revision
        await until(lambda: keeper.house.revision != revision, 4)


@pytest.mark.long
async def test_what_is_written_beside_a_file_is_not_read_as_configuration(tmp_path: Path) -> None:
    keeper, told = steward(tmp_path)
    async with followed(keeper):
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("good")]}))
        await until(lambda: len(told) > 1, 15)
        await asyncio.sleep(0.7)  # what came before the folder was watched has been looked for
        before = len(told)
        for name in ("policies.yaml.evidence", "policies.yaml.lock", "policies.yaml.lead", "tuned.new"):
            (tmp_path / name).write_text("x")
        await asyncio.sleep(0.7)
        assert len(told) == before
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("better")]}))
        await until(lambda: len(told) > before, 15)


@pytest.mark.long
async def test_what_the_gateway_writes_itself_is_not_read_as_configuration(tmp_path: Path) -> None:
    """The sample, the review queue with all that stands beside it, and the audit log, in the folder of rules."""
    path = write_config(tmp_path, ["http://127.0.0.1:9"], OLD)
    main = yaml.safe_load(path.read_text())
    main |= {"refine": "refine.yaml", "audit": {"folder": "audit"}, "retrace": {"sample": {"file": "sample.jsonl"}}}
    path.write_text(yaml.safe_dump(main))
    refining = {"tiers": [], "queue": {"type": "file", "path": "docket.jsonl", "bytes": 1 << 16}}
    (tmp_path / "refine.yaml").write_text(yaml.safe_dump(refining))
    told: list[bool] = []
    keeper = Steward(Source(path), lambda _rule: None, told.append)
    async with followed(keeper):
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("good")]}))
        await until(lambda: len(told) > 1, 15)
        await asyncio.sleep(0.7)  # what came before the folder was watched has been looked for
        before = len(told)
        reservoir, docket = Reservoir(tmp_path / "sample.jsonl", 10), tmp_path / "docket.jsonl"
        sink = FileSink(docket, Bounds(2, 1 << 16))
        for name in ("x-0", "x-1", "x-2", "x-3"):
            reservoir.add("bank", {"n": name})
            await reservoir.write()
            await sink.write([pack(entry(name))])
            done(docket, name, "right", reviewer="ann")
        (tmp_path / "audit").mkdir()
        (tmp_path / "audit" / "w0-00000001.jsonl").write_bytes(b"{}\n")
        await asyncio.sleep(0.7)
        assert {"sample.jsonl", "docket.jsonl.done", "docket.jsonl.marks"} <= set(os.listdir(tmp_path))
        assert len(told) == before
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("better")]}))
        await until(lambda: len(told) > before, 15)


async def test_what_is_read_is_followed_even_where_the_gateway_writes(tmp_path: Path) -> None:
    path = write_config(tmp_path, ["http://127.0.0.1:9"], OLD)
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "audit": {"folder": "."}}))
    keeper = Steward(Source(path), lambda _rule: None, lambda _ok: None)
    async with followed(keeper):
        revision = keeper.house.revision
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("better")]}))
        await until(lambda: keeper.house.revision != revision, 15)


async def test_the_watch_survives_whatever_is_written(tmp_path: Path) -> None:
    keeper, told = steward(tmp_path)
    async with followed(keeper) as watching:
        for text in (
            "rules: [",
            "\0\0",
            "rules: &a [*a]\n",
            "[" * 20_000,
            "rules: 7",
            "? [a]\n: b\n",
            "{}: {}\n",
        ):
            before = len(told)
            (tmp_path / "rules.yaml").write_text(text)
            await until(lambda before=before: len(told) > before, 4)  # type: ignore[misc]
            assert told[-1] is False, text
            assert not watching.done()
        (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": [regex("good")]}))
        await until(lambda: told[-1], 4)
