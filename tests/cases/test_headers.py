"""Cases on headers: no credential crosses the house in either direction, one policy on every path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.keys import hashed
from tests.rig import (
    CHAT,
    PROMPT,
    Script,
    answered,
    answers,
    chat_stream,
    completion,
    gateway,
    post,
    regex,
    streams,
    text_stream,
    upstream,
)

SECRET = "rtk-the-clients-own-key"
PATHS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": ("POST", "/v1/chat/completions", CHAT),
    "chat stream": ("POST", "/v1/chat/completions", {**CHAT, "stream": True}),
    "completions": ("POST", "/v1/completions", PROMPT),
    "completions stream": ("POST", "/v1/completions", {**PROMPT, "stream": True}),
    "embeddings": ("POST", "/v1/embeddings", {"model": "m", "input": "hi"}),
    "models": ("GET", "/v1/models", {}),
    "model": ("GET", "/v1/models/m?limit=3", {}),
    "tokenize": ("POST", "/tokenize", {"model": "m", "prompt": "hi"}),
}
SENT = {
    "authorization": f"Bearer {SECRET}",
    "x-api-key": SECRET,
    "api-key": SECRET,
    "cookie": f"session={SECRET}",
    "proxy-authorization": f"Basic {SECRET}",
    "x-goog-api-key": SECRET,
    "openai-organization": "org-of-client",
    "x-retrace-explain": "1",
    "x-retrace-verdict": "allow",
    "x-pass-authorization": SECRET,
    "x-forwarded-for": "10.9.8.7",
    "forwarded": "for=10.9.8.7",
    "x-real-ip": "10.9.8.7",
    "origin": "https://app.example",
    "referer": f"https://app.example/?key={SECRET}",
    "te": "trailers",
    "keep-alive": "timeout=5",
    "upgrade-insecure-requests": "1",
    "accept-encoding": "gzip, br",
    "user-agent": "client/1.0",
    "x-stainless-lang": "python",
    "x-request-id": "req-1",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "a=1",
    "accept-language": "zh",
}
MAY_PASS = {"host", "accept", "accept-encoding", "content-type", "content-length", "x-request-id", "traceparent",
            "tracestate", "accept-language", "authorization"}  # fmt: skip


def script(name: str) -> Script:
    events = {"chat stream": chat_stream("hi"), "completions stream": text_stream("hi")}
    return streams(events[name]) if name in events else answers(completion("hi"))


@pytest.mark.parametrize("own_key", [True, False])
@pytest.mark.parametrize("name", PATHS)
async def test_C58_no_credential_of_the_client_goes_upstream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, own_key: bool
) -> None:
    monkeypatch.setenv("ENGINE_KEY", "sk-engine")
    (tmp_path / "tiers.yaml").write_text(yaml.safe_dump({"keys": [{"hash": hashed(SECRET), "tenant": "a"}]}))
    backend = {"key_env": "ENGINE_KEY"} if own_key else {}
    method, path, body = PATHS[name]
    async with (
        upstream(script(name)) as (url, up),
        gateway(tmp_path, [url], [regex("bomb")], backend=backend, tiers="tiers.yaml") as running,
    ):
        asked: dict[str, Any] = {"json": body} if body else {}
        async with running.http.request(method, f"{running.url}{path}", headers=SENT, **asked) as response:
            assert response.status == 200
            back = response.headers.copy()
            await response.read()
    seen = next(call for call in up.seen if call.path == path)
    assert set(seen.headers) <= MAY_PASS
    assert SECRET not in str(seen.headers)
    assert seen.headers.get("authorization") == ("Bearer sk-engine" if own_key else None)
    assert seen.headers["x-request-id"] == "req-1"
    assert seen.headers["traceparent"] == SENT["traceparent"]
    assert "sk-engine" not in str(back)
    assert SECRET not in str(back)


async def test_C58_nor_do_health_checks_carry_what_a_client_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGINE_KEY", "sk-engine")
    async with (
        upstream(answers(completion("hi"))) as (url, up),
        gateway(tmp_path, [url], backend={"key_env": "ENGINE_KEY", "health_seconds": 0.02}) as running,
    ):
        for _ in range(3):
            await (await running.chat(headers=SENT)).read()
    for seen in up.seen:
        assert SECRET not in str(seen.headers)


@pytest.mark.parametrize("name", PATHS)
async def test_C58_what_the_upstream_says_of_itself_stays_behind(tmp_path: Path, name: str) -> None:
    told = {
        "set-cookie": "a=b",
        "server": "uvicorn",
        "www-authenticate": "Bearer",
        "connection": "keep-alive, x-hop",
        "x-hop": "1",
        "keep-alive": "timeout=5",
        "x-retrace-verdict": "block",
        "x-retrace-id": "theirs",
        "strict-transport-security": "max-age=1",
        "x-ratelimit-remaining": "7",
        "openai-processing-ms": "12",
    }
    method, path, body = PATHS[name]
    kind = streams(chat_stream("hi"), headers=told) if "stream" in name else answers(completion("hi"), headers=told)
    async with upstream(kind) as (url, _), gateway(tmp_path, [url]) as running:
        asked: dict[str, Any] = {"json": body} if body else {}
        async with running.http.request(method, f"{running.url}{path}", **asked) as response:
            await response.read()
            back = {key.lower(): value for key, value in response.headers.items()}
    assert not {"set-cookie", "www-authenticate", "x-hop", "keep-alive", "strict-transport-security"} & back.keys()
    assert back.get("server") != "uvicorn"
    assert back["x-retrace-id"].startswith("rt-")
    assert back.get("x-retrace-verdict") in (None, "allow")
    assert back["x-ratelimit-remaining"] == "7"
    assert back["openai-processing-ms"] == "12"
    lengths = "content-length" in back, "transfer-encoding" in back
    assert sum(lengths) == 1


@pytest.mark.parametrize("name", PATHS)
async def test_C59_a_request_id_is_passed_on_and_told_on_every_path(tmp_path: Path, name: str) -> None:
    method, path, body = PATHS[name]
    async with upstream(script(name)) as (url, up), gateway(tmp_path, [url]) as running:
        asked: dict[str, Any] = {"json": body} if body else {}
        for given in ("corr-42", "a" * 128, "0af7651916cd43dd8448eb211c80319c", None):
            headers = {"x-request-id": given} if given else {}
            async with running.http.request(method, f"{running.url}{path}", headers=headers, **asked) as response:
                await response.read()
                assert response.headers["x-request-id"] == (given or response.headers["x-retrace-id"])
            calls = [call for call in up.seen if call.path == path]
            assert calls[-1].headers["x-request-id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("path", ["chat/completions", "completions", "responses", "messages", "audio/speech"])
async def test_C59_also_when_the_request_is_refused(tmp_path: Path, path: str) -> None:
    rules = [regex("hi", side="input")]
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], rules) as running:
        for given, told in (("corr-42", "corr-42"), ("a b\tc", None), ("x" * 129, None), ("\u00e9", None)):
            raw = post({**CHAT, **PROMPT, "input": "hi"}, f"/v1/{path}")
            raw = raw.replace(b"host:", f"x-request-id: {given}\r\nhost:".encode())
            status, headers, _ = await answered(running, raw)
            assert status in (400, 404)
            assert headers["x-request-id"] == (told or headers["x-retrace-id"])


async def test_C59_a_request_id_no_log_can_hold_is_replaced(tmp_path: Path) -> None:
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        for given in (b"\xff\xfe", "日志".encode(), b"a b", b"<script>", b"x" * 129, b""):
            raw = post(CHAT).replace(b"host:", b"x-request-id: " + given + b"\r\nhost:")
            status, headers, _ = await answered(running, raw)
            assert status == 200
            assert headers["x-request-id"] == headers["x-retrace-id"]
            assert up.calls[-1].headers["x-request-id"] == headers["x-retrace-id"]


async def test_C58_a_path_or_query_can_smuggle_nothing(tmp_path: Path) -> None:
    """What a client wrote in percent signs stays in percent signs; decoded it would be another request upstream."""
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        kept = b"/v1/models?a=%0d%0aX-Evil:%201%20HTTP/1.1&b=%26c=%23d"
        status, _, _ = await answered(running, b"GET " + kept + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert status == 200
        assert up.seen[-1].path == kept.decode()
        for path in (
            "a%20b",
            "a%0d%0ab",
            "a%3Fb=1",
            "a%23b",
            "%2e%2e/responses",
            "..%2fresponses",
            "%252e%252e",
            "../x",
        ):
            raw = f"GET /v1/models/{path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
            before = len(up.seen)
            status, _, _ = await answered(running, raw)
            assert (path, status) == (path, 404)
            assert all(seen.path == "/health" for seen in up.seen[before:])
