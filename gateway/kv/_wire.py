"""The plugin's own JSON: what a verdict may say, what is told of a capture. Never a token id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.kv._index import merged
from gateway.kv.nouns import OPEN_END, Entry, State

MOST_SPANS = 1000
MOST_LISTED = 1000
LISTED = 100
MOST_TEXTS = 64
LONGEST_TEXT = 4096  # characters
LONGEST_REASON = 64
LONGEST_TTL = 30 * 86400  # seconds
HIGHEST_PRIORITY = 1000
_FIELDS = ("reason", "sensitive_token_spans", "sensitive_texts", "sensitive_output", "ttl_seconds", "priority")


class Malformed(ValueError):
    """What was sent can't be understood: which field, and what it must be."""


class Verdict(NamedTuple):
    """Keep it: why, what of it is sensitive, for how long; all but `texts` as `Pool.keep` names them.

    `texts` are passages of the answer, whose tokens are still to be found.
    """

    reason: str
    sensitive: tuple[tuple[int, int], ...]
    output_sensitive: bool
    ttl: float | None
    priority: int
    texts: tuple[str, ...] = ()


def verdict(body: bytes) -> Verdict:
    """Out of a request's body. Malformed."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed("the body must be JSON: an object with at least a `reason`") from error
    if not isinstance(said, dict):
        raise Malformed("the body must be a JSON object with at least a `reason`")
    for name in said:
        if name not in _FIELDS:
            raise Malformed(f"{name[:80]!r} is no field of a verdict; there are {', '.join(_FIELDS)}")
    output = said.get("sensitive_output", False)
    if not isinstance(output, bool):
        raise Malformed("`sensitive_output` must be true or false")
    return Verdict(
        _reason(said.get("reason")),
        _spans(said.get("sensitive_token_spans", [])),
        output,
        _ttl(said),
        _priority(said),
        _texts(said.get("sensitive_texts", [])),
    )


def listing(query: Mapping[str, str]) -> tuple[int, State | None]:
    """How many captures are asked for, and in which state. Malformed."""
    limit, state = query.get("limit", str(LISTED)), query.get("state")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 4 or not 1 <= int(limit) <= MOST_LISTED:
        raise Malformed(f"`limit` must be a whole number from 1 to {MOST_LISTED}")
    states = [known.value for known in State]
    if state is not None and state not in states:
        raise Malformed(f"`state` must be one of {', '.join(states)}")
    return int(limit), State(state) if state else None


def summary(entry: Entry) -> dict[str, Any]:
    """What is told of a capture in a list."""
    tokens = len(entry.tokens)
    return {
        "id": entry.id,
        "state": entry.state.value,
        "reason": entry.reason or None,
        "tenant": entry.owner.tenant,
        "adapter": entry.owner.adapter,
        "tokens": tokens,
        "blocks": entry.blocks,
        "bytes": entry.bytes,
        "sensitive_tokens": sum(max(0, min(end, tokens) - start) for start, end in merged(entry.sensitive)),
        "priority": entry.priority,
        "created": entry.created,
        "expires": entry.expires or None,
        "on_disk": entry.on_disk,
    }


def whole(entry: Entry) -> dict[str, Any]:
    """What is told of one capture alone."""
    return {**summary(entry), "report": dict(entry.report) or None}


def _reason(said: object) -> str:
    if not isinstance(said, str) or not said or len(said) > LONGEST_REASON or not said.isascii():
        raise Malformed("`reason` must be a reason code, such as R203")
    return said


def _spans(said: object) -> tuple[tuple[int, int], ...]:
    if not isinstance(said, list) or len(said) > MOST_SPANS:
        raise Malformed(f"`sensitive_token_spans` must be a list of at most {MOST_SPANS} pairs [start, end]")
    return tuple(_span(pair) for pair in said)


def _texts(said: object) -> tuple[str, ...]:
    texts = tuple(said) if isinstance(said, list) else ("",)
    if len(texts) > MOST_TEXTS or not all(isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT for text in texts):
        raise Malformed(
            f"`sensitive_texts` must be a list of at most {MOST_TEXTS} passages of the answer, "
            f"each of 1 to {LONGEST_TEXT} characters"
        )
    return texts


def _span(said: object) -> tuple[int, int]:
    match said:
        case [int(start), int(end)] if bool not in (type(start), type(end)) and 0 <= start < end <= OPEN_END:
            return start, end
    raise Malformed("each of `sensitive_token_spans` must be two token positions [start, end] with 0 <= start < end")


def _ttl(said: Mapping[str, object]) -> float | None:
    ttl = said.get("ttl_seconds")
    if ttl is None:
        return None
    if not isinstance(ttl, int | float) or isinstance(ttl, bool) or not 0 < ttl <= LONGEST_TTL:
        raise Malformed(f"`ttl_seconds` must be a number above 0, at most {LONGEST_TTL}")
    return float(ttl)


def _priority(said: Mapping[str, object]) -> int:
    priority = said.get("priority", 0)
    if type(priority) is not int or abs(priority) > HIGHEST_PRIORITY:
        raise Malformed(f"`priority` must be a whole number from -{HIGHEST_PRIORITY} to {HIGHEST_PRIORITY}")
    return priority
