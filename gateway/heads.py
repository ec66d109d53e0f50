"""The head of a reply: its kind, what the rules have said so far, and how the answer is delivered."""

from __future__ import annotations

from collections.abc import Mapping

from gateway import headers
from gateway.flow import Errand
from gateway.types import Draft, Outcome


def head(errand: Errand, kind: str, theirs: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, str]:
    """The headers of a reply of this kind; `theirs` came from the upstream, `sent` went there."""
    told = headers.downstream(theirs, sent, errand.exchange.id)
    told.update(_verdict(errand.trip.draft), **_refined(errand))
    told["content-type"] = kind
    return told


def _verdict(draft: Draft) -> dict[str, str]:
    """What the rules have said so far; of a stream that is only what they said of the request."""
    verdict = {headers.VERDICT: draft.verdict.word}
    if not draft.findings:
        return verdict
    reasons = sorted({finding.reason for finding in draft.findings if finding.verdict})
    return {**verdict, headers.REASON: ",".join(reasons)} if reasons else verdict


def _refined(errand: Errand) -> dict[str, str]:
    """How the answer is delivered, and what a second reading has made of it so far."""
    told = {headers.DELIVERY: errand.review.delivery if errand.review else "live"}
    outcomes = [one for one in errand.trip.draft.refined.values() if one.outcome is not Outcome.UNTOUCHED]
    for one in sorted(outcomes, key=lambda one: len(one.corrections)):  # of several choices the most corrected counts
        told[headers.REFINED] = one.outcome.value
        if one.entry:
            told[headers.ENTRY] = one.entry
    broken = next((one for one in outcomes if one.outcome is Outcome.DEGRADED), None)
    if broken is not None:
        told |= {headers.REFINED: broken.outcome.value, headers.DEGRADED: f"refine; {broken.why}"}
    return told
