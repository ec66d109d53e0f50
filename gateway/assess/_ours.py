"""The gateway's own lines: of its log (`retrace serve -v`, whatever stands before the JSON) and of its audit log.

Without `-v` only exchanges that a rule saw are in the log, so the share of rejected ones looks larger than it is.
"""

from __future__ import annotations

from typing import Any

import orjson

from gateway.assess._line import NOTHING, Format, Line, Told, count, size, time

_REJECTING = frozenset({"block", "rewind"})


def read(raw: bytes, told: Told | None) -> Line | None:
    """A line on an exchange. A line of our log that is on something else tells of no request: `NOTHING`."""
    if told is None:
        told = _behind(raw)
    if told is None or "verdict" not in told or "surface" not in told:
        return NOTHING if _is_ours(raw, told) else None
    usage = told.get("usage")
    prompt, completion = (count(one) for one in usage) if isinstance(usage, list) and len(usage) == 2 else (None, None)
    asked, said = _words(told)
    return Line(
        at=time(told.get("at")) or _stamp(raw),
        rejected=str(told["verdict"]) in _REJECTING or bool(told.get("attempts")),
        tenant=str(told.get("tenant") or ""),
        body={"model": told.get("model") or "", "messages": asked} if asked else None,
        asked=size("\n".join(one["content"] for one in asked)) if asked else None,
        said=size(said) if said else None,
        prompt=prompt,
        completion=completion,
        question=next((one["content"] for one in reversed(asked) if one["role"] == "user"), ""),
        answer=said,
        way=_way(told.get("refined")),
    )


def _behind(raw: bytes) -> Told | None:
    """The object behind a log's own head, such as `2026-01-01 10:00:00,123 INFO {...}`."""
    place = raw.find(b"{")
    if place <= 0:
        return None
    try:
        told = orjson.loads(raw[place:])
    except orjson.JSONDecodeError:
        return None
    return told if isinstance(told, dict) else None


def _is_ours(raw: bytes, told: Told | None) -> bool:
    """Other lines: of the audit log's chain, of the log of a server."""
    if told is not None:
        return "kind" in told and "prev" in told and "seq" in told
    words = raw.split(b" ", 3)
    return len(words) > 3 and words[2] in (b"INFO", b"WARNING", b"ERROR", b"DEBUG") and _stamp(raw) is not None


def _stamp(raw: bytes) -> float | None:
    return time(raw[:23].decode("ascii", "replace").replace(",", "."))


def _words(told: Told) -> tuple[list[dict[str, str]], str]:
    """What was asked, in the shape of messages, and the first choice's answer, where the audit log holds them."""
    asked = told.get("asked")
    listed = asked if isinstance(asked, list) else []
    messages = [
        {"role": str(one.get("role") or "user"), "content": one["text"]}
        for one in listed
        if isinstance(one, dict) and isinstance(one.get("text"), str)
    ]
    said = told.get("said")
    first: Any = next(iter(said.values()), "") if isinstance(said, dict) else ""
    return messages, first if isinstance(first, str) else ""


def _way(refined: object) -> str:
    """What became of the second reading of the first choice."""
    one = next(iter(refined.values()), None) if isinstance(refined, dict) else None
    return (
        str(one[0]) if isinstance(one, list) and one else str(one.get("outcome", "")) if isinstance(one, dict) else ""
    )


FORMAT = Format(
    "retrace",
    "ReTrace Gateway's own log or audit log",
    "ReTrace 网关自己的日志或审计日志",
    read,
    "too high if it is a log written without `-v`",
    "若是未加 `-v` 的日志则偏高",
)
