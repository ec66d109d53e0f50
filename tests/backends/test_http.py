"""An endpoint behind HTTP, through a real gateway: which replica is asked, again or not, and what its health does."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import (
    CHAT,
    DONE,
    RawUpstream,
    Running,
    Script,
    Seen,
    answers,
    black_hole,
    chat_stream,
    chunk,
    completion,
    delta,
    gateway,
    http,
    payloads,
    quiet,
    raw_answer,
    said,
    shaped,
    silent,
    stream_head,
    streams,
    until,
    upstream,
)

CLOSED = "http://127.0.0.1:9"  # the discard port: nobody listens there
ERRORS = 'retrace_upstream_errors_total{{backend="up",kind="{}"}}'


async def names(running: Running) -> dict[str, bool]:
    async with running.http.get(f"{running.url}/readyz") as response:
        told: dict[str, Any] = orjson.loads(await response.read())
        return {"ready": told["ready"], "status": response.status == 200}


def replicas(running: Running) -> list[Any]:
    backend: Any = running.server._fleet._living[0][1]
    return list(backend._replicas.all)


async def test_calls_go_where_the_least_is_under_way(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        writer.write(http(completion("slow")))

    async with (
        upstream(slow) as (one, first),
        upstream(answers(completion("fast"))) as (two, second),
        gateway(tmp_path, [one, two]) as running,
    ):
        held = asyncio.create_task(running.ask("/v1/chat/completions", CHAT))
        await until(lambda: first.calls)
        for _ in range(6):
            assert b"fast" in await running.ask("/v1/chat/completions", CHAT)
        assert (len(first.calls), len(second.calls)) == (1, 6)
        go.set()
        assert b"slow" in await held
        await quiet(running)


async def test_equal_ones_share_the_load(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        ups = [await stack.enter_async_context(upstream(answers(completion("x")))) for _ in range(3)]
        running = await stack.enter_async_context(gateway(tmp_path, [url for url, _ in ups]))
        for _ in range(12):
            await running.ask("/v1/chat/completions", CHAT)
        assert [len(up.calls) for _, up in ups] == [4, 4, 4]


async def up_again(running: Running, script: Script | None) -> None:
    """What died a moment ago still counts as healthy, though the first probe was here already."""
    if script is None:
        await until(lambda: not replicas(running)[0].healthy)
        replicas(running)[0].healthy = True


FAILS: dict[str, tuple[Script | None, str]] = {
    "refused": (None, "unreachable"),
    "closed without a word": (raw_answer(b""), "broken_off"),
    "half a head": (raw_answer(b"HTTP/1.1 200 OK\r\nconte"), "broken_off"),
    "no HTTP at all": (raw_answer(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "broken_off"),
    "a head and no body": (raw_answer(http(b"{}")[:-2].replace(b"length: 2", b"length: 9")), "broken_off"),
    "502": (answers(b"", 502), "status_502"),
    "503": (answers(b'{"error":{"message":"busy"}}', 503), "status_503"),
    "504": (answers(b"", 504), "status_504"),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fails", FAILS)
async def test_before_the_first_byte_another_replica_is_asked(tmp_path: Path, fails: str, stream: bool) -> None:
    script, kind = FAILS[fails]
    good = streams(chat_stream("hello")) if stream else answers(completion("hello"))
    async with upstream(script or silent) as (one, _), upstream(good) as (two, second):
        first = CLOSED if script is None else one
        async with gateway(tmp_path, [first, two], backend={"health_seconds": 60}) as running:
            await up_again(running, script)
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": stream})
            assert b"hello" in got
            assert len(second.calls) == 1
            told = await running.metrics()
            assert told[ERRORS.format(kind)] == 1
            await quiet(running)


@pytest.mark.parametrize("fails", [name for name in FAILS if not name.startswith("5")])
async def test_without_another_replica_it_is_a_502_that_says_so(tmp_path: Path, fails: str) -> None:
    script, kind = FAILS[fails]
    async with upstream(script or silent) as (url, _):
        address = CLOSED if script is None else url
        async with gateway(tmp_path, [address], backend={"retries": 0, "health_seconds": 60}) as running:
            await up_again(running, script)
            response = await running.chat()
            assert response.status == 502
            assert shaped(await response.read())["code"] == "upstream_error"
            assert (await running.metrics())[ERRORS.format(kind)] == 1  # counted once
            await quiet(running)


async def test_after_the_first_byte_nobody_is_asked_again(tmp_path: Path) -> None:
    for ending in (b"", chunk(b""), chunk(b"data: {{\n\n")):
        dying = raw_answer(stream_head(), chunk(delta("half ")), ending)
        async with (
            upstream(dying) as (one, first),
            upstream(dying) as (two, second),
            gateway(tmp_path, [one, two], backend={"retries": 5}) as running,
        ):
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
            assert said(got) == "half "
            assert payloads(got)[-1]["error"]["code"] == "upstream_error"
            assert len(first.calls) + len(second.calls) == 1
            await quiet(running)


async def test_nor_when_the_answer_has_begun_and_is_no_stream(tmp_path: Path) -> None:
    begun = raw_answer(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
    async with (
        upstream(begun) as (one, first),
        upstream(begun) as (two, second),
        gateway(tmp_path, [one, two], backend={"retries": 5}) as running,
    ):
        response = await running.chat()
        assert response.status == 502
        shaped(await response.read())
        assert len(first.calls) + len(second.calls) == 1
        assert (await running.metrics())[ERRORS.format("broken_off")] == 1


@pytest.mark.parametrize("status", [400, 404, 422, 429, 500])
async def test_an_answer_is_an_answer_and_not_asked_for_twice(tmp_path: Path, status: int) -> None:
    async with AsyncExitStack() as stack:
        ups = [await stack.enter_async_context(upstream(answers(b"{}", status))) for _ in range(2)]
        running = await stack.enter_async_context(gateway(tmp_path, [url for url, _ in ups]))
        assert (await running.chat()).status == status
        assert sum(len(up.calls) for _, up in ups) == 1


async def test_as_many_tries_as_retries_allow(tmp_path: Path) -> None:
    for retries, calls in ((0, 1), (1, 2), (3, 4)):
        async with AsyncExitStack() as stack:
            ups = [await stack.enter_async_context(upstream(raw_answer(b""))) for _ in range(4)]
            running = await stack.enter_async_context(
                gateway(tmp_path, [url for url, _ in ups], backend={"retries": retries})
            )
            assert (await running.chat()).status == 502
            assert sum(len(up.calls) for _, up in ups) == calls
            assert Counter(len(up.calls) for _, up in ups)[1] == calls  # each at most once


async def test_the_last_503_reaches_the_client(tmp_path: Path) -> None:
    busy = answers(b'{"error":{"message":"busy","type":"x","param":null,"code":null}}', 503, {"retry-after": "7"})
    async with upstream(busy) as (one, _), upstream(busy) as (two, _), gateway(tmp_path, [one, two]) as running:
        response = await running.chat()
        assert response.status == 503
        assert response.headers["retry-after"] == "7"
        assert shaped(await response.read())["message"] == "busy"


async def test_all_down_is_a_503_that_helps(tmp_path: Path) -> None:
    async with gateway(tmp_path, [CLOSED], backend={"health_seconds": 60}) as running:
        await until(lambda: not replicas(running)[0].healthy)
        for path in ("/v1/chat/completions", "/v1/embeddings"):
            async with running.http.post(f"{running.url}{path}", json={**CHAT, "stream": True}) as response:
                assert response.status == 503
                error = shaped(await response.read())
            assert error["code"] == "no_healthy_backend"
            assert "/readyz" in error["message"]
        assert await names(running) == {"ready": False, "status": False}
        await quiet(running)


async def test_health_takes_out_and_brings_back(tmp_path: Path) -> None:
    well = True

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.path == "/v1/models":
            writer.write(http(b"{}", 200 if well else 500))
        else:
            writer.write(http(completion("one")))

    two_script = answers(completion("two"))
    async with upstream(script) as (one, _), upstream(two_script) as (two, _):
        backend = {"type": "openai", "health_seconds": 0.03}
        async with gateway(tmp_path, [one, two], backend=backend) as running:
            assert await names(running) == {"ready": True, "status": True}
            well = False
            await until(lambda: not replicas(running)[0].healthy)
            for _ in range(4):
                assert b"two" in await running.ask("/v1/chat/completions", CHAT)
            well = True
            await until(lambda: replicas(running)[0].healthy)
            got = [await running.ask("/v1/chat/completions", CHAT) for _ in range(4)]
            assert sum(b"one" in body for body in got) == 2


async def test_a_replica_that_comes_late_is_found(tmp_path: Path) -> None:
    """The gateway may start before its backend."""
    up = RawUpstream(answers(completion("late")))
    spare = await asyncio.start_server(up.serve, "127.0.0.1", 0)
    port = spare.sockets[0].getsockname()[1]
    spare.close()
    await spare.wait_closed()
    async with gateway(tmp_path, [f"http://127.0.0.1:{port}"], backend={"health_seconds": 0.05}) as running:
        await until(lambda: not replicas(running)[0].healthy)
        assert (await running.chat()).status == 503
        server = await asyncio.start_server(up.serve, "127.0.0.1", port)
        await until(lambda: replicas(running)[0].healthy)
        assert b"late" in await running.ask("/v1/chat/completions", CHAT)
        server.close()


async def test_a_health_check_that_hangs_is_no_health(tmp_path: Path) -> None:
    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await (silent if seen.path == "/v1/models" else answers(completion("x")))(seen, writer)

    backend = {"type": "openai", "health_seconds": 0.05, "timeouts": {"connect": 0.1}}
    async with upstream(script) as (url, _), gateway(tmp_path, [url], backend=backend) as running:
        await until(lambda: not replicas(running)[0].healthy)


async def test_connections_are_kept_and_used_again(tmp_path: Path) -> None:
    ports: set[int] = set()

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        ports.add(writer.get_extra_info("peername")[1])
        await (streams(chat_stream("x")) if seen.json.get("stream") else answers(completion("x")))(seen, writer)

    async with upstream(script) as (url, _), gateway(tmp_path, [url]) as running:
        for number in range(10):
            await running.ask("/v1/chat/completions", {**CHAT, "stream": number % 2 == 0})
    assert len(ports) <= 2  # one may be busy with its last bytes


async def test_a_body_that_goes_on_behind_its_end_does_not_hold_the_client(tmp_path: Path) -> None:
    events = chat_stream("hello")
    hanging = raw_answer(stream_head(), *(chunk(item) for item in events), hang=True)
    async with upstream(hanging) as (url, up), gateway(tmp_path, [url]) as running:
        async with asyncio.timeout(1):
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        assert said(got) == "hello"
        assert got.endswith(DONE)
        await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
        await quiet(running)


async def test_who_is_not_reached_in_time_leaves_it_to_another(tmp_path: Path) -> None:
    good = answers(completion("hello"))
    backend = {"timeouts": {"connect": 0.15}, "health_seconds": 60}
    with black_hole() as nowhere:
        async with upstream(good) as (url, second), gateway(tmp_path, [nowhere, url], backend=backend) as running:
            assert b"hello" in await running.ask("/v1/chat/completions", CHAT)
            assert len(second.calls) == 1


async def test_a_body_whose_framing_turns_to_garbage_is_not_waited_for(tmp_path: Path) -> None:
    script = raw_answer(stream_head(), chunk(delta("hello ")), b"zz\r\n", hang=True)
    async with upstream(script) as (url, _), gateway(tmp_path, [url], backend={"timeouts": {"idle": 60}}) as running:
        got = await asyncio.wait_for(running.ask("/v1/chat/completions", {**CHAT, "stream": True}), 10)
    assert said(got) == "hello "
    assert b"broke off" in got
    assert b"[DONE]" not in got
