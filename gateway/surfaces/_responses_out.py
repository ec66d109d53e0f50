"""A chat answer as `/v1/responses` tells it: items one after the other, each done before the next is added."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.errors import Fault
from gateway.surfaces._outward import Piece, Teller, ToolCall, event, name_after
from gateway.types import Exchange


class Shape(NamedTuple):
    """What a kind of text is outside: an item of this type, a part of that, whose text stands under a name."""

    item: str
    mark: str
    part: str
    name: str
    stem: str


_SHAPES = {
    "text": Shape("message", "msg", "output_text", "text", "response.output_text"),
    "refusal": Shape("message", "msg", "refusal", "refusal", "response.refusal"),
    "reasoning": Shape("reasoning", "rs", "reasoning_text", "text", "response.reasoning_text"),
}
_COMPLETE = {"stop", "", "tool_calls", "function_call"}
_CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
_IN_PROGRESS: Mapping[str, Any] = {"status": "in_progress"}
# What a response says of the request, and what it says if the request did not.
_ECHO: Mapping[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": None,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": None,
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}
_FIXED: Mapping[str, Any] = {"background": False, "previous_response_id": None, "store": False}


class ResponsesTeller(Teller):
    """One response, which says again what was asked."""

    def __init__(self, exchange: Exchange, body: Mapping[str, Any]) -> None:
        super().__init__(exchange)
        self._echo = {name: body.get(name) if body.get(name) is not None else value for name, value in _ECHO.items()}
        self._created = int(time.time())
        self._sequence = -1
        self._output: list[dict[str, Any]] = []
        self._open: _Item | None = None

    def opening(self) -> list[bytes]:
        response = self._response(_IN_PROGRESS)
        return [
            self._event("response.created", response=response),
            self._event("response.in_progress", response=response),
        ]

    def tell(self, piece: Piece) -> list[bytes]:
        out: list[bytes] = []
        shape, item = _SHAPES[piece.kind], self._open
        if item is None or item.shape is not shape:
            out += self._done("completed")
            item, begun = self._add(shape)
            out += begun
        item.say(piece)
        more = {"logprobs": _logprobs(piece)} if shape.part == "output_text" else {}
        return [*out, self._event(f"{shape.stem}.delta", **item.place, delta=piece.text, **more)]

    def closing(self) -> list[bytes]:
        calls, whole = self.calls, self.reason in _COMPLETE
        out = self._done("completed" if whole or calls else "incomplete")
        for n, call in enumerate(calls):
            cut = not whole and n == len(calls) - 1
            out += self._call(call, "incomplete" if cut else "completed")
        ending = self._ending()
        return [*out, self._event(f"response.{ending['status']}", response=self._response(ending))]

    def fault(self, fault: Fault) -> bytes:
        """After the response has failed, the error by itself: some clients raise on one, some on the other."""
        out = []
        if self.end():
            failed = {"status": "failed", "error": {"code": "server_error", "message": fault.message}}
            out.append(self._event("response.failed", response=self._response(failed)))
        told = {"code": fault.code, "message": fault.message, "param": fault.param}
        return b"".join([*out, self._event("error", **told, error={"type": fault.type, **told})])

    def composed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        pieces = list(self.hear(data))
        calls, whole = self.calls, self.reason in _COMPLETE
        for n, piece in enumerate(pieces):
            item = self._item(_SHAPES[piece.kind])
            item.say(piece)
            last = n == len(pieces) - 1 and not calls
            self._output.append(item.done("incomplete" if last and not whole else "completed"))
        for n, call in enumerate(calls):
            cut = not whole and n == len(calls) - 1
            self._output.append(self._called(call, call.arguments, "incomplete" if cut else "completed"))
        return self._response(self._ending())

    def _ending(self) -> dict[str, Any]:
        """What isn't known as an end has cut the answer short."""
        if self.reason in _COMPLETE:
            return {"status": "completed", "completed_at": int(time.time())}
        return {"status": "incomplete", "incomplete_details": {"reason": _CUT.get(self.reason)}}

    def _response(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": name_after(self.exchange, "resp"),
            "object": "response",
            "created_at": self._created,
            "error": None,
            "incomplete_details": None,
            "model": self.model,
            **self._echo,
            **_FIXED,
            **state,
            "output": list(self._output),
            "usage": self._used() if state is not _IN_PROGRESS else None,
            **({"retrace": self.note} if self.note else {}),
        }

    def _used(self) -> dict[str, Any] | None:
        tokens = self.tokens
        if tokens is None:
            return None
        return {
            "input_tokens": tokens.prompt,
            "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": tokens.cached or 0},
            "output_tokens": tokens.completion,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
            "total_tokens": tokens.prompt + tokens.completion,
            **tokens.told,
        }

    def _event(self, kind: str, /, **data: Any) -> bytes:
        self._sequence += 1
        return event(kind, {"type": kind, "sequence_number": self._sequence, **data})

    def _item(self, shape: Shape) -> _Item:
        number = len(self._output)
        return _Item(shape, f"{name_after(self.exchange, shape.mark)}_{number}", number)

    def _add(self, shape: Shape) -> tuple[_Item, list[bytes]]:
        item = self._open = self._item(shape)
        added = self._event("response.output_item.added", output_index=item.number, item=item.begun())
        return item, [added, self._event("response.content_part.added", **item.place, part=item.part(""))]

    def _done(self, status: str) -> list[bytes]:
        item, self._open = self._open, None
        if item is None:
            return []
        text, done = item.text, item.done(status)
        self._output.append(done)
        more = {"logprobs": item.logprobs} if item.shape.part == "output_text" else {}
        return [
            self._event(f"{item.shape.stem}.done", **item.place, **{item.shape.name: text}, **more),
            self._event("response.content_part.done", **item.place, part=item.part(text)),
            self._event("response.output_item.done", output_index=item.number, item=done),
        ]

    def _call(self, call: ToolCall, status: str) -> list[bytes]:
        number, done = len(self._output), self._called(call, call.arguments, status)
        self._output.append(done)
        place = {"item_id": done["id"], "output_index": number}
        begun = {**done, "arguments": "", **_IN_PROGRESS}
        return [
            self._event("response.output_item.added", output_index=number, item=begun),
            self._event("response.function_call_arguments.delta", **place, delta=call.arguments),
            self._event("response.function_call_arguments.done", **place, name=call.name, arguments=call.arguments),
            self._event("response.output_item.done", output_index=number, item=done),
        ]

    def _called(self, call: ToolCall, arguments: str, status: str) -> dict[str, Any]:
        return {
            "id": f"{name_after(self.exchange, 'fc')}_{len(self._output)}",
            "type": "function_call",
            "status": status,
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments,
        }


class _Item:
    """An item that is being said: one part, which grows."""

    def __init__(self, shape: Shape, name: str, number: int) -> None:
        self.shape, self.number, self._name = shape, number, name
        self.place = {"item_id": name, "output_index": number, "content_index": 0}
        self.logprobs: list[dict[str, Any]] = []
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def say(self, piece: Piece) -> None:
        self._texts.append(piece.text)
        self.logprobs += _logprobs(piece)

    def begun(self) -> dict[str, Any]:
        return self._as([], "in_progress")

    def done(self, status: str) -> dict[str, Any]:
        return self._as([self.part(self.text)], status)

    def part(self, text: str) -> dict[str, Any]:
        part: dict[str, Any] = {"type": self.shape.part, self.shape.name: text}
        if self.shape.part == "output_text":
            part.update(annotations=[], logprobs=self.logprobs if text else [])
        return part

    def _as(self, content: list[dict[str, Any]], status: str) -> dict[str, Any]:
        own: dict[str, Any] = {"role": "assistant"} if self.shape.item == "message" else {"summary": []}
        return {"id": self._name, "type": self.shape.item, "status": status, **own, "content": content}


def _logprobs(piece: Piece) -> list[dict[str, Any]]:
    """How likely each token was, and the others that were likely there."""
    return [{**entry, "top_logprobs": entry.get("top_logprobs") or []} for entry in piece.logprobs]
