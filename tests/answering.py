"""Upstreams that answer chat and completions, streamed or whole, just as they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from tests.rig import (
    DONE,
    Script,
    Seen,
    answers,
    chunk,
    completion,
    delta,
    stream_head,
    streams,
    text_delta,
    usage_event,
)

Call = tuple[str, str, str]  # id, name, arguments as they are written
Used = tuple[int, int] | None  # tokens of the prompt and of the answer; None: not told


def says(
    *words: str,
    finish: str = "stop",
    thinks: str = "",
    calls: Sequence[Call] = (),
    used: Used = (7, 5),
    together: bool = False,
) -> Script:
    """An answer of these words. Of its thoughts and calls, which only chat has, each comes in two parts. `together`: a
    stream comes in one piece."""

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        chat = seen.path == "/v1/chat/completions"
        if not seen.json.get("stream"):
            await answers(_whole(chat, "".join(words), finish, thinks, calls, used))(seen, writer)
            return
        events = _chat(words, finish, thinks, calls) if chat else _plain(words, finish)
        pieces = [*events, *([usage_event(*used)] if used else []), DONE]
        await streams([b"".join(pieces)] if together else pieces)(seen, writer)

    return script


def _chat(words: Sequence[str], finish: str, thinks: str, calls: Sequence[Call]) -> list[bytes]:
    events = [delta("", role="assistant")]
    events += [delta(reasoning_content=part) for part in _halves(thinks)]
    events += [delta(word) for word in words]
    for n, (mark, name, arguments) in enumerate(calls):
        events.append(_part(n, {"name": name, "arguments": ""}, id=mark, type="function"))
        events += [_part(n, {"arguments": part}) for part in _halves(arguments)]
    return [*events, delta(finish=finish)]


def _part(index: int, function: Mapping[str, Any], **named: Any) -> bytes:
    return delta(tool_calls=[{"index": index, **named, "function": function}])


def _plain(words: Sequence[str], finish: str) -> list[bytes]:
    return [*(text_delta(word) for word in words), text_delta(finish=finish)]


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def _whole(chat: bool, text: str, finish: str, thinks: str, calls: Sequence[Call], used: Used) -> bytes:
    told = [
        {"id": mark, "type": "function", "function": {"name": name, "arguments": arguments}}
        for mark, name, arguments in calls
    ]
    more = {**({"reasoning_content": thinks} if thinks else {}), **({"tool_calls": told} if told else {})}
    data = orjson.loads(completion(text, **more))
    (choice,) = data["choices"]
    choice["finish_reason"] = finish
    if not chat:
        choice["text"] = choice.pop("message")["content"]
    del data["usage"]
    if used:
        data["usage"] = {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}
    return orjson.dumps(data)


def in_turn(*scripts: Script) -> Script:
    """Each call is answered by the next of them; the last one is for all further calls."""
    left = list(scripts)

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(seen, writer)

    return script


async def endless(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """A stream that never ends by itself."""
    make = delta if "chat" in seen.path else text_delta
    writer.write(stream_head())
    while True:
        writer.write(chunk(make("word ")))
        await writer.drain()
        await asyncio.sleep(0.005)
