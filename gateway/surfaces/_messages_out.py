"""A chat answer as `/v1/messages` tells it: blocks one after the other, each closed before the next begins.

How many tokens the prompt has is known only at the end, so `message_start` says 0 and `message_delta` the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
from pydantic_core import from_json

from gateway.errors import Fault
from gateway.surfaces._outward import Piece, Teller, ToolCall, event, name_after
from gateway.types import Exchange

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
# What isn't known here has cut the answer short.
_REASONS = {"stop": "end_turn", "": "end_turn", "tool_calls": "tool_use", "content_filter": "refusal"}
_CALLING = {"stop", "", "tool_calls", "function_call"}  # a forced call ends with `stop`
PING = event("ping", {"type": "ping"})


class MessagesTeller(Teller):
    """One message. Without `thoughts` the client does not see the reasoning."""

    def __init__(self, exchange: Exchange, thoughts: bool) -> None:
        super().__init__(exchange)
        self._thoughts = thoughts
        self._open = ""  # the type of the block that is open
        self._index = -1

    def opening(self) -> list[bytes]:
        return [_event("message_start", message=self._message([], None))]

    def tell(self, piece: Piece) -> list[bytes]:
        kind = "thinking" if piece.kind == "reasoning" else "text"
        if kind == "thinking" and not self._thoughts:
            return []
        before = [] if kind == self._open else [*self._stop(), self._start(_block(kind))]
        self._open = kind
        return [*before, self._delta({"type": f"{kind}_delta", kind: piece.text})]

    def closing(self) -> list[bytes]:
        out = self._stop()
        for call in self.calls:
            arguments, _ = _input(call)
            self._open = "tool_use"
            out += [self._start(_use(call, {})), self._delta({"type": "input_json_delta", "partial_json": arguments})]
            out += self._stop()
        ended = {**self._ending(), **({"retrace": self.note} if self.note else {})}
        return [*out, _event("message_delta", delta=ended, usage=self._used()), _event("message_stop")]

    def fault(self, fault: Fault) -> bytes:
        self.end()
        return event("error", error_body(fault.status, fault.message, fault.code, fault.extra))

    def reported(self, data: Mapping[str, Any]) -> bytes:
        if data.get("type") != "error":
            return super().reported(data)
        self.end()
        return event("error", data)  # it is in the client's shape already

    def ping(self) -> bytes:
        return b"".join([*self.begin(), PING])

    def composed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        content = []
        for piece in list(self.hear(data)):
            if piece.kind != "reasoning":
                content.append({**_block("text"), "text": piece.text})
            elif self._thoughts:
                content.append({**_block("thinking"), "thinking": piece.text})
        content += [_use(call, _input(call)[1]) for call in self.calls]
        return {**self._message(content, self._ending()), **({"retrace": self.note} if self.note else {})}

    def _message(self, content: list[dict[str, Any]], ending: Mapping[str, Any] | None) -> dict[str, Any]:
        ending = ending or {"stop_reason": None, "stop_sequence": None}
        named = {"id": name_after(self.exchange, "msg"), "type": "message", "role": "assistant", "model": self.model}
        return {**named, "content": content, **ending, "usage": self._used()}

    def _ending(self) -> dict[str, Any]:
        if self.calls and self.reason in _CALLING:
            return {"stop_reason": "tool_use", "stop_sequence": None}
        if self.reason == "stop" and self.stop:
            return {"stop_reason": "stop_sequence", "stop_sequence": self.stop}
        reason = _REASONS.get(self.reason, "max_tokens")
        told = {"stop_details": {"type": "refusal", "category": None, "explanation": None}}
        return {"stop_reason": reason, "stop_sequence": None, **(told if reason == "refusal" else {})}

    def _used(self) -> dict[str, Any]:
        """The prompt's tokens less those that came from a cache, which are told beside them."""
        tokens = self.tokens
        if tokens is None:
            return {"input_tokens": 0, "output_tokens": 0}
        used: dict[str, Any] = {"input_tokens": max(tokens.prompt - (tokens.cached or 0), 0)}
        if tokens.cached is not None:
            used["cache_read_input_tokens"] = tokens.cached
        used["output_tokens"] = tokens.completion
        if tokens.reasoning is not None:
            used["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
        return {**used, **tokens.told}

    def _start(self, block: dict[str, Any]) -> bytes:
        self._index += 1
        return _event("content_block_start", index=self._index, content_block=block)

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)

    def _stop(self) -> list[bytes]:
        if not self._open:
            return []
        self._open = ""
        return [_event("content_block_stop", index=self._index)]


def error_body(status: int, message: str, code: str | None, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The error body of a status. The code is where SDKs look for one; `retrace` says which rule it was."""
    kind = _TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": message}
    if code:
        error["details"] = {"error_code": code}
    if extra:
        error["retrace"] = dict(extra)
    return {"type": "error", "error": error}


def _event(name: str, **data: Any) -> bytes:
    return event(name, {"type": name, **data})


def _block(kind: str) -> dict[str, Any]:
    return {"type": "text", "text": ""} if kind == "text" else {"type": "thinking", "thinking": "", "signature": ""}


def _use(call: ToolCall, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _input(call: ToolCall) -> tuple[str, dict[str, Any]]:
    """A call's arguments as JSON, and read: as far as they go if they were cut, and wrapped if they are no object, so
    that the tool complains and does not run on less than it was given."""
    if not call.arguments.strip():
        return "", {}
    given = _read(call.arguments)
    if isinstance(given, dict):
        return call.arguments, given
    wrapped = {"arguments": call.arguments}
    return orjson.dumps(wrapped).decode(), wrapped


def _read(arguments: str) -> Any:
    """JSON, or the part of it that is there; None if it is none, or none that can be written again."""
    for read in (orjson.loads, partial(from_json, allow_partial=True)):
        try:
            given = read(arguments)
            orjson.dumps(given)
        except (ValueError, TypeError):
            continue
        return given
    return None
