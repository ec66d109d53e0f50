"""Which headers cross the house, in either direction. Credentials never do."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

ID = "x-retrace-id"
VERDICT = "x-retrace-verdict"
REASON = "x-retrace-reason"
DELIVERY = "x-retrace-delivery"
REFINED = "x-retrace-refined"
ENTRY = "x-retrace-refine-entry"
DEGRADED = "x-retrace-degraded"
EXPLAIN = "x-retrace-explain"
SESSION = "x-retrace-session"
REQUEST_ID = "x-request-id"

# To the upstream goes only what is named here: a list of what to remove would one day lack something.
_PASSED_ON = (REQUEST_ID, "traceparent", "tracestate", "content-type", "accept-language")
# From the upstream comes everything but what describes the connection, the old body, or sets state.
_KEPT_BACK = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"),
    *("upgrade", "content-length", "content-encoding", "content-type", "set-cookie", "server", "date", "alt-svc"),
    *("strict-transport-security", "www-authenticate"),
}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_SAFE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z").match


def new_id() -> str:
    """A name for an exchange: 96 random bits. It is no secret, so the system's own randomness is not asked for it."""
    return f"rt-{random.getrandbits(96):024x}"


def request_id(given: str | None, exchange_id: str) -> str:
    """The client's own name for its request, if it is one that any log can hold; else the exchange's."""
    return given if given and _SAFE_ID(given) else exchange_id


def upstream(headers: Mapping[str, str], exchange_id: str) -> dict[str, str]:
    """The headers of the call upstream; names are lower case."""
    sent = {name: value for name in _PASSED_ON if (value := headers.get(name)) is not None}
    sent[REQUEST_ID] = request_id(sent.get(REQUEST_ID), exchange_id)
    return sent


def downstream(headers: Mapping[str, str], sent: Mapping[str, str], exchange_id: str) -> dict[str, str]:
    """The headers of the answer to the client."""
    named = headers.get("connection")
    hops = {name.strip().lower() for name in named.split(",")} if named else ()
    kept = {
        name: value
        for name, value in headers.items()
        if (low := name.lower()) not in _KEPT_BACK and low not in hops and not low.startswith("x-retrace")
    }
    kept[ID], kept[REQUEST_ID] = exchange_id, sent.get(REQUEST_ID, exchange_id)
    return kept


@lru_cache(maxsize=256)
def is_local(host: str) -> bool:
    """Whether a Host header names this machine by one of its own names; a missing one names nothing else."""
    try:
        name = urlsplit("//" + host).hostname
    except ValueError:  # not even brackets that close
        return False
    return name is None or name in _LOCAL


def bearer(headers: Mapping[str, str]) -> str | None:
    """The API key that a client sent, in OpenAI's or Anthropic's way."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key else headers.get("x-api-key")
