"""Who is let in, what the house says of itself, and how streams are kept alive."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.errors import ConfigFault
from gateway.keys import hashed, new_key
from tests.rig import (
    CHAT,
    answered,
    answers,
    chat_stream,
    completion,
    gateway,
    post,
    quiet,
    regex,
    said,
    shaped,
    streams,
    upstream,
    wire,
)

RULES = [
    regex("forbidden", side="input", id="gold", when={"tenant": "gold"}),
    regex("unwanted", side="input", id="basic", when={"tier": "basic"}),
]


def keys(folder: Path, *entries: dict[str, Any]) -> str:
    (folder / "tiers.yaml").write_text(yaml.safe_dump({"keys": list(entries)}))
    return "tiers.yaml"


async def test_a_key_names_its_tenant_and_tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = new_key(), new_key(), new_key()
    monkeypatch.setenv("TEAM_KEY", two)
    tiers = keys(
        tmp_path,
        {"hash": hashed(one), "tenant": "gold"},
        {"env": "TEAM_KEY", "tenant": "team", "tier": "basic"},
    )
    async with (
        upstream(answers(completion("hi"))) as (url, up),
        gateway(tmp_path, [url], RULES, tiers=tiers) as running,
    ):
        for key, text, status in (
            (one, "forbidden", 400),
            (one, "unwanted", 200),
            (two, "forbidden", 200),
            (two, "unwanted", 400),
        ):
            for header in (
                {"authorization": f"Bearer {key}"},
                {"x-api-key": key},
                {"authorization": f"bearer  {key} "},
            ):
                response = await running.chat(text, header)
                assert (await response.read(), response.status)[1] == status, (text, header)
        told = await running.metrics()
        assert told['retrace_tokens_total{kind="prompt",tenant="team"}'] == 7 * 3
        before = len(up.calls)
        for wrong in (
            {},
            {"authorization": ""},
            {"authorization": "Bearer"},
            {"authorization": "Bearer "},
            {"authorization": f"Basic {one}"},
            {"authorization": f"Bearer {three}"},
            {"authorization": f"Bearer {one[:-1]}"},
            {"authorization": f"Bearer {one}x"},
            {"authorization": f"Bearer {hashed(one)}"},
            {"x-api-key": three},
            {"authorization": f"Bearer {three}", "x-api-key": one},
        ):
            for path in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"):
                async with running.http.post(f"{running.url}{path}", json=CHAT, headers=wrong) as response:
                    assert response.status == 401, (path, wrong)
                    error = shaped(await response.read())
                    assert error["code"] == "invalid_api_key"
                    assert three not in str(error)
        assert len(up.calls) == before
        await quiet(running)


async def test_a_key_of_odd_bytes_is_just_a_wrong_one(tmp_path: Path) -> None:
    tiers = keys(tmp_path, {"hash": hashed(new_key()), "tenant": "a"})
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], tiers=tiers) as running:
        for odd in (b"\xff\xfe", "ключ".encode(), b"\xed\xa0\x80", b"x" * 8000):
            for header in (b"authorization: Bearer ", b"x-api-key: "):
                raw = post(CHAT).replace(b"host:", header + odd + b"\r\nhost:")
                status, _, body = await answered(running, raw)
                assert status == 401
                assert shaped(body)["code"] == "invalid_api_key"


async def test_keys_follow_a_reload(tmp_path: Path) -> None:
    one, two = new_key(), new_key()
    tiers = keys(tmp_path, {"hash": hashed(one), "tenant": "a"})
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], tiers=tiers) as running:
        assert (await running.chat(headers={"authorization": f"Bearer {one}"})).status == 200
        keys(tmp_path, {"hash": hashed(two), "tenant": "a"})
        await running.server.steward.reload(running.server._apply)
        assert (await running.chat(headers={"authorization": f"Bearer {one}"})).status == 401
        assert (await running.chat(headers={"authorization": f"Bearer {two}"})).status == 200


HOSTS = {
    "localhost": 200, "localhost:1234": 200, "127.0.0.1": 200, "127.0.0.1:8080": 200, "[::1]": 200, "[::1]:8080": 200,
    "LOCALHOST": 200, "evil.example": 401, "evil.example:8080": 401, "localhost.evil.example": 401, "10.0.0.1": 401,
    "127.0.0.1.nip.io": 401, "localhost@evil.example": 401, "evil.example#localhost": 401, "[": 401, "[::1": 401,
    "0": 401, "0.0.0.0": 401, "localhost:99999999": 200,
}  # fmt: skip


async def test_without_keys_only_this_machine_by_its_own_name_is_served(tmp_path: Path) -> None:
    """A page in a browser that rebinds its name to 127.0.0.1 still says its own name."""
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        for host, expected in HOSTS.items():
            for path in ("/v1/chat/completions", "/v1/embeddings"):
                raw = post(CHAT, path).replace(b"host: localhost", f"host: {host}".encode())
                status, _, body = await answered(running, raw)
                assert status == expected, (host, status, body)
                if expected == 401:
                    assert "retrace key" in shaped(body)["message"]
        assert len(up.calls) == 2 * list(HOSTS.values()).count(200)


async def test_with_keys_the_host_does_not_matter(tmp_path: Path) -> None:
    key = new_key()
    tiers = keys(tmp_path, {"hash": hashed(key), "tenant": "a"})
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], tiers=tiers) as running:
        for host in HOSTS:
            raw = post(CHAT, authorization=f"Bearer {key}").replace(b"host: localhost", f"host: {host}".encode())
            assert (await answered(running, raw))[0] == 200


async def test_the_house_speaks_of_itself(tmp_path: Path) -> None:
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], RULES) as running:
        async with running.http.get(f"{running.url}/healthz") as response:
            assert (response.status, await response.json()) == (200, {"status": "alive"})
        async with running.http.get(f"{running.url}/readyz") as response:
            told = orjson.loads(await response.read())
            assert told["ready"] is True
            assert told["backends"] == {"up": True}
            assert told["retrace"] == {"up": False}
            assert told["rules"] == 2
            assert len(told["revision"]) == 12
        async with running.http.get(f"{running.url}/metrics") as response:
            page = await response.text()
            assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "# HELP retrace_requests_total" in page
        for path in ("/healthz", "/readyz", "/metrics"):
            async with running.http.post(f"{running.url}{path}") as response:
                assert response.status == 404


@pytest.mark.parametrize("stream", [True, False])
async def test_one_connection_carries_many_requests(tmp_path: Path, stream: bool) -> None:
    script = streams(chat_stream("hi")) if stream else answers(completion("hi"))
    async with upstream(script) as (url, _), gateway(tmp_path, [url]) as running, wire(running) as (reader, writer):
        for _ in range(5):
            writer.write(post({**CHAT, "stream": stream}))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            assert b"200" in head
            if stream:
                await reader.readuntil(b"0\r\n\r\n")
            else:
                size = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(size)


async def test_streams_are_not_held_by_proxies_on_the_way(tmp_path: Path) -> None:
    async with upstream(streams(chat_stream("hi"))) as (url, _), gateway(tmp_path, [url]) as running:
        response = await running.chat(stream=True)
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["content-type"] == "text/event-stream"
        assert said(await response.read()) == "hi"


async def test_it_stops_while_streams_run_and_closes_them(tmp_path: Path) -> None:
    endless = streams([*chat_stream("hi", done=False)[:2]] * 1000, pause=0.01)
    async with upstream(endless) as (url, up):
        async with gateway(tmp_path, [url]) as running:
            response = await running.chat(stream=True)
            await response.content.readany()
            running.server._runner._shutdown_timeout = 0.1  # type: ignore[union-attr]
            async with asyncio.timeout(5):
                await running.server.stop()
        await asyncio.wait_for(up.calls[-1].closed.wait(), 1)


async def test_an_environment_variable_for_a_key_must_be_there(tmp_path: Path) -> None:
    os.environ.pop("NO_SUCH_KEY", None)
    tiers = keys(tmp_path, {"env": "NO_SUCH_KEY", "tenant": "a"})
    async with upstream(answers(b"")) as (url, _):
        with pytest.raises(ConfigFault, match="NO_SUCH_KEY"):
            async with gateway(tmp_path, [url], tiers=tiers):
                pass
