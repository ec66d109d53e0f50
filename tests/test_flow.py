"""Bodies that come piece by piece. How they look on a wire stands in test_pipeline.py and cases/."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.flow import WholeFlow
from tests.refine.rigs import ANSWER, RATE, after, both, reads, refining, says
from tests.rig import (
    chat_stream,
    chunk,
    delta,
    gateway,
    payloads,
    raw_answer,
    regex,
    said,
    stream_head,
    streams,
    upstream,
)


async def test_a_body_that_is_known_is_written_at_once() -> None:
    written: list[bytes] = []

    async def write(piece: bytes) -> None:
        written.append(piece)

    flow = WholeFlow(b"all of it")
    await flow.run(write)
    flow.close()
    assert written == [b"all of it"]


async def test_what_output_rules_find_in_a_stream_is_counted_once(tmp_path: Path) -> None:
    script = streams(chat_stream("a ", "secret ", "here"))
    async with upstream(script) as (url, _), gateway(tmp_path, [url], [regex("secret", action="mask")]) as running:
        async with await running.chat(stream=True) as response:
            await response.read()
        told = await running.metrics()
    assert told['retrace_verdicts_total{action="mask",reason="R101",rule="output.regex",side="output"}'] == 1


async def test_a_stream_that_waits_says_so_and_then_what_went_wrong(tmp_path: Path) -> None:
    async with gateway(tmp_path, ["http://127.0.0.1:9"], limits={"keep_alive_seconds": 0.05}) as running:
        response = await running.chat(stream=True)
        body = await response.read()
    assert response.status == 200
    assert b'"error"' in body
    assert b"[DONE]" not in body


def torn(*events: bytes) -> bytes:
    return stream_head() + b"".join(map(chunk, events))


@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_of_a_stream_that_is_torn_all_that_came_leaves_judged_before_the_error(
    tmp_path: Path, delivery: str
) -> None:
    """Also what was kept back until it was known how the answer ends, and what stood behind that."""
    script = raw_answer(torn(delta("one "), delta(finish="stop"), delta("two, secret", index=1)))
    rules = [regex("secret", action="mask")]
    async with refining(tmp_path, both(script, reads()), rules, delivery=delivery) as (running, readings):
        body = await (await running.chat(stream=True, n=2)).read()
    assert (said(body, 0), said(body, 1)) == ("one ", "two, ***")
    assert payloads(body)[-1]["error"]["code"] == "upstream_error"
    assert b"[DONE]" not in body
    assert readings() == []


@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_a_stream_that_waits_for_its_first_word_is_reviewed_like_any(tmp_path: Path, delivery: str) -> None:
    script = both(after(0.1, says(ANSWER, True)), reads(RATE))
    async with refining(tmp_path, script, delivery=delivery, marks="clean") as (running, _):
        config = tmp_path / "gateway.yaml"
        config.write_text(config.read_text() + "limits: {keep_alive_seconds: 0.03}\n")
        await running.server.steward.reload(running.server._apply)
        async with await running.chat(stream=True) as response:
            first, rest = await response.content.readany(), await response.read()
            assert response.headers["x-retrace-delivery"] == delivery
    assert first.startswith(b": keep-alive")
    assert "5.75" in said((first + rest).replace(b": keep-alive\n", b""))
    assert rest.endswith(b"data: [DONE]\n\n")


async def test_who_answers_in_one_piece_though_a_stream_was_asked_for_is_reviewed_too(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), delivery="hold") as (running, _):
        response = await running.chat(stream=True)
        assert b"5.75 percent" in await response.read()
    assert response.headers["x-retrace-refined"] == "corrected"
