"""The events of a stream put together to the whole answer that they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_WHOLE = {"chat.completion.chunk": "chat.completion"}
_NAMES = frozenset({"id", "type", "name", "role"})  # told once, or with every part: the same each time


def assembled(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One body. Texts are joined, lists of numbered parts part by part, of all else the last word counts."""
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        body.update({name: value for name, value in event.items() if name != "choices" and value is not None})
        for choice in event.get("choices") or ():
            _add(choices.setdefault(choice.get("index", 0), {}), choice)
    kind = body.get("object")
    body["object"] = _WHOLE.get(kind, kind) if isinstance(kind, str) else kind
    body["choices"] = [_closed(choices[index]) for index in sorted(choices)]
    return body


def _add(held: dict[str, Any], part: Mapping[str, Any]) -> None:
    for name, value in part.items():
        if name == "delta":
            _merge(held.setdefault("message", {"role": "assistant", "content": None}), value)
        else:
            _merge(held, {name: value})


def _merge(held: dict[str, Any], part: Mapping[str, Any]) -> None:
    for name, value in part.items():
        known = held.get(name)
        if value is None:
            held.setdefault(name, None)
        elif isinstance(value, str) and isinstance(known, str) and name not in _NAMES:
            held[name] = known + value
        elif isinstance(value, dict) and isinstance(known, dict):
            _merge(known, value)
        elif isinstance(value, list) and isinstance(known, list | None):
            held[name] = _joined(known or [], value)
        else:
            held[name] = value


def _joined(known: list[Any], more: list[Any]) -> list[Any]:
    """Parts that say which one they are go to their own; others to the end."""
    out = list(known)
    for part in more:
        index = part.get("index") if isinstance(part, dict) else None
        mine = None
        if index is not None:
            mine = next((known for known in out if isinstance(known, dict) and known.get("index") == index), None)
        if mine is None:
            out.append(dict(part) if isinstance(part, dict) else part)
        else:
            _merge(mine, part)
    return out


def _closed(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice of a whole answer: its calls carry no numbers there."""
    message = choice.get("message")
    for call in (message or {}).get("tool_calls") or ():
        call.pop("index", None)
    return {"logprobs": None, "finish_reason": None, **choice}
