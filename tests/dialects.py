"""The four surfaces as real clients speak them, so that one test can ask the same of all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import httpx2
import openai
import orjson
import pytest

from tests.rig import RawUpstream, Running, Script, gateway, quiet, upstream

SURFACES = ("chat", "completions", "responses", "messages")
TALKING = ("chat", "responses", "messages")  # those that know roles and tools
FOREIGN = ("responses", "messages")  # those that are translated
PATHS = dict(zip(SURFACES, ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"), strict=True))
ENDED = {"chat": "stop", "completions": "stop", "responses": "completed", "messages": "end_turn"}
FILTERED = {"chat": "content_filter", "completions": "content_filter", "responses": "content_filter"}
FILTERED["messages"] = "refusal"


class Told(NamedTuple):
    """An answer as a client's own objects hold it. `finish` in the surface's own words."""

    text: str
    finish: str | None
    used: tuple[int, int] | None = None
    thought: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()  # id, name, arguments
    note: Any = None  # what the gateway says of it for programs
    spent: Any = None  # what it says beside the usage


@dataclass
class Clients:
    """Both SDKs, pointed at a gateway."""

    running: Running
    gpt: openai.AsyncOpenAI
    claude: anthropic.AsyncAnthropic
    heads: list[httpx2.Headers] = field(default_factory=list)  # of all answers, in order

    @property
    def head(self) -> httpx2.Headers:
        """The headers of the last answer."""
        return self.heads[-1]

    async def ask(self, surface: str, stream: bool, said: Any = "hi", **more: Any) -> Told:
        """Ask, and read to the end. `more` are the surface's own fields."""
        return await _ASK[surface](self, stream, said, more)


@asynccontextmanager
async def clients(running: Running, key: str = "k", **options: Any) -> AsyncIterator[Clients]:
    """The SDKs, which try nothing twice; and read no certificates, which would take longer than many a test."""
    heads: list[httpx2.Headers] = []

    async def note(response: httpx2.Response) -> None:
        heads.append(response.headers)

    async with httpx2.AsyncClient(event_hooks={"response": [note]}, verify=False) as http:
        same: dict[str, Any] = {"api_key": key, "max_retries": 0, "http_client": http, **options}
        gpt = openai.AsyncOpenAI(base_url=f"{running.url}/v1", **same)
        yield Clients(running, gpt, anthropic.AsyncAnthropic(base_url=running.url, **same), heads)


@asynccontextmanager
async def before(
    folder: Path, script: Script, rules: list[dict[str, Any]] | None = None, **fields: Any
) -> AsyncIterator[tuple[Clients, RawUpstream]]:
    """Both SDKs before a gateway before an upstream; nothing is left under way when all is over."""
    async with (
        upstream(script) as (url, up),
        gateway(folder, [url], rules, **fields) as running,
        clients(running) as sdks,
    ):
        yield sdks, up
        await quiet(running)


class Refusal(NamedTuple):
    """What an SDK's exception says: its kind, and the error as it is told on this surface."""

    raised: type[Exception]
    status: int | None
    code: str | None
    message: str
    said: Mapping[str, Any]

    @property
    def reason(self) -> str | None:
        reason: str | None = self.said.get("retrace", {}).get("reason")
        return reason


@contextmanager
def refused() -> Iterator[list[Refusal]]:
    """Whatever either SDK raises for an answer that is an error; it must be exactly one."""
    told: list[Refusal] = []
    with pytest.raises((openai.APIError, anthropic.APIError)) as caught:
        yield told
    fault: Any = caught.value
    body: Any = fault.body or {}
    said = body.get("error", body)
    code = fault.error_code if isinstance(fault, anthropic.APIStatusError) else said.get("code")
    told.append(Refusal(type(fault), getattr(fault, "status_code", None), code, said["message"], said))


async def _chat(sdks: Clients, stream: bool, said: Any, more: dict[str, Any]) -> Told:
    messages: Any = [{"role": "user", "content": said}] if isinstance(said, str) else said
    asked: dict[str, Any] = {"model": "m", "messages": messages, **more}
    notes: list[Any] = []
    if stream:
        asked["stream_options"] = {"include_usage": True}
        async with sdks.gpt.chat.completions.stream(**asked) as events:
            parts: list[Any] = [event.chunk async for event in events if event.type == "chunk"]
            answer: Any = events.current_completion_snapshot
        notes = _ended_once(parts)
    else:
        answer = await sdks.gpt.chat.completions.create(**asked)
    choice, message = answer.choices[0], answer.choices[0].message
    return Told(
        message.content or "",
        choice.finish_reason,
        _counts(answer.usage, "prompt_tokens", "completion_tokens"),
        getattr(message, "reasoning_content", None) or "",
        tuple((call.id, call.function.name, _read(call.function.arguments)) for call in message.tool_calls or ()),
        notes[0] if notes else getattr(choice, "retrace", None),
        _spent(answer.usage),
    )


async def _completions(sdks: Clients, stream: bool, said: Any, more: dict[str, Any]) -> Told:
    asked: dict[str, Any] = {"model": "m", "prompt": said, **more}
    if stream:
        asked.update(stream=True, stream_options={"include_usage": True})
        parts: list[Any] = [part async for part in await sdks.gpt.completions.create(**asked)]
    else:
        parts = [await sdks.gpt.completions.create(**asked)]
    notes = _ended_once(parts)
    choices = [choice for part in parts for choice in part.choices]
    used = next((part.usage for part in parts if part.usage), None)
    return Told(
        "".join(choice.text for choice in choices),
        next(choice.finish_reason for choice in choices if choice.finish_reason),
        _counts(used, "prompt_tokens", "completion_tokens"),
        note=notes[0] if notes else None,
        spent=_spent(used),
    )


def _ended_once(parts: list[Any]) -> list[Any]:
    """The notes of a stream, which must have one end, and may tell its usage once."""
    choices = [choice for part in parts for choice in part.choices]
    assert len([choice for choice in choices if choice.finish_reason]) == 1
    assert len([part for part in parts if part.usage]) <= 1
    return [choice.retrace for choice in choices if hasattr(choice, "retrace")]


_OVER = ("response.completed", "response.incomplete", "response.failed")


async def _responses(sdks: Clients, stream: bool, said: Any, more: dict[str, Any]) -> Told:
    asked: dict[str, Any] = {"model": "m", "input": said, **more}
    if stream:
        async with sdks.gpt.responses.stream(**asked) as events:
            heard: list[Any] = [event async for event in events]
        (answer,) = [event.response for event in heard if event.type in _OVER]
    else:
        answer = await sdks.gpt.responses.create(**asked)
    items, details = answer.output, answer.incomplete_details
    return Told(
        answer.output_text,
        details.reason if details else answer.status,
        _counts(answer.usage, "input_tokens", "output_tokens"),
        "".join(part.text for item in items if item.type == "reasoning" for part in item.content or ()),
        tuple((item.call_id, item.name, _read(item.arguments)) for item in items if item.type == "function_call"),
        getattr(answer, "retrace", None),
        _spent(answer.usage),
    )


async def _messages(sdks: Clients, stream: bool, said: Any, more: dict[str, Any]) -> Told:
    messages: Any = [{"role": "user", "content": said}] if isinstance(said, str) else said
    asked: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": messages, **more}
    note = spent = None
    if stream:
        async with sdks.claude.messages.stream(**asked) as events:
            async for event in events:
                if event.type == "message_delta":
                    note, spent = getattr(event.delta, "retrace", None), _spent(event.usage)
            answer: Any = await events.get_final_message()
    else:
        answer = await sdks.claude.messages.create(**asked)
    blocks: Sequence[Any] = answer.content
    return Told(
        "".join(block.text for block in blocks if block.type == "text"),
        answer.stop_reason,
        _counts(answer.usage, "input_tokens", "output_tokens"),
        "".join(block.thinking for block in blocks if block.type == "thinking"),
        tuple((block.id, block.name, block.input) for block in blocks if block.type == "tool_use"),
        note or getattr(answer, "retrace", None),
        spent or _spent(answer.usage),
    )


def _read(arguments: str) -> Any:
    """The arguments of a call; None of one that was cut off before them."""
    return orjson.loads(arguments) if arguments else None


def _spent(usage: Any) -> Any:
    return getattr(usage, "retrace", None)


def _counts(usage: Any, prompt: str, completion: str) -> tuple[int, int] | None:
    return None if usage is None else (getattr(usage, prompt), getattr(usage, completion))


Ask = Callable[[Clients, bool, Any, dict[str, Any]], Awaitable[Told]]
_ASK: dict[str, Ask] = {
    "chat": _chat,
    "completions": _completions,
    "responses": _responses,
    "messages": _messages,
}
