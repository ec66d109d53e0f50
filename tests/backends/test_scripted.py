"""The backend that needs no model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.errors import ConfigFault
from tests.rig import PROMPT, Running, payloads, regex, said, serving, write_config

RAW = '{"choices": [{"index": 0, "delta": {"content": "raw"}, "finish_reason": "stop"}]}'
ANSWERS: list[dict[str, Any]] = [
    {"when": "weather", "text": "It is sunny today."},
    {"when": "slow", "text": "a b c", "delay": 0.05},
    {"when": "events", "events": [RAW, "[DONE]"]},
    {"when": "fails", "body": {"error": {"message": "no", "type": "t", "param": None, "code": None}}, "status": 418},
    {"when": "breaks", "events": ["{not json", "[DONE]"]},
    {"text": "Anything else."},
]


def config(folder: Path, answers: list[dict[str, Any]]) -> Path:
    (folder / "script.yaml").write_text(yaml.safe_dump({"answers": answers}))
    path = write_config(folder, [], [regex("sunny", action="mask")])
    main = yaml.safe_load(path.read_text())
    main["backends"] = [{"name": "s", "type": "scripted", "file": "script.yaml"}]
    path.write_text(yaml.safe_dump(main))
    return path


async def ask(running: Running, text: str, **fields: Any) -> bytes:
    return await (await running.chat(text, **fields)).read()


async def test_the_first_answer_that_fits_is_given_in_the_shape_asked_for(tmp_path: Path) -> None:
    async with serving(config(tmp_path, ANSWERS)) as running:
        body = orjson.loads(await ask(running, "the weather?"))
        assert body["choices"][0]["message"]["content"] == "It is *** today."
        assert body["usage"]["completion_tokens"] == 4
        got = await ask(running, "the weather?", stream=True, stream_options={"include_usage": True})
        assert said(got) == "It is *** today."
        assert payloads(got)[-1] == "[DONE]"
        assert payloads(got)[-2]["usage"]["completion_tokens"] == 4
        text = orjson.loads(await running.ask("/v1/completions", PROMPT))
        assert text["choices"][0]["text"] == "Anything else."
        assert said(await ask(running, "events", stream=True)) == "raw"


async def test_delay_status_and_breakage_are_real(tmp_path: Path) -> None:
    async with serving(config(tmp_path, ANSWERS)) as running:
        began = time.perf_counter()
        assert said(await ask(running, "slow", stream=True)) == "a b c"
        assert time.perf_counter() - began > 0.15
        response = await running.chat("fails")
        assert response.status == 418
        assert orjson.loads(await response.read())["error"]["message"] == "no"
        assert "error" in payloads(await ask(running, "breaks", stream=True))[-1]


async def test_no_answer_for_a_request_is_said(tmp_path: Path) -> None:
    async with serving(config(tmp_path, ANSWERS[:1])) as running:
        response = await running.chat("something else")
        assert response.status == 502
        assert "without `when`" in orjson.loads(await response.read())["error"]["message"]
        assert (await running.metrics())['retrace_upstream_errors_total{backend="s",kind="script"}'] == 1


async def test_it_is_always_ready(tmp_path: Path) -> None:
    async with serving(config(tmp_path, ANSWERS)) as running, running.http.get(f"{running.url}/readyz") as response:
        assert response.status == 200
        assert orjson.loads(await response.read())["backends"] == {"s": True}


@pytest.mark.parametrize(
    "answer", [{}, {"text": "a", "body": {}}, {"text": "a", "delay": -1}, {"txt": "a"}, {"text": "a", "status": 99}]
)
async def test_a_script_that_is_none_is_refused_with_its_name(tmp_path: Path, answer: dict[str, Any]) -> None:
    with pytest.raises(ConfigFault, match="script"):
        async with serving(config(tmp_path, [answer])):
            pass
