"""Which headers cross the house, in either direction. Credentials never do."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

ID = "x-retrace-id"
VERDICT = "x-retrace-verdict"
REASON = "x-retrace-reason"
DELIVERY = "x-retrace-delivery"
EXPLAIN = "x-retrace-explain"
REQUEST_ID = "x-request-id"

# To the upstream goes only what is named here: a list of what to remove would one day lack something.
_PASSED_ON = (REQUEST_ID, "traceparent", "tracestate", "content-type", "accept-language")
# From the upstream comes everything but what describes the connection, the old body, or sets state.
_KEPT_BACK = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
    + ("upgrade", "content-length", "content-encoding", "content-type", "set-cookie", "server", "date", "alt-svc")
    + ("strict-transport-security", "www-authenticate")
)
_SAFE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z").match


def new_id() -> str:
    """A name for an exchange."""
    return "rt-" + secrets.token_hex(12)


def upstream(headers: Mapping[str, str], exchange_id: str) -> dict[str, str]:
    """The headers of the call upstream; names are lower case."""
    sent = {name: headers[name] for name in _PASSED_ON if name in headers}
    if not _SAFE_ID(sent.get(REQUEST_ID, "")):
        sent[REQUEST_ID] = exchange_id
    return sent


def downstream(headers: Mapping[str, str], sent: Mapping[str, str], exchange_id: str) -> dict[str, str]:
    """The headers of the answer to the client."""
    hops = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    kept = {
        name: value
        for name, value in headers.items()
        if (low := name.lower()) not in _KEPT_BACK and low not in hops and not low.startswith("x-retrace")
    }
    return {**kept, ID: exchange_id, REQUEST_ID: sent.get(REQUEST_ID, exchange_id)}


def bearer(headers: Mapping[str, str]) -> str | None:
    """The API key that a client sent, in OpenAI's or Anthropic's way."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key else headers.get("x-api-key")
