"""An access log of nginx (or Apache): the combined format, or JSON with nginx's variables as names.

It knows no words and no tokens. Sizes are those of HTTP, heads and JSON among them, so lengths come out too large; and
that a request was rejected is guessed from its status.
"""

from __future__ import annotations

import re
from datetime import datetime

from gateway.assess._line import NOTHING, Format, Line, Told, count, first, time

REFUSING = frozenset({400, 403, 422, 451})  # what guards answer a client with whom they refuse
_GENERATES = re.compile(r"/v1/(?:chat/completions|completions|responses|messages)\b")
_COMBINED = re.compile(
    rb'(\S+) \S+ (?:\S+|"[^"]*") \[([^\]]+)\] "([^"]*)" (\d{3}) (\d+|-)(?: "[^"]*" "[^"]*")?(.*)\Z', re.DOTALL
)
_LENGTH = re.compile(rb"(?:request_length|rl)[=:]\s?(\d+)")


def read(raw: bytes, told: Told | None) -> Line | None:
    """A request that generates; of any other, `NOTHING`."""
    return _combined(raw) if told is None else _variables(told)


def _combined(raw: bytes) -> Line | None:
    match = _COMBINED.match(raw.strip())
    if not match:
        return None
    at, request, status, sent, rest = match.groups()[1:]
    length = _LENGTH.search(rest)
    return _line(
        request.decode("utf-8", "replace"),
        int(status),
        _local(at.decode("ascii", "replace")),
        int(length[1]) if length else None,
        count(sent.decode()),
    )


def _variables(told: Told) -> Line | None:
    status = count(told.get("status"))
    request = first(told, "request", "request_uri", "uri", "path")
    sizes = ("request_length", "body_bytes_sent", "bytes_sent")
    if status is None or not isinstance(request, str) or not any(name in told for name in sizes):
        return None
    when = first(told, "msec", "time_iso8601", "timestamp", "@timestamp", "time")
    at = time(when) or _local(str(first(told, "time_local", "time") or ""))
    sent = count(first(told, "body_bytes_sent", "bytes_sent"))
    return _line(request, status, at, count(told.get("request_length")), sent)


def _line(request: str, status: int, at: float | None, length: int | None, sent: int | None) -> Line:
    if not _GENERATES.search(request):
        return NOTHING
    return Line(at=at, rejected=status in REFUSING, asked=length, said=sent)


def _local(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp()
    except ValueError:
        return None


FORMAT = Format(
    "nginx", "an access log of nginx", "nginx 访问日志", read, "guessed from the HTTP status", "由 HTTP 状态推测"
)
