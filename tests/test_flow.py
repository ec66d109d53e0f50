"""Bodies that come piece by piece. How they look on a wire stands in test_pipeline.py and cases/."""

from __future__ import annotations

from pathlib import Path

from gateway.flow import WholeFlow
from tests.rig import chat_stream, gateway, regex, streams, upstream


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
