"""The texts of an exchange, as far as the policy lets them be written down."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gateway.audit.settings import Auditing
from gateway.checks import Check, Scanner
from gateway.checks.pii import Kind
from gateway.checks.pii import Plug as Pii
from gateway.rules import Place, Rule
from gateway.types import Action, Exchange, Finding, Refined, Side, Text, View

MASK = "[***]"
LEFT_OUT = "…"
_BETWEEN = "\n\0\n"
_SHORTEST = 2  # characters of what was found: a single one would be masked everywhere

Put = Callable[[str], Any]  # a text as it is written down


class Redactor:
    """Takes out of texts what nobody is to read there: personal data, and what the rules that mask look for."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        masking = [rule.check for rule in rules if rule.action is Action.MASK and isinstance(rule.check, Check)]
        families: dict[Any, list[Check]] = {}
        for check in (Pii(), *masking):
            families.setdefault(check.family(), []).append(check)
        self._scanners: list[tuple[Scanner, frozenset[int]]] = [
            (family.fuse(checks), frozenset(range(len(checks)))) for family, checks in families.items()
        ]

    def silent(self, texts: Sequence[str]) -> bool:
        """Whether there is nothing in any of these texts, told in one look."""
        view = View(_BETWEEN.join(texts))
        return not any(scanner.scan(view, active).hits for scanner, active in self._scanners)

    def __call__(self, text: str) -> str:
        view = View(text)
        hits = [(hit.start, hit.end) for scanner, active in self._scanners for hit in scanner.scan(view, active).hits]
        return _without(text, hits) if hits else text


class Words:
    """What is written of the words of an exchange under one configuration."""

    def __init__(self, spec: Auditing, rules: Iterable[Rule]) -> None:
        self._policy, self._most, self._key = spec.text, spec.text_chars, spec.key
        known = list(rules)
        self._redact = Redactor(known) if spec.text == "redacted" else None
        self._looking = [(rule.side, rule.when, rule.check.kinds) for rule in known if isinstance(rule.check, Pii)]
        self._looked = lru_cache(maxsize=4096)(self._look)

    def _look(self, place: Place) -> bool:
        """Whether the rules of a place look for all personal data themselves."""
        kinds: set[Kind] = set()
        for side, when, mine in self._looking:
            if side is place.side and when.matches(place):
                kinds |= mine
        return kinds == set(Kind)

    def clean(self, exchange: Exchange) -> bool:
        """Whether an exchange in which no rule found anything has nothing that is to be redacted: the rules that it
        passed look for all of that."""
        who = exchange.principal
        way = (exchange.surface, exchange.model, who.tenant, who.tier)
        spoken = [(Side.INPUT, role) for role in {text.role for text in exchange.texts}]
        return all(self._looked(Place(side, *way, role)) for side, role in [*spoken, (Side.OUTPUT, "assistant")])

    def told(
        self,
        asked: Sequence[Text],
        said: Mapping[int, str],
        findings: Sequence[Finding],
        refined: Mapping[int, Refined],
        clean: bool = False,
    ) -> dict[str, Any]:
        """Of the texts of a request the latest come first if there is not room for all. `clean`: nothing in them is to
        be redacted, as somebody knows already."""
        if self._policy == "none":
            return {}
        answers, kept, left_out = self._chosen(asked, said)
        put = self._put(findings)
        quiet = self._redact is not None and not findings
        if quiet and (clean or self._silent([*answers.values(), *(one.text for one in kept)])):
            here: Put = str  # most texts are
        else:
            here = put
        told: dict[str, Any] = {
            "asked": [{"role": one.role, "text": here(one.text)} for one in kept],
            "said": {str(choice): here(text) for choice, text in answers.items()},
        }
        if left_out:
            told["left_out"] = left_out
        if findings and self._policy != "redacted":
            told["found"] = [put(_cut(finding.text, 200)) for finding in findings]
        if refined and (corrections := _corrections(refined, put)):
            told["corrections"] = corrections
        return told

    def _silent(self, texts: Sequence[str]) -> bool:
        return self._redact is not None and self._redact.silent(texts)

    def _chosen(self, asked: Sequence[Text], said: Mapping[int, str]) -> tuple[dict[int, str], list[Text], int]:
        """The texts that there is room for, and how many of the request are left out."""
        room = self._most
        answers: dict[int, str] = {}
        for choice in sorted(said):
            answers[choice] = _cut(said[choice], room)
            room = max(room - len(said[choice]), 0)
        texts = [one for one in asked if one.whole]
        kept: list[Text] = []
        for one in reversed(texts):
            if room <= 0:
                break
            kept.append(one if len(one.text) <= room else one._replace(text=_cut(one.text, room)))
            room -= len(one.text)
        return answers, kept[::-1], len(texts) - len(kept)

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


def without_found(text: str, findings: Iterable[Finding]) -> str:
    """The text, with the reason code in the place of whatever was found."""
    places = {f.text: f.replacement if f.action is Action.MASK else f"[{f.reason}]" for f in findings}
    wanted = [found for found in places if found in text and len(found.strip()) >= _SHORTEST]
    if not wanted:
        return text
    wanted.sort(key=len, reverse=True)
    return re.sub("|".join(map(re.escape, wanted)), lambda match: places[match[0]], text)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    out, place = [], 0
    for start, end in sorted(spans):
        if end <= place:
            continue
        if start >= place:
            out += [text[place:start], MASK]
        place = max(place, end)
    return "".join([*out, text[place:]])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room] + LEFT_OUT
