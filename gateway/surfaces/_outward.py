"""What answers share on their way from chat to a client that speaks another format.

The arguments of a call are held until it is complete and judged, so nothing is lost by telling the calls at the end:
each whole, in the order of their indices, whatever came between their parts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from gateway.errors import UpstreamFault
from gateway.surfaces import Outward
from gateway.types import Exchange


class Piece(NamedTuple):
    """A part of what is said: `reasoning`, `text` or `refusal`, and how likely its tokens were if that was asked."""

    kind: str
    text: str
    logprobs: Sequence[Mapping[str, Any]] = ()


@dataclass(slots=True)
class ToolCall:
    """A call as far as it is known."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class Tokens(NamedTuple):
    """Usage as the upstream told it; None what it did not tell."""

    prompt: int
    completion: int
    cached: int | None
    reasoning: int | None
    told: Mapping[str, Any] = {}  # what the gateway says of it: under its own name


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """The bytes of an event that has a name."""
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def name_after(exchange: Exchange, kind: str) -> str:
    """An id of the answer's own that still tells whose it is."""
    return f"{kind}_{exchange.id.removeprefix('rt-')}"


def told(data: Mapping[str, Any]) -> str:
    """What an upstream's error body says for people; empty if it says nothing."""
    error = data.get("error", data)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail")
    return error if isinstance(error, str) else ""


class Teller(Outward):
    """The state of one answer; its formats say how it begins, goes on and ends."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.model = exchange.model
        self.reason = ""  # why it ended, as chat calls it
        self.stop: str | None = None  # the stop sequence that ended it
        self.note: Mapping[str, Any] | None = None  # what the gateway has to say of it
        self._calls: dict[int, ToolCall] = {}
        self._usage: Mapping[str, Any] = {}
        self._spelt: list[Mapping[str, Any]] = []  # tokens that are no text yet: half a character, or half a word
        self._begun = self._over = False

    @abstractmethod
    def opening(self) -> list[bytes]:
        """The events before anything is said."""

    @abstractmethod
    def tell(self, piece: Piece) -> list[bytes]:
        """The events that say a piece."""

    @abstractmethod
    def closing(self) -> list[bytes]:
        """The events after all was said: calls, usage, why it ended."""

    @abstractmethod
    def composed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """A whole answer."""

    def whole(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """UpstreamFault if it is none."""
        if _is_error(data):
            raise _reported(data)
        return self.composed(data)

    def events(self, data: Mapping[str, Any]) -> list[bytes]:
        if self._over:
            return []
        if _is_error(data):
            return [self.reported(data)]
        pieces = list(self.hear(data))
        return [*self.begin(), *(out for piece in pieces for out in self.tell(piece))]

    def reported(self, data: Mapping[str, Any]) -> bytes:
        """The upstream's own report of an error, or the gateway's, as an event of the stream: it ends here."""
        return self.fault(_reported(data))

    def begin(self) -> list[bytes]:
        """The opening, once."""
        if self._begun:
            return []
        self._begun = True
        return self.opening()

    def finish(self) -> list[bytes]:
        if self._over:
            return []
        self._over = True
        return [*self.begin(), *self.closing()]

    def end(self) -> bool:
        """Note that nothing may follow; whether something has been said before."""
        self._over = True
        return self._begun

    def hear(self, data: Mapping[str, Any]) -> Iterator[Piece]:
        """Take in an event or a whole answer: what it says, while its calls, usage and end are remembered."""
        model, usage = data.get("model"), data.get("usage")
        self.model = self.model or (model if isinstance(model, str) else "")
        self._usage = usage if isinstance(usage, dict) else self._usage
        for choice in data.get("choices") or ():
            if choice.get("index", 0) == 0:
                self._end_of(choice)
                holder = choice.get("message") or choice.get("delta") or {}
                self._note_calls(holder.get("tool_calls"))
                self._spelt += _logprobs(choice)
                for piece in _pieces(holder):
                    yield piece._replace(logprobs=self._spelt) if piece.kind == "text" else piece
                    self._spelt = []

    @property
    def calls(self) -> list[ToolCall]:
        """The calls, in order. What was filtered calls nothing: part of it may have been taken out."""
        if self.reason == "content_filter":
            return []
        return [
            ToolCall(call.id or name_after(self.exchange, f"call_{index}"), call.name, call.arguments)
            for index, call in sorted(self._calls.items())
        ]

    @property
    def tokens(self) -> Tokens | None:
        """What was used; None as long as the upstream has not told."""
        if not self._usage:
            return None
        prompt, completion = (_count(self._usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        cached = _detail(self._usage, "prompt_tokens_details", "cached_tokens")
        thought = _detail(self._usage, "completion_tokens_details", "reasoning_tokens")
        note = self._usage.get("retrace")
        return Tokens(prompt or 0, completion or 0, cached, thought, {"retrace": note} if note else {})

    def _end_of(self, choice: Mapping[str, Any]) -> None:
        reason, stop, note = choice.get("finish_reason"), choice.get("stop_reason"), choice.get("retrace")
        self.reason = reason if isinstance(reason, str) and reason else self.reason
        self.stop = stop if isinstance(stop, str) else self.stop
        self.note = note if isinstance(note, dict) else self.note

    def _note_calls(self, parts: Any) -> None:
        for place, part in enumerate(parts if isinstance(parts, list) else ()):
            if not isinstance(part, dict):
                continue
            index = part.get("index")
            call = self._calls.setdefault(index if isinstance(index, int) else place, ToolCall())
            function = part.get("function")
            name, arguments = (_word(function, key) for key in ("name", "arguments"))
            call.id = call.id or _word(part, "id")
            call.name += name if name != call.name else ""  # some tell it with every part
            call.arguments += arguments


def _is_error(data: Mapping[str, Any]) -> bool:
    return "error" in data and not data.get("choices")


def _reported(data: Mapping[str, Any]) -> UpstreamFault:
    fault = UpstreamFault(told(data) or "the upstream reported an error", kind="reported")
    error = data.get("error")
    fault.type, fault.code = _word(error, "type") or fault.type, _word(error, "code") or fault.code
    return fault


def _pieces(holder: Mapping[str, Any]) -> Iterator[Piece]:
    """What a message or a delta says. Servers that have two names for reasoning say it twice."""
    reasoning = _text(holder.get("reasoning")) or _text(holder.get("reasoning_content"))
    if reasoning:
        yield Piece("reasoning", reasoning)
    if text := _text(holder.get("content")):
        yield Piece("text", text)
    if refusal := _text(holder.get("refusal")):
        yield Piece("refusal", refusal)


def _text(value: Any) -> str:
    """A text, or that of its parts."""
    if isinstance(value, list):
        return "".join(_word(part, "text") for part in value)
    return value if isinstance(value, str) else ""


def _word(value: Any, key: str) -> str:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, str) else ""


def _logprobs(choice: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    listed = choice.get("logprobs")
    content = listed.get("content") if isinstance(listed, dict) else None
    return [entry for entry in content if isinstance(entry, dict)] if isinstance(content, list) else ()


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int | None:
    details = usage.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else None
