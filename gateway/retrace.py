"""What becomes of an exchange's KV in a patched engine: kept when its draft was rejected, given to the next like it.

Each exchange is planned before it is sent (the tenant's salt, a capture, perhaps a donor) and settled when it is over.
Nothing counts as reused before the engine has said so.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import orjson

from gateway import donors
from gateway.backends import Capture, Donor, Outcome, Plan
from gateway.donors import Donors, Kept, Keys
from gateway.errors import UpstreamFault
from gateway.metrics import Metrics
from gateway.rules import Inject
from gateway.types import Draft, Exchange

ACCEPTED = "accepted"  # why a capture is dropped, or kept, whose draft no rule stopped
UNFINISHED = "unfinished"  # why one is dropped whose exchange did not come to its end

MODES = frozenset({"none", "prefix", "splice"})
# Why a plugin may decline a donor; whatever else it may say counts as "other".
DECLINED = frozenset(
    {
        *("bad_ask", "unknown_donor", "not_kept", "tenant", "adapter", "fingerprint", "no_match", "sensitive"),
        *("holes", "cached", "unsupported", "no_splice", "load_failed", "preempted", "on_disk", "fault"),
    }
)
_GONE = frozenset({"unknown_donor", "not_kept", "tenant", "adapter", "fingerprint"})  # no use in asking again

_POLICIES: Mapping[str, Inject] = {ACCEPTED: Inject(sensitive="allow")}
_DEFAULT = Inject()
_LARGE = 1 << 17  # bytes of a body; to hash them takes a while


class Terms(NamedTuple):
    """What a configuration says of captures: which are kept, and how those of each reason code may be used."""

    capture: Literal["rejected", "all", "none"] = "rejected"
    policies: Mapping[str, Inject] = {}

    def policy(self, reason: str) -> Inject:
        return self.policies.get(reason) or _POLICIES.get(reason, _DEFAULT)


class Retrace:
    """One process's memory of what engines keep."""

    def __init__(self, metrics: Metrics, known: Donors | None = None) -> None:
        self._metrics = metrics
        self._donors = Donors() if known is None else known
        secret = os.environ.get("RETRACE_ENGINE_SECRET") or os.environ.get("RETRACE_SALT") or secrets.token_hex(32)
        self._salt = lru_cache(maxsize=1024)(partial(_salt, secret.encode()))

    async def plan(self, exchange: Exchange, body: Mapping[str, Any], size: int, terms: Terms) -> Plan:
        """What to ask of a patched replica beside this body, which has `size` bytes."""
        who = exchange.principal.tenant
        salt = self._salt(who)
        if terms.capture == "none" or exchange.choices != 1:
            return Plan(salt)
        if size < _LARGE:
            found = donors.keys(who, exchange.model, body)
        else:  # beside the event loop, so that others go on meanwhile
            found = await asyncio.to_thread(donors.keys, who, exchange.model, body)
        donor = self._donor(found, terms)
        return Plan(salt, True, donor, partial(self._told, found, donor, terms))

    def settle(self, capture: Capture, draft: Draft, terms: Terms) -> None:
        """The exchange is over: its capture gets its verdict."""
        halted = next(iter(draft.halted.values()), None)
        if halted:
            reason, kept = halted.reason, terms.policy(halted.reason).captures
        else:
            reason = ACCEPTED if draft.finish else UNFINISHED
            kept = terms.capture == "all" and reason is ACCEPTED
        if kept:
            capture.keep(reason, _kept_on(terms.policy(reason)))
        else:
            capture.drop(reason)

    def _donor(self, found: Keys, terms: Terms) -> Donor | None:
        """The capture that most of the request can be taken from, if its reason's policy lets it be."""
        best: tuple[Kept, Inject] | None = None
        most = 0
        for wanted, mode in ((reversed(found.prefix), None), (sorted(found.texts, key=_by_size), "splice")):
            for kept, size in self._donors.sharing(wanted):
                policy = terms.policy(kept.reason)
                if policy.mode == "none" or mode not in (None, policy.mode) or size < policy.min_tokens:
                    continue  # a token has a byte at least
                if size > most:
                    best, most = (kept, policy), size
                break
        if best is None:
            return None
        kept, policy = best
        self._donors.used(kept.capture)
        return Donor(kept.capture, kept.replica, policy.mode, _used_on(policy))

    def _told(self, found: Keys, donor: Donor | None, terms: Terms, outcome: Outcome) -> None:
        """What became of an exchange's capture, and of the donor it was offered."""
        self._metrics.observe_capture(outcome.verdict, outcome.reason)
        if outcome.report is not None:
            self._count(outcome.report, donor)
        policy = terms.policy(outcome.reason)
        if outcome.verdict == "kept" and policy.mode != "none":
            until = self._donors.now() + policy.ttl_seconds
            self._donors.add(Kept(outcome.capture, outcome.replica, outcome.reason, found, until))

    def _count(self, report: Mapping[str, Any], donor: Donor | None) -> None:
        mode, declined = report.get("mode"), report.get("declined")
        injected, recomputed = _tokens(report, "injected_tokens"), _tokens(report, "recomputed_tokens")
        if injected:
            known = isinstance(mode, str) and mode in MODES
            self._metrics.observe_injection(str(mode) if known else "other", injected, recomputed)
        if isinstance(declined, str):
            self._metrics.observe_declined(declined if declined in DECLINED else "other")
            if donor and declined in _GONE:
                self._donors.forget(donor.capture)


def without_report(raw: bytes, capture: Capture) -> bytes:
    """An answer in one piece less what the engine says of retrace in it, which is noted with the capture.

    What is no JSON object stays as it is; UpstreamFault if it can't be written again.
    """
    if b'"kv_transfer_params"' not in raw:
        return raw
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw  # whoever judges it says so
    told = body.pop("kv_transfer_params", None) if isinstance(body, dict) else None
    if told is None:
        return raw
    report = told.get("retrace") if isinstance(told, dict) else None
    capture.report = report if isinstance(report, dict) else None
    try:
        return orjson.dumps(body)
    except TypeError as fault:  # it was JSON once, so all that can be wrong is its depth
        raise UpstreamFault("the upstream's answer is nested too deeply", kind="garbage") from fault


def _salt(secret: bytes, tenant: str) -> str:
    return hmac.new(secret, tenant.encode(), "sha256").hexdigest()


def _by_size(key: donors.Key) -> int:
    return -key.size


def _used_on(policy: Inject) -> dict[str, Any]:
    """How a donor may be used, in the plugin's words."""
    return {
        "recompute": policy.recompute.model_dump(),
        "after_sensitive": policy.after_sensitive,
        "min_tokens": policy.min_tokens,
        "ban": policy.ban,
    }


def _kept_on(policy: Inject) -> dict[str, Any]:
    """How a capture is to be kept, in the plugin's words."""
    return {
        "sensitive_token_spans": [],
        "sensitive_output": policy.sensitive == "cut",
        "ttl_seconds": policy.ttl_seconds,
        "priority": policy.priority,
    }


def _tokens(report: Mapping[str, Any], name: str) -> int:
    count = report.get(name)
    return count if isinstance(count, int) and count > 0 else 0
