"""Which backend serves a model, and what a reload does to those that live."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.backends.openai import Plug
from gateway.errors import BadRequest, Unavailable, UpstreamFault
from gateway.fleet import Fleet
from gateway.metrics import Metrics
from gateway.upstream import Upstream
from tests.rig import (
    CHAT,
    DONE,
    Seen,
    answers,
    chunk,
    completion,
    delta,
    gateway,
    payloads,
    quiet,
    said,
    serving,
    stream_head,
    until,
    upstream,
    write_config,
)


def spec(name: str, port: int = 1, **fields: Any) -> Plug:
    return Plug(name=name, urls=(f"http://127.0.0.1:{port}",), health_seconds=60, **fields)


async def test_the_first_that_serves_a_model_is_taken() -> None:
    fleet = Fleet(lambda _name, _kind: None)
    await fleet.apply(
        [spec("llama", models=("llama-*",)), spec("exact", models=("qwen",)), spec("rest", models=("*",))]
    )
    for model, name in (("llama-3", "llama"), ("qwen", "exact"), ("qwen2", "rest"), ("", "rest"), ("llama", "rest")):
        assert fleet.serving(model)[0] == name
        assert fleet.name(model) == name
    await fleet.stop()


async def test_a_model_that_nobody_serves() -> None:
    fleet = Fleet(lambda _name, _kind: None)
    await fleet.apply([spec("only", models=("llama-*",))])
    with pytest.raises(BadRequest) as caught:
        fleet.serving("gpt")
    assert caught.value.param == "model"
    Upstream(fleet, Metrics()).count("gpt", UpstreamFault("x", kind="k"))  # a reload may have taken it away
    await fleet.stop()


async def test_one_is_found_by_its_name_whatever_it_serves() -> None:
    fleet = Fleet(lambda _name, _kind: None)
    await fleet.apply([spec("a"), spec("b", models=("other",))])
    name, backend = fleet.named("b")
    assert (name, backend) == ("b", fleet._living[1][1])
    assert fleet.named("a") == fleet.serving("m")
    await fleet.apply([spec("a")])
    with pytest.raises(Unavailable, match="no backend b any more"):
        fleet.named("b")
    await fleet.stop()


async def test_what_did_not_change_lives_on_and_what_went_ends_later() -> None:
    fleet = Fleet(lambda _name, _kind: None)
    await fleet.apply([spec("a"), spec("b")])
    a, b = (fleet.serving("x")[1], fleet._living[1][1])
    await fleet.apply([spec("b"), spec("a"), spec("c")], linger=0.02)
    assert [backend for _, backend in fleet._living][:2] == [b, a]
    await fleet.apply([spec("a", port=2)], linger=0.02)
    assert fleet.serving("x")[1] is not a
    assert len(fleet._retiring) == 3
    await until(lambda: not fleet._retiring)
    await fleet.stop()


async def test_stop_ends_those_that_linger_too() -> None:
    fleet = Fleet(lambda _name, _kind: None)
    await fleet.apply([spec("a")])
    await fleet.apply([spec("b")])
    async with asyncio.timeout(1):
        await fleet.stop()


async def test_two_backends_behind_one_gateway(tmp_path: Path) -> None:
    async with upstream(answers(completion("one"))) as (one, _), upstream(answers(completion("two"))) as (two, _):
        path = write_config(tmp_path, [one], [])
        main = yaml.safe_load(path.read_text())
        main["backends"] = [
            {"name": "one", "type": "openai", "urls": [one], "models": ["m-*"]},
            {"name": "two", "type": "vllm", "urls": [f"{two}/v1/"]},
        ]
        path.write_text(yaml.safe_dump(main))
        async with serving(path) as running:
            for path_ in ("/v1/chat/completions", "/v1/embeddings"):
                assert b"one" in await running.ask(path_, {**CHAT, "model": "m-7"})
                assert b"two" in await running.ask(path_, {**CHAT, "model": "other"})
            await quiet(running)


async def test_a_stream_outlives_its_backend_and_its_fault_is_told(tmp_path: Path) -> None:
    """The reload took the backend away, also its model; the stream that breaks afterwards must still end well."""
    for ends_well in (True, False):
        go = asyncio.Event()

        async def script(
            _seen: Seen, writer: asyncio.StreamWriter, go: asyncio.Event = go, well: bool = ends_well
        ) -> None:
            writer.write(stream_head() + chunk(delta("one ")))
            await go.wait()
            if well:
                writer.write(chunk(delta("two", finish="stop")) + chunk(DONE) + chunk(b""))
            else:
                writer.transport.abort()

        folder = tmp_path / str(ends_well)
        folder.mkdir()
        async with (
            upstream(script) as (url, _),
            upstream(answers(completion("x"))) as (other, _),
            gateway(folder, [url]) as running,
        ):
            response = await running.chat(stream=True)
            first = await response.content.readany()
            write_config(folder, [other], [], backend={"models": ["another"]})
            await running.server.steward.reload(running.server._apply)
            go.set()
            got = first + await response.read()
            assert said(got) == ("one two" if ends_well else "one ")
            assert (payloads(got)[-1] == "[DONE]") is ends_well
