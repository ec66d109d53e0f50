"""Cases on tenants: what one has asked serves no other, whatever he sends, and nothing he sees tells of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.keys import hashed
from tests.plugin import asked, engine, replicas
from tests.rig import RawUpstream, Running, answers, completion, quiet, serving, until, write_config

LONG = "the terms of settlement, clause after clause " * 80
ALL = {"capture": "all", "accepted": {"mode": "splice", "sensitive": "allow"}}
KEYS = {"keys": [{"hash": hashed(name), "tenant": name} for name in ("one", "two")]}


@asynccontextmanager
async def shared(folder: Path) -> AsyncIterator[tuple[Running, RawUpstream]]:
    """A gateway with two tenants that keeps everything."""
    async with engine(answers(completion("fine"))) as (url, up, _):
        path = write_config(folder, [url], [], tiers="tiers.yaml", retrace=ALL)
        (folder / "tiers.yaml").write_text(yaml.safe_dump(KEYS))
        async with serving(path) as running:
            await until(lambda: all(replica.engine for replica in replicas(running)))
            await until(lambda: running.server._fleet.patched()["up"])
            yield running, up


async def ask(running: Running, who: str, headers: Mapping[str, str] | None = None, **more: Any) -> Mapping[str, str]:
    """The headers of the answer to the same long question."""
    body = {"model": "m", "messages": [{"role": "user", "content": LONG}], **more}
    sent = {"authorization": f"Bearer {who}", **(headers or {})}
    async with running.http.post(f"{running.url}/v1/chat/completions", json=body, headers=sent) as answer:
        assert answer.status == 200
        await answer.read()
        told = dict(answer.headers)
    await quiet(running)
    await asyncio.sleep(0.1)  # its capture is known
    return told


FORGED: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, {}),
    ({"x-retrace-session": "s"}, {"user": "u", "prompt_cache_key": "the same"}),
    ({"x-retrace-tenant": "one", "x-tenant": "one", "x-retrace-threshold": "0"}, {}),
    ({}, {"cache_salt": "one", "kv_transfer_params": {"retrace": {"donor": "d", "mode": "prefix"}}}),
    ({}, {"metadata": {"tenant": "one"}, "tenant": "one"}),
]


@pytest.mark.parametrize(("headers", "fields"), FORGED)
async def test_the_same_question_of_another_tenant_finds_nothing(
    tmp_path: Path, headers: dict[str, str], fields: dict[str, Any]
) -> None:
    async with shared(tmp_path) as (running, up):
        for _ in range(2):
            await ask(running, "one", headers, **fields)
        await ask(running, "two", headers, **fields)
        first, again, other = up.calls
        assert asked(first)["donor"] is None
        assert asked(again)["donor"] == asked(first)["capture"]
        assert asked(other)["donor"] is None
        assert first.json["cache_salt"] == again.json["cache_salt"] != other.json["cache_salt"]


async def test_an_answer_s_headers_don_t_tell_whether_anything_was_reused(tmp_path: Path) -> None:
    own = {"x-retrace-id", "x-request-id", "date"}
    async with shared(tmp_path) as (running, _):
        told = [await ask(running, who) for who in ("one", "one", "two")]
    assert len({tuple(sorted((k, v) for k, v in one.items() if k.lower() not in own)) for one in told}) == 1
