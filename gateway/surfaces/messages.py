"""`/v1/messages`, as Anthropic's clients speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from gateway.errors import BadRequest, Fault
from gateway.surfaces import Asked
from gateway.surfaces._asked import NOT_TEXT, beside, field, found, together
from gateway.surfaces._inward import WORDED
from gateway.surfaces._messages_in import chat
from gateway.surfaces._messages_out import MessagesTeller, error_body
from gateway.surfaces._outward import told
from gateway.surfaces._translated import Translated
from gateway.types import Exchange, Text

_BESIDE = {"tools", "output_config", "output_format", *WORDED}
_OPAQUE = NOT_TEXT | {"tool_use_id", "media_type", "signature"}


class Plug(Translated):
    """Turns of blocks in, one message of blocks out."""

    name = "messages"
    paths = ("/v1/messages",)

    def admit(self, body: Mapping[str, Any]) -> Asked:
        turns: list[Any] = field(body, "messages", list, [])
        if not turns:
            raise BadRequest("`messages` must be a list with at least one message", param="messages")
        texts = [
            *found(body.get("system"), ("system",), "system", _OPAQUE),
            *together(body.get("system"), ("system",), "system"),
            *(text for n, turn in enumerate(turns) for text in _turn(n, turn)),
            *beside(body, _BESIDE),
        ]
        return Asked(
            model=field(body, "model", str, ""),
            texts=tuple(texts),
            stream=field(body, "stream", bool, False),
            choices=1,
            wants_usage=True,
            session=field(field(body, "metadata", dict, {}), "user_id", str, ""),
        )

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return chat(body)

    def outward(self, exchange: Exchange, body: Mapping[str, Any]) -> MessagesTeller:
        thinking = field(body, "thinking", dict, {})
        shown = thinking.get("type") != "disabled" and thinking.get("display") != "omitted"
        return MessagesTeller(exchange, shown)

    def error(self, fault: Fault) -> dict[str, Any]:
        return error_body(fault.status, fault.message, fault.code, fault.extra)

    def their_error(self, status: int, told_us: dict[str, Any]) -> dict[str, Any]:
        message = told(told_us) or f"the upstream answered with status {status} and no readable reason"
        return error_body(status, message, None)


def _turn(n: int, turn: Any) -> Iterator[Text]:
    if not isinstance(turn, dict):
        raise BadRequest("each message must be an object with `role` and `content`", param=f"messages[{n}]")
    role, content = field(turn, "role", str, "user"), turn.get("content")
    path = ("messages", n, "content")
    if not isinstance(content, list):
        yield from found(content, path, role, _OPAQUE)
        return
    for place, block in enumerate(content):
        yield from _block((*path, place), role, block)
    yield from together(content, path, role)


def _block(path: tuple[str | int, ...], role: str, block: Any) -> Iterator[Text]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        if not isinstance(block.get("input"), dict):  # a text would go on as JSON that nobody has judged
            raise BadRequest("`input` of a call must be an object", param=".".join(map(str, (*path, "input"))))
        # Its keys and numbers reach the model too, so it is judged as the JSON that it becomes.
        yield from found({key: value for key, value in block.items() if key != "input"}, path, role, _OPAQUE)
        if block["input"]:
            yield Text((*path, "input"), role, orjson.dumps(block["input"]).decode())
        return
    of = "tool" if kind == "tool_result" else role
    yield from found(block, path, of, _OPAQUE)
    if isinstance(block, dict):
        yield from _plain(path, of, block)
        yield from together(block.get("content"), (*path, "content"), of)


def _plain(path: tuple[str | int, ...], role: str, block: Mapping[str, Any]) -> Iterator[Text]:
    """The text of documents, also inside a result: it is called `data` as media are, which are not looked into."""
    source, content = block.get("source"), block.get("content")
    if isinstance(source, dict) and source.get("type") == "text":
        yield from found(source.get("data"), (*path, "source", "data"), role)
    for place, inner in enumerate(content if isinstance(content, list) else ()):
        if isinstance(inner, dict):
            yield from _plain((*path, "content", place), role, inner)
