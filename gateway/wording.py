"""The policy of a reason code in the plugin's words: how a donor may be used, how a capture is to be kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateway.rules import Inject
from gateway.types import Finding

MOST_TEXTS, LONGEST_TEXT = 64, 4096  # what the plugin takes of passages to mask, and characters of one


def used_on(policy: Inject) -> dict[str, Any]:
    """How a donor may be used."""
    return {
        "recompute": policy.recompute.model_dump(),
        "after_sensitive": policy.after_sensitive,
        "min_tokens": policy.min_tokens,
        "ban": policy.ban,
    }


def kept_on(policy: Inject, findings: Iterable[Finding]) -> dict[str, Any]:
    """How a capture is to be kept in whose answer these were found."""
    texts = passages(policy, findings)
    return {
        "sensitive_texts": texts or [],
        "sensitive_output": policy.sensitive == "cut" or texts is None,
        "ttl_seconds": policy.ttl_seconds,
        "priority": policy.priority,
    }


def passages(policy: Inject, findings: Iterable[Finding]) -> list[str] | None:
    """What of the answer is to be kept out; None if it can't be told passage by passage."""
    if policy.sensitive == "cut":
        return []
    masked = policy.sensitive == "mask"
    texts = dict.fromkeys(f.text for f in findings if (masked and f.action.holds) or f.reason in policy.cut)
    if len(texts) > MOST_TEXTS or (masked and not texts) or not all(0 < len(text) <= LONGEST_TEXT for text in texts):
        return None
    return list(texts)
