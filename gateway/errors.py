"""The faults, and what a client or operator is told of each.

    Fault                       has a status, a code and a sentence that says what to do
    +- BadRequest 400           the client's JSON, its types, a text that can't be judged
       +- BodyTimeout 408       ... or a body that does not arrive
    +- Unauthorized 401         no key, or a wrong one
    +- NotGuarded 404           a path that may generate and that no guard understands
    +- Unknown 404              something of ours that was named and is not there
    +- TooLarge 413             a body over the limit
    +- Refused 4xx              an input rule blocked it (status from the reason code)
    +- GuardBroken 503          a check failed, and its rule says: then block
    +- UpstreamFault 502        the endpoint is unreachable, died, or sent what can't be understood
       +- UpstreamTimeout 504   ... or did not answer in time
    +- Unfinished 502           an answer that was to be whole came to no end; why was counted before
    +- Unavailable 503          no endpoint is healthy

    ConfigFault                 a YAML file is wrong: file, line, field, and the fix. Never reaches a client.

A Fault never says what the client sent nor what a secret is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Fault(Exception):
    """Something a client must be told. Surfaces give it their own shape."""

    status = 500
    type = "api_error"
    code = "internal_error"

    def __init__(self, message: str, *, param: str | None = None, extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.extra = dict(extra or {})


class BadRequest(Fault):
    status, type, code = 400, "invalid_request_error", "bad_request"


class BodyTimeout(BadRequest):
    status, code = 408, "body_timeout"


class Unauthorized(Fault):
    status, type, code = 401, "authentication_error", "invalid_api_key"


class NotGuarded(Fault):
    status, type, code = 404, "invalid_request_error", "surface_not_guarded"


class Unknown(Fault):
    status, type, code = 404, "invalid_request_error", "not_found"


class TooLarge(Fault):
    status, type, code = 413, "invalid_request_error", "request_too_large"


class Refused(Fault):
    """An input rule said no. `extra` holds the reason code and the rule."""

    type, code = "invalid_request_error", "content_filter"

    def __init__(self, message: str, *, status: int, reason: str, rule: str, param: str | None = None) -> None:
        super().__init__(message, param=param, extra={"reason": reason, "rule": rule})
        self.status = status


class GuardBroken(Refused):
    type, code = "api_error", "guard_unavailable"


class UpstreamFault(Fault):
    """`kind` is the word that metrics use."""

    status, code = 502, "upstream_error"

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class UpstreamTimeout(UpstreamFault):
    status, code = 504, "upstream_timeout"


class Unfinished(Fault):
    status, code = 502, "upstream_error"


class Unavailable(Fault):
    status, code = 503, "no_healthy_backend"


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing wrong in a file: where, what, and how to mend it."""

    file: Path
    line: int | None
    field: str
    problem: str
    fix: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else str(self.file)
        field = f" {self.field}:" if self.field else ""
        return f"{where}:{field} {self.problem}" + (f" -> {self.fix}" if self.fix else "")


class ConfigFault(Exception):
    """What is wrong in the configuration, all of it at once."""

    def __init__(self, complaints: list[Complaint]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = complaints
