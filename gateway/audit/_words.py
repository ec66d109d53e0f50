"""The words of an exchange, as far as the policy lets them be written down."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gateway.audit._kept import Kept, cut
from gateway.audit._redact import Redactor, without_found
from gateway.checks import Check
from gateway.types import Action, Finding, Refined

FOUND = 200  # characters of what was found

TextPolicy = Literal["none", "hash", "redacted", "full"]
Put = Callable[[str], Any]  # a text as it is written down


class Policy(NamedTuple):
    """What may be written. `masking`: what rules that mask look for; `looked`: whether rules have looked for all
    personal data (`looked.py`). `room`: characters of an exchange's texts at most."""

    text: TextPolicy
    key: bytes = b""  # for `hash`
    masking: Sequence[Check] = ()
    looked: Callable[[str, str, str, str, frozenset[str]], bool] | None = None
    room: int = 1 << 14


class Words:
    """What is written of the words of an exchange under one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._key = policy.text, policy.key
        self._redact = Redactor(policy.masking) if policy.text == "redacted" else None

    def told(
        self, words: Kept, findings: Sequence[Finding], refined: Mapping[int, Refined], clean: bool = False
    ) -> dict[str, Any]:
        """`clean`: nothing in them is to be redacted, as somebody knows already."""
        if self._policy == "none":
            return {}
        put = self._put(findings)
        quiet = self._redact is not None and not findings
        here: Put = str if quiet and (clean or self._silent(words)) else put  # most texts are
        told: dict[str, Any] = {
            "asked": [{"role": role, "text": here(text)} for role, text in words.asked],
            "said": {str(choice): here(text) for choice, text in sorted(words.said.items())},
        }
        if words.left_out:
            told["left_out"] = words.left_out
        if findings and self._policy != "redacted":
            told["found"] = [put(cut(finding.text, FOUND)) for finding in findings]
        if refined and (corrections := _corrections(refined, put)):
            told["corrections"] = corrections
        return told

    def _silent(self, words: Kept) -> bool:
        texts = [*words.said.values(), *(text for _, text in words.asked)]
        return self._redact is not None and self._redact.silent(texts)

    def _put(self, findings: Sequence[Finding]) -> Put:
        if self._policy == "hash":
            return lambda text: {"hmac": hmac.new(self._key, text.encode(), "sha256").hexdigest(), "chars": len(text)}
        hidden = [f for f in findings if self._policy == "redacted" or f.action is Action.MASK]
        redact = self._redact or str
        return lambda text: redact(without_found(text, hidden))


def _corrections(refined: Mapping[int, Refined], put: Put) -> dict[str, Any]:
    return {
        str(choice): [{name: put(value) for name, value in one._asdict().items()} for one in result.corrections]
        for choice, result in refined.items()
        if result.corrections
    }
