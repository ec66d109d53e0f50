"""The audit log of a running gateway."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.audit._files import chains
from gateway.audit.page import rendered
from gateway.audit.proof import verified
from gateway.audit.story import name_of, told
from tests.answering import says
from tests.audit.logs import lines
from tests.audit.running import counted, log_of, logged, written
from tests.dialects import PATHS, SURFACES, before
from tests.plugin import REPORT, engine, in_front
from tests.rig import answers, completion, gateway, quiet, regex, until, upstream

FULL: dict[str, Any] = {"audit": {"text": "full"}}


async def test_without_a_word_in_the_file_nothing_is_written(tmp_path: Path) -> None:
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], []) as running:
        await running.chat("hello")
    assert not logged(tmp_path)


async def test_each_exchange_has_its_line_and_the_configuration_stands_before_it(tmp_path: Path) -> None:
    rules = [regex("bomb", id="in", side="input"), regex("surely", id="out", action="tag")]
    async with (
        upstream(answers(completion("surely fine"))) as (url, _),
        gateway(tmp_path, [url], rules, **FULL) as running,
    ):
        first = await running.chat("hello", {"x-retrace-session": "s1"}, temperature=0.5)
        await running.chat("a bomb")
        await running.http.get(f"{running.url}/v1/nothing")
        passed, blocked = await written(running, 2)
        houses = {house["revision"]: house for house in log_of(running, "house")}
        await counted(running, "written", 3)
    assert passed["id"] == first.headers["x-retrace-id"]
    assert (passed["status"], passed["verdict"], passed["backend"], passed["model"]) == (200, "tag", "up", "m")
    assert (passed["parameters"], passed["usage"], len(passed["session"])) == ({"temperature": 0.5}, [7, 5], 16)
    assert passed["asked"] == [{"role": "user", "text": "hello"}]
    assert passed["said"] == {"0": "surely fine"}
    assert [(one["rule"], one["side"]) for one in passed["findings"]] == [("out", "output")]
    assert (blocked["status"], blocked["verdict"], blocked["said"]) == (400, "block", {})
    assert blocked["asked"] == [{"role": "user", "text": "a bomb"}]
    assert houses[passed["revision"]]["rules"].keys() == {"in", "out"}
    assert all(chain.broken is None for chain in verified(tmp_path / "audit"))
    assert [line["kind"] for line in lines(tmp_path / "audit")][-1] == "stop"


async def test_what_an_engine_reused_is_written_and_leads_back(tmp_path: Path) -> None:
    long = "The rules of the house are these. " * 120
    async with (
        engine(answers(completion("a bad word"))) as (url, up, plugin),
        in_front(tmp_path, [url], [regex("bad word")], audit={}) as running,
    ):
        first = await running.chat(long)
        await until(lambda: plugin.heard)
        await written(running, 1, "reuse")
        up.script = answers(completion("fine"))
        plugin.report = {**REPORT, "injected_tokens": 256, "mode": "prefix"}
        second = await running.chat(long + "And now?")
        reused = await written(running, 2, "reuse")
        made, served = await written(running, 2)
    assert served["captures"][0]["donor"] == made["captures"][0]["capture"] == reused[1]["donor"]
    assert (reused[1]["injected"], reused[1]["kv"]["prev"]) == (256, reused[0]["kv"]["hash"])
    story = told(tmp_path / "audit", second.headers["x-retrace-id"])
    assert story is not None
    assert [hop.capture["exchange"] for hop in story.hops] == [
        second.headers["x-retrace-id"],
        first.headers["x-retrace-id"],
    ]
    assert "R101" in rendered(story)


async def test_an_act_of_the_gateway_is_written(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], [], audit={}) as running:
        running.server.auditor.note("act", {"what": "fallback", "code": "R203", "why": {"cs": 0.7}})
        (line,) = await written(running, 1, "act")
    assert (line["what"], line["code"], line["why"]) == ("fallback", "R203", {"cs": 0.7})


async def test_without_a_log_an_act_is_no_matter(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], []) as running:
        running.server.auditor.note("act", {})
    assert not logged(tmp_path)


async def test_a_disk_that_refuses_costs_no_request_and_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "audit").write_text("in the way")
    with caplog.at_level(logging.ERROR):
        async with (
            upstream(answers(completion("fine"))) as (url, _),
            gateway(tmp_path, [url], [], audit={}) as running,
        ):
            assert (await running.chat("hello")).status == 200
            await counted(running, "failed", 1)
            (tmp_path / "audit").unlink()
            (line,) = await written(running)
            await quiet(running)
    assert line["status"] == 200
    assert "can't be written" in caplog.text


async def test_the_log_is_turned_on_off_and_elsewhere_by_an_edit(tmp_path: Path) -> None:
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], []) as running:

        async def edited(audit: Any) -> None:
            before = running.server.steward.house.revision
            path = tmp_path / "gateway.yaml"
            file = yaml.safe_load(path.read_text())
            path.write_text(yaml.safe_dump({**file, "audit": audit}))
            await until(lambda: running.server.steward.house.revision != before, 5)
            await (await running.chat("hello")).read()

        await edited({})
        await written(running)
        await edited({"folder": "elsewhere"})
        await until(lambda: chains(tmp_path / "elsewhere"), 10)
        await edited(None)
        await quiet(running)
    for name in ("audit", "elsewhere"):
        told = [line["kind"] for line in lines(tmp_path / name)]
        assert list(dict.fromkeys(told)) == ["start", "house", "exchange", "stop"]
        assert told.count("exchange") == told.count("start") == told.count("stop") == 1


@pytest.mark.long
async def test_what_is_written_does_not_have_the_files_read_again(tmp_path: Path) -> None:
    """The log lies beside the files that are followed."""
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], [], audit={}) as running:
        await running.chat("hello")
        await written(running)
        await asyncio.sleep(1.2)
        before = await running.metrics()
        for _ in range(6):
            await running.chat("hello")
            await asyncio.sleep(0.15)
        await written(running, 7)
        after = await running.metrics()
    name = 'retrace_reloads_total{result="ok"}'
    assert after[name] == before[name]


@pytest.mark.parametrize("surface", SURFACES)
async def test_the_name_that_a_message_has_leads_to_its_story(tmp_path: Path, surface: str) -> None:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
    body = {"completions": {"prompt": "hi"}, "responses": {"input": "hi"}}.get(surface, asked)
    async with before(tmp_path, says("fine"), **FULL) as (sdks, _):
        answer = orjson.loads(await sdks.running.ask(PATHS[surface], {"model": "m", **body}))
        await written(sdks.running)
        head = await sdks.running.http.post(f"{sdks.running.url}{PATHS[surface]}", json={"model": "m", **body})
        await written(sdks.running, 2)
    name = answer["id"] if surface in ("responses", "messages") else head.headers["x-retrace-id"]
    assert told(tmp_path / "audit", name_of(name)) is not None
