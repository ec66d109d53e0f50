"""The real clients of the surfaces, which get exactly the bytes that they are told to get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
import httpx2
import openai
import orjson

from gateway.surfaces import Outward
from gateway.types import Exchange, Principal

EVENTS, JSON = "text/event-stream", "application/json"


def transport(body: bytes, status: int = 200, kind: str = EVENTS) -> httpx2.Client:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": kind}, content=body)

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def claude(body: bytes, status: int = 200, kind: str = EVENTS) -> anthropic.Anthropic:
    """Anthropic's client, whatever it asks."""
    return anthropic.Anthropic(
        api_key="k", base_url="http://gateway", max_retries=0, http_client=transport(body, status, kind)
    )


def gpt(body: bytes, status: int = 200, kind: str = EVENTS) -> openai.OpenAI:
    """OpenAI's client, whatever it asks."""
    return openai.OpenAI(
        api_key="k", base_url="http://gateway/v1", max_retries=0, http_client=transport(body, status, kind)
    )


def wire(teller: Outward, chunks: Sequence[Mapping[str, Any]]) -> bytes:
    """A stream from its first byte to its last."""
    return b"".join([*(out for chunk in chunks for out in teller.events(chunk)), *teller.finish()])


def parsed(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream: the name that stands before each, and its data."""
    events = []
    for block in body.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), orjson.loads(data.removeprefix("data: "))))
    return events


def chunk(finish: str | None = None, usage: Mapping[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    """An event of a chat stream."""
    data: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
    data["choices"] = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**data, "usage": usage} if usage else data


def call(index: int, arguments: str, name: str = "", mark: str = "") -> dict[str, Any]:
    """A part of a tool call in a delta."""
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {"index": index, "function": function, **({"id": mark, "type": "function"} if mark else {})}


def completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A whole chat answer."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    choices = [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": choices, "usage": usage}


USED: dict[str, Any] = {
    "id": "c",
    "object": "chat.completion.chunk",
    "model": "m",
    "choices": [],
    "usage": {
        "prompt_tokens": 20,
        "completion_tokens": 5,
        "total_tokens": 25,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
}


def exchange(surface: str, stream: bool = True) -> Exchange:
    """A request on its way, which asked for a model by the name of m."""
    return Exchange("rt-1", surface, "m", Principal(), (), stream=stream)
