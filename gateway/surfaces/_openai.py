"""What the OpenAI surfaces share: choices, usage, errors."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from gateway import leaves
from gateway.errors import Fault, UpstreamFault
from gateway.surfaces import Continuation, Reading, Surface, Token
from gateway.surfaces._asked import NOT_TEXT, OURS
from gateway.surfaces._assembled import assembled
from gateway.types import Exchange, Finding, Piece, Usage

_NAMES = ("id", "object", "created", "model", "system_fingerprint")  # what tells one call's events from another's
_ONCE = ("n", "best_of", "echo")  # what a continuation does not ask for again
_GUIDED = ("guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs")
_SHAPING = ("response_format", *_GUIDED)


class OpenAISurface(Surface):
    """Choices with an index, a finish reason and some texts."""

    skip: ClassVar[Collection[str]] = NOT_TEXT
    spelling: ClassVar[Any] = True  # what asks for the log probabilities of the tokens said, and no others

    @abstractmethod
    def holders(self, choice: dict[str, Any]) -> list[dict[str, Any]]:
        """The parts of a choice that hold its texts."""

    def upstream_body(self, exchange: Exchange, body: Mapping[str, Any]) -> dict[str, Any]:
        sent = {key: value for key, value in body.items() if key not in OURS}
        if exchange.stream:
            sent["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
        return sent

    def read(self, data: Mapping[str, Any]) -> Reading:
        pieces: list[Piece] = []
        ends: dict[int, str] = {}
        skip = self.skip
        for choice in _choices(data):
            index = choice.get("index", 0)
            for holder in self.holders(choice):
                for name, value in holder.items():
                    if not value or name in skip:
                        continue
                    if value.__class__ is str:
                        pieces.append(Piece(index, name, value))
                    elif value is not True:
                        pieces += [Piece(index, channel, text) for _, channel, text in self._deep(name, value)]
            reason = choice.get("finish_reason")
            if reason:
                ends[index] = str(reason)
        usage = data.get("usage")
        return Reading(pieces, ends, _usage(usage) if usage else None, "error" in data and "choices" not in data)

    def metered(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        wanted = body.get("logprobs")
        return {**body, "logprobs": self.spelling} if wanted is None or wanted is False else None

    def tokens(self, data: Mapping[str, Any], take: bool) -> dict[int, Sequence[Token]]:
        found: dict[int, Sequence[Token]] = {}
        for choice in _choices(data):
            told = choice.get("logprobs")
            if not isinstance(told, dict):
                continue
            found[choice.get("index", 0)] = _tokens(told)
            if take:
                choice["logprobs"] = None
        return found

    def without_usage(self, data: dict[str, Any]) -> dict[str, Any] | None:
        if not data.get("choices"):
            return None
        return {key: value for key, value in data.items() if key != "usage"}

    def choices(self, data: Mapping[str, Any]) -> set[int]:
        return {choice.get("index", 0) for choice in _choices(data)}

    def rewrite(
        self,
        data: dict[str, Any],
        texts: Mapping[tuple[int, str], str],
        choices: Mapping[int, Finding | None],
        explain: bool = False,
    ) -> bool:
        kept = []
        spoken_of = _choices(data)
        for choice in spoken_of:
            index = choice.get("index", 0)
            if index in choices and choices[index] is None:
                continue
            kept.append(choice)
            mine = {channel: text for (of, channel), text in texts.items() if of == index}
            if mine or index in choices:
                self._put(choice, mine)
            if finding := choices.get(index):
                choice["finish_reason"] = "content_filter"
                if explain:
                    told = {"verdict": "block", "reason": finding.reason, "rule": finding.rule}
                    choice["retrace"] = {**choice.get("retrace", {}), **told}
        data["choices"] = kept
        return bool(kept) or not spoken_of

    def _put(self, choice: dict[str, Any], texts: Mapping[str, str]) -> None:
        for holder in self.holders(choice):
            for name, value in list(holder.items()):
                if isinstance(value, str):
                    holder[name] = texts.get(name, value)
                elif value:
                    for path, channel, text in self._deep(name, value):
                        holder[name] = leaves.replaced(holder[name], path, texts.get(channel, text))
        _unspell(choice)

    def _deep(self, name: str, value: Any) -> list[tuple[leaves.Path, str, str]]:
        """The texts inside a field that is no text itself: path, channel, text."""
        if name in self.skip:
            return []
        try:
            return [(path, _channel(name, value, path), text) for path, text in leaves.texts(value, NOT_TEXT)]
        except RecursionError as fault:
            raise UpstreamFault(f"the upstream's answer is {fault}", kind="garbage") from fault

    def append(self, data: dict[str, Any], choice: int, text: str, note: Mapping[str, Any] | None = None) -> None:
        for one in _choices(data):
            if one.get("index", 0) != choice:
                continue
            holder = next(iter(self.holders(one)), None)
            if text and holder is not None:
                holder[self.answer] = (holder.get(self.answer) or "") + text
                _unspell(one)
            if note:
                one["retrace"] = {**one.get("retrace", {}), **note}

    def billed(self, data: dict[str, Any], more: Usage) -> None:
        if isinstance(usage := data.get("usage"), dict):
            told = _usage(usage) or Usage()
            prompt, completion = told.prompt + more.prompt, told.completion + more.completion
            usage.update(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)

    def opens(self, data: Mapping[str, Any]) -> bool:
        deltas = [choice.get("delta") for choice in _choices(data)]
        return any(isinstance(delta, dict) and delta.get("role") for delta in deltas)

    def resumed(self, data: dict[str, Any], head: Mapping[str, Any], choice: int) -> None:
        data.update({name: head[name] for name in _NAMES if name in head})
        for one in _choices(data):
            one["index"] = choice
            if isinstance(delta := one.get("delta"), dict):
                delta.pop("role", None)

    def unended(self, data: dict[str, Any], choices: Collection[int]) -> None:
        for one in _choices(data):
            if one.get("index", 0) in choices:
                one["finish_reason"] = None
                _unspell(one)

    def spoken(self, head: Mapping[str, Any], choice: int, text: str) -> dict[str, Any]:
        told = {name: head[name] for name in _NAMES if name in head}
        return {**told, "choices": [{"index": choice, **self.said(text), "logprobs": None, "finish_reason": None}]}

    @abstractmethod
    def said(self, text: str) -> dict[str, Any]:
        """The part of a choice that says a text."""

    def reckoned(self, data: dict[str, Any], usage: Usage, attempts: int, wasted: int) -> None:
        told = data["usage"]
        prompt, completion = usage.prompt, usage.completion
        told.update(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)
        details = told.get("prompt_tokens_details")
        if isinstance(details, dict) and isinstance(cached := details.get("cached_tokens"), int):
            details["cached_tokens"] = min(cached, prompt)
        told["retrace"] = {"attempts": attempts, "wasted_tokens": wasted}

    def continued(self, body: Mapping[str, Any], more: Continuation) -> dict[str, Any]:
        """The body less what a continuation must not ask again: one choice, streamed, of the tokens that are left."""
        # A shape that engines force on an answer begins with what they generate, and not with what is kept.
        less = {*_ONCE, *(_SHAPING if more.kept else ())}
        asked = {name: value for name, value in body.items() if name not in less}
        for name in ("max_tokens", "max_completion_tokens"):
            if isinstance(limit := asked.get(name), int):
                asked[name] = max(limit - more.tokens, 1)
        if isinstance(least := asked.get("min_tokens"), int):
            asked["min_tokens"] = max(least - more.tokens, 0)
        if more.ban:
            asked["bad_words"] = [*dict.fromkeys([*(body.get("bad_words") or ()), *more.ban])]
        return {**asked, "stream": True, "stream_options": {"include_usage": True}}

    def assembled(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return assembled(events)

    def free(self, body: Mapping[str, Any]) -> bool:
        wanted = body.get("response_format")
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        return kind in (None, "text") and not any(body.get(name) for name in _GUIDED)

    def error(self, fault: Fault) -> dict[str, Any]:
        body = {"message": fault.message, "type": fault.type, "param": fault.param, "code": fault.code}
        return {"error": {**body, **({"retrace": fault.extra} if fault.extra else {})}}

    def envelope(self, exchange: Exchange, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": exchange.id,
            "object": kind,
            "created": int(time.time()),
            "model": exchange.model,
            "choices": choices,
        }


def _tokens(told: Mapping[str, Any]) -> list[Token]:
    """The tokens as chat tells them (an object each) or completions do (two lists)."""
    listed, spelt = told.get("content") or (), told.get("tokens") or ()
    if not isinstance(listed, list | tuple) or not isinstance(spelt, list | tuple):
        return []
    pairs = [(one.get("token"), one.get("logprob")) for one in listed if isinstance(one, dict)]
    pairs += zip(spelt, told.get("token_logprobs") or (), strict=False)
    return [Token(text, -chance) for text, chance in pairs if isinstance(text, str) and isinstance(chance, int | float)]


def _unspell(choice: dict[str, Any]) -> None:
    """These fields spell the text as it was. The client can do without them, not with them."""
    for spelling in ("logprobs", "token_ids", "stop_reason"):
        if spelling in choice:
            choice[spelling] = None


def _choices(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    choices = data.get("choices") or []
    if choices.__class__ is not list:
        raise UpstreamFault("the upstream sent choices that are no list", kind="garbage")
    for choice in choices:
        if choice.__class__ is not dict or choice.get("index", 0).__class__ is not int:
            raise UpstreamFault("the upstream sent a choice that is none", kind="garbage")
    return choices


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    told = {**details, **usage} if isinstance(details, dict) else usage
    counts = [told.get(f"{name}_tokens") for name in ("prompt", "completion", "cached")]
    prompt, completion, cached = (count if isinstance(count, int) and count >= 0 else None for count in counts)
    return Usage(prompt or 0, completion or 0, cached)


def _channel(name: str, value: Any, path: leaves.Path) -> str:
    """A channel's name from where its text stands; a streamed list item says itself which one it is."""
    words = [name]
    for step in path:
        inner = value[step]
        own = inner.get("index") if isinstance(step, int) and isinstance(inner, dict) else None
        words.append(str(step if own is None else own))
        value = inner
    return ".".join(words)
