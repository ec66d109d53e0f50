"""Cases on what a blocked or broken request is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import CHAT, PROMPT, answers, completion, gateway, payloads, quiet, regex, said, shaped, upstream

SURFACES: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "the bad word"}]}),
    "completions": ("/v1/completions", {"prompt": "the bad word"}),
}
CHECKS: dict[str, dict[str, Any]] = {
    "regex": {"type": "regex", "pattern": "bad word"},
    "words": {"type": "words", "words": ["bad word"]},
    "length": {"type": "length", "max_chars": 3},
    "schema": {"type": "schema", "json_schema": {"type": "object"}},
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
async def test_C36_a_block_is_a_4xx_in_shape_never_a_500(
    tmp_path: Path, surface: str, stream: bool, check: str
) -> None:
    path, body = SURFACES[surface]
    rules = [{**regex("x", side="input", id="no"), "check": CHECKS[check]}]
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url], rules) as running:
        async with running.http.post(f"{running.url}{path}", json={**body, "model": "m", "stream": stream}) as response:
            assert response.status == 400
            assert response.headers["content-type"].startswith("application/json")
            assert response.headers["x-retrace-verdict"] == "block"
            assert response.headers["x-retrace-reason"] == "R101"
            assert response.headers["x-should-retry"] == "false"
            error = shaped(await response.read())
        assert error["code"] == "content_filter"
        assert error["type"] == "invalid_request_error"
        assert error["message"] == "[R101] Not this."
        assert error["retrace"] == {"reason": "R101", "rule": "no"}
        assert error["param"] == ("messages.0.content" if surface == "chat" else "prompt")
        assert "bad word" not in str(error)
        assert up.calls == []
        await quiet(running)


async def test_C36_the_reasons_status_and_language_are_used(tmp_path: Path) -> None:
    rules = [
        regex("炸弹", side="input", id="zh"),
        regex("own words", side="input", id="own", message={"en": "Ask another way."}),
        regex("forbidden", side="input", id="b", reason="R201"),
    ]
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], rules) as running:
        for text, message in (
            ("如何造炸弹？", "[R101] 此内容不可。"),
            ("with own words", "[R101] Ask another way."),
            ("forbidden", "[R201] No."),
        ):
            response = await running.chat(text)
            assert shaped(await response.read())["message"] == message


@pytest.mark.parametrize("surface", SURFACES)
async def test_C37_no_error_has_the_word_none_in_it(tmp_path: Path, surface: str) -> None:
    path, body = SURFACES[surface]
    requests: list[tuple[bytes, str]] = [
        (b"{", path),
        (b"[]", path),
        (b"{}", path),
        (orjson.dumps({**body, "model": "m", "stream": "yes"}), path),
        (orjson.dumps({**body, "model": "m"}), path),
        (b"{}", "/v1/audio/speech"),
    ]
    async with upstream(answers(b"", 500)) as (url, _), gateway(tmp_path, [url], backend={"retries": 0}) as running:
        for raw, where in requests:
            async with running.http.post(f"{running.url}{where}", data=raw) as response:
                assert response.status >= 400
                told = await response.read()
                error = shaped(told)
                assert b"None" not in told
                assert set(error) <= {"message", "type", "param", "code", "retrace"}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("n", [1, 3])
async def test_C38_a_canned_answer_costs_no_call(tmp_path: Path, surface: str, stream: bool, n: int) -> None:
    path, body = SURFACES[surface]
    rules = [regex("bad word", side="input", respond="answer")]
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url], rules) as running:
        asked = {**body, "model": "m", "stream": stream, "n": n}
        async with running.http.post(f"{running.url}{path}", json=asked) as response:
            raw = await response.read()
            assert response.status == 200
            assert response.headers["x-retrace-verdict"] == "block"
            assert response.headers["x-retrace-reason"] == "R101"
            kind = "text/event-stream" if stream else "application/json"
            assert response.headers["content-type"].startswith(kind)
        assert up.calls == []
        told = await running.metrics()
        await quiet(running)
    assert told[f'retrace_exchanges_total{{surface="{surface}",verdict="block"}}'] == 1
    parts = payloads(raw)[:-1] if stream else [orjson.loads(raw)]
    choices = [choice for part in parts for choice in part["choices"]]
    for index in range(n):
        mine = [choice for choice in choices if choice["index"] == index]
        if surface == "completions":
            assert "".join(choice["text"] for choice in mine) == "Not this."
        elif stream:
            assert said(raw, index) == "Not this."
        else:
            assert mine[0]["message"] == {"role": "assistant", "content": "Not this."}
        assert [choice["finish_reason"] for choice in mine if choice["finish_reason"]] == ["content_filter"]
    if stream:
        assert payloads(raw)[-1] == "[DONE]"


async def test_C38_the_same_for_a_prompt_list(tmp_path: Path) -> None:
    rules = [regex("bad word", side="input", respond="answer")]
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url], rules) as running:
        got = orjson.loads(await running.ask("/v1/completions", {**PROMPT, "prompt": ["fine", "the bad word"]}))
    assert [choice["text"] for choice in got["choices"]] == ["Not this."] * 2
    assert up.calls == []
    assert CHAT  # the other surface knows no lists
