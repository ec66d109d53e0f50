"""What becomes of an exchange's KV in a patched engine: kept when its draft was rejected, given to the next like it.

Each exchange is planned before it is sent (the tenant's salt, a capture, perhaps a donor) and settled when it is over.
Nothing counts as reused before the engine has said so.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

from classifiers.manifest import ModelFault
from gateway import context, marks, reports
from gateway.backends import Capture, Donor, Outcome, Plan
from gateway.donors import Offer, choose
from gateway.metrics import Metrics
from gateway.reports import Report
from gateway.sample import Reservoir, Sampled
from gateway.similar import Similar
from gateway.stores import Kept, Near, Sketch, Store, StoreSpec
from gateway.terms import ACCEPTED, Terms
from gateway.types import Draft, Exchange, Finding, Reuse, Verdict
from gateway.wording import kept_on, used_on

log = logging.getLogger(__name__)

EMPTY = "empty"  # what is counted of a capture that was to be kept and holds nothing
UNFINISHED = "unfinished"  # why one is dropped whose exchange did not come to its end

_LARGE = 1 << 17  # bytes of a body; to hash them takes a while


class Asked(NamedTuple):
    """A request as it was planned: its name, its sketch, its session, what it was offered."""

    id: str
    sketch: Sketch
    session: str
    offer: Offer | None
    terms: Terms


class Retrace:
    """One process's dealings with what engines keep. Without a store (see `apply`) nothing is found again.

    `heard` is told of each call what its engine says became of it, as a rule after the exchange is over.
    """

    def __init__(self, metrics: Metrics, heard: Callable[[Reuse], None] = lambda _reuse: None) -> None:
        self._metrics, self._heard = metrics, heard
        self._spec: StoreSpec | None = None
        self.store: Store | None = None
        self._reservoir: Reservoir | None = None
        self._sampled: Sampled | None = None
        self._similar: Similar | None = None
        secret = os.environ.get("RETRACE_ENGINE_SECRET") or os.environ.get("RETRACE_SALT") or secrets.token_hex(32)
        self.salt = lru_cache(maxsize=1024)(partial(_salt, secret.encode()))

    async def apply(self, spec: StoreSpec, sampled: Sampled | None = None, codes: bool = False) -> None:
        """Remember captures there from now on, sample requests, load what makes codes.

        A store or a sample that stays where it was keeps all it has. Models that can't be loaded are said to be so and
        done without.
        """
        if codes and self._similar is None:
            try:
                self._similar = await asyncio.to_thread(Similar)
            except ModelFault as fault:
                log.error("captures are found without similarity codes: %s", fault)
                self._metrics.store_fault("model")
        if sampled != self._sampled:
            if self._reservoir is not None:
                await self._reservoir.stop()
            self._reservoir, self._sampled = Reservoir(*sampled) if sampled else None, sampled
        if spec == self._spec:
            return
        new = spec.connect(self._metrics.store_fault)
        await new.start()
        old, self.store, self._spec = self.store, new, spec
        if old is not None:
            await old.stop()

    async def stop(self) -> None:
        if self._reservoir is not None:
            await self._reservoir.stop()
        if self.store is not None:
            await self.store.stop()

    async def plan(
        self, exchange: Exchange, body: Mapping[str, Any], size: int, terms: Terms, draft: Draft | None = None
    ) -> Plan:
        """What to ask of a patched replica beside this body, which has `size` bytes. By the draft a capture is settled
        whose call ends before it is answered."""
        salt = self.salt(exchange.principal.tenant)
        if exchange.choices != 1 or terms.capture_of(exchange) == "none":
            return Plan(salt)
        if self._reservoir is not None:
            self._reservoir.add(exchange.principal.tenant, body)
        began = time.perf_counter()
        owner = context.whose(salt, exchange.model)
        if size < _LARGE:
            sketch = context.sketch(owner, body, terms.lookup.chunk_bits)
        else:  # beside the event loop, so that others go on meanwhile
            sketch = await asyncio.to_thread(context.sketch, owner, body, terms.lookup.chunk_bits)
        if terms.lookup.codes and self._similar is not None:
            codes = self._similar.codes(context.question(body), terms.lookup.window)
            sketch = sketch._replace(codes=codes)
        session = _salt(owner, exchange.session)[:16] if exchange.session else ""
        offer = await self._offer(sketch, session, terms)
        self._metrics.observe_lookup(time.perf_counter() - began, offer is not None and offer.injects)
        if offer is not None:
            marks.note(donor=offer.kept.capture, donor_reason=offer.kept.reason, mode=offer.mode)
            marks.note(expected_tokens=offer.gain, moved_tokens=offer.moved)
            told = (exchange.id, len(sketch.sizes), sum(sketch.sizes), offer.kept.capture, offer.kept.reason)
            log.debug("%s: %d chunks of %d bytes; donor %s of %s", *told)
            log.debug("%s: asked for %s, to save about %d + %d", exchange.id, offer.mode, offer.prefix, offer.moved)
        asked = Asked(exchange.id, sketch, session, offer, terms)
        plan = Plan(salt, True, _donor(offer), told=partial(self._told, asked))
        if draft is None:
            return plan
        return plan._replace(torn=partial(self.settle, exchange=exchange, draft=draft, terms=terms))

    async def _offer(self, sketch: Sketch, session: str, terms: Terms) -> Offer | None:
        """The capture that most of the request can be taken from, if its reason's policy lets it be."""
        if self.store is None or sum(sketch.sizes) < terms.lookup.bytes_per_token:
            return None
        found = await self.store.find(sketch, Near(terms.lookup.bits, terms.lookup.radius))
        self._metrics.store(self.store.up)
        return choose(sketch, session, found, terms.policy, terms.lookup.bytes_per_token)

    def settle(self, capture: Capture, exchange: Exchange, draft: Draft, terms: Terms) -> None:
        """The exchange is over: its capture gets its verdict."""
        refused = (finding for finding in draft.findings[: draft.asked] if finding.verdict is Verdict.BLOCK)
        against = next(refused, None) or next(iter(draft.halted.values()), None)
        if against:
            reason, kept = against.reason, terms.policy(against.reason).captures
        else:
            reason = ACCEPTED if draft.finish else UNFINISHED
            kept = reason is ACCEPTED and terms.capture_of(exchange) == "all"
        marks.stage("settle", reason=reason, kept=kept).end()
        if kept:
            capture.keep(reason, kept_on(terms.policy(reason), draft.findings[draft.asked :]))
        else:
            capture.drop(reason)

    def reject(self, capture: Capture, finding: Finding, terms: Terms) -> None:
        """A rule cut the draft back: its capture is kept, if the reason's policy lets it."""
        policy = terms.policy(finding.reason)
        marks.stage("settle", reason=finding.reason, kept=policy.captures).end()
        if policy.captures:
            capture.keep(finding.reason, kept_on(policy, [finding]))
        else:
            capture.drop(finding.reason)

    def _told(self, asked: Asked, outcome: Outcome) -> None:
        """What became of an exchange's capture, and of the donor it was offered."""
        report = reports.read(outcome.report) if outcome.report is not None else None
        kept = outcome.verdict == "kept"
        empty = kept and report is not None and not report.captured
        self._metrics.observe_capture(EMPTY if empty else outcome.verdict, outcome.reason)
        if report is not None:
            self._count(report, asked)
        self._heard(_reuse(asked, outcome, report or Report()))
        policy = asked.terms.policy(outcome.reason)
        if self.store is not None and kept and not empty and policy.reusable:
            until = time.time() + policy.ttl_seconds
            replica, reason = outcome.replica, outcome.reason
            self.store.add(Kept(outcome.capture, replica, reason, asked.session, until, asked.sketch))

    def _count(self, report: Report, asked: Asked) -> None:
        offer = asked.offer
        if report.injected:
            self._metrics.observe_injection(report.mode, report.injected, report.recomputed)
        if report.declined:
            self._metrics.observe_declined(report.declined)
        if offer is None or self.store is None:
            return
        became = report.declined or report.mode
        log.debug("%s: donor %s gave %d tokens (%s)", asked.id, offer.kept.capture, report.injected, became)
        if report.gone:
            self.store.forget(offer.kept)
        elif report.injected:
            self.store.used(offer.kept)


def _donor(offer: Offer | None) -> Donor | None:
    """An offer, as a backend passes it on."""
    if offer is None:
        return None
    return Donor(offer.kept.capture, offer.kept.replica, offer.mode, used_on(offer.policy))


def _reuse(asked: Asked, outcome: Outcome, report: Report) -> Reuse:
    """All of it in one noun."""
    reuse = Reuse(asked.id, outcome.capture, outcome.replica, outcome.verdict, outcome.reason)
    if asked.offer is not None:
        kept = asked.offer.kept
        reuse = reuse._replace(donor=kept.capture, donor_reason=kept.reason, asked=asked.offer.mode)
    captured, injected, recomputed, mode, declined = report
    reuse = reuse._replace(captured=captured, injected=injected, recomputed=recomputed)
    return reuse._replace(mode=mode, declined=declined or "")


def _salt(secret: bytes, tenant: str) -> str:
    return hmac.new(secret, tenant.encode(), "sha256").hexdigest()
