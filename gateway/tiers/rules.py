"""`type: rules`: what an answer sounds like. It hedges: check it. It cites its sources: leave it. Else: what it risks.

Weights are log-odds of "this answer needs checking", set by judgement and to be tuned; all words stand in YAML.

A citation does not excuse a hedge: the two stand in different sentences as often as in one, and the sentence that
hedges is the one without a source. Nor does one citation vouch for a long answer: each covers so many characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from pydantic import Field

from gateway.tiers import Case, Decision, Opinion, Tier, TierSpec
from gateway.tiers._citation import stands_in
from gateway.tiers._instant import Instant
from gateway.tiers._patterns import Finder, Phrases
from gateway.tiers._scope import Scope

Means = Literal["doubt", "ground", "risk"]

_SHOWN = 100_000  # characters of question and context in which citations are looked up


class Sign(Scope):
    """Something to look for, where its scope matches, and what it means."""

    name: str = Field(pattern=r"^[a-z][a-z0-9.-]{0,31}$", description="Stands in logs and metrics.", examples=["hedge"])
    means: Means = Field(description="doubt: towards checking. ground: towards leaving it. risk: only weighs.")
    weight: float = Field(gt=0, le=20, description="Of each finding, in log-odds.")
    most: int = Field(default=3, ge=1, le=100, description="Findings that count.")
    zh: Phrases = Phrases()
    en: Phrases = Phrases()


class Plug(TierSpec):
    """Words and patterns, weighed. Each answer is read once, whatever its language, since many are of both."""

    type: Literal["rules"] = "rules"
    signs: tuple[Sign, ...] = ()
    force_at: float = Field(default=1.0, gt=0, description="Doubt, in log-odds, from which an answer is checked.")
    skip_at: float | None = Field(
        default=1.0,
        gt=0,
        description="Ground, in log-odds, from which an answer without any doubt is left. null: never.",
    )
    reach: int = Field(
        default=400, ge=1, description="Characters of an answer that ground of 1 vouches for; longer ones are not left."
    )
    citations: Literal["believed", "checked"] = Field(
        default="believed",
        description="believed: ground counts as the answer states it, and models invent citations. checked: only what "
        "names nothing that is missing from the question and the context.",
    )
    most_risk: float = Field(default=1.0, ge=0, description="Log-odds that are added or taken at most.")
    most_chars: int = Field(default=20_000, ge=100, description="Characters of an answer that are read.")

    def connect(self) -> Tier:
        return Instant(Reading(self).opinion)


class Found(NamedTuple):
    """A sign that an answer shows, and what all its findings weigh."""

    sign: Sign
    weight: float


class Reading:
    """The signs, ready to be looked for."""

    def __init__(self, spec: Plug) -> None:
        self._spec = spec
        self._signs = [(sign, list(_finders(sign))) for sign in spec.signs]

    def opinion(self, case: Case) -> Opinion:
        """Pure, and linear in the answer's length."""
        spec, found = self._spec, self.found(case)
        doubt, ground, risk = (_total(found, means) for means in ("doubt", "ground", "risk"))
        if doubt >= spec.force_at:
            return Opinion(Decision.FORCE, _strongest(found, "doubt"))
        vouched = not doubt and ground * spec.reach >= len(case.answer)
        if spec.skip_at is not None and ground >= spec.skip_at and vouched:
            return Opinion(Decision.SKIP, _strongest(found, "ground"))
        added = min(max(doubt + risk - ground, -spec.most_risk), spec.most_risk)
        return Opinion(Decision.PASS, _strongest(found, "risk"), added)

    def found(self, case: Case) -> list[Found]:
        """The signs that the answer shows."""
        text = case.answer[: self._spec.most_chars].encode("utf-8", "replace")
        shown = f"{case.question}\n{case.context}"[:_SHOWN] if self._spec.citations == "checked" else None
        covering = ((sign, finders) for sign, finders in self._signs if sign.covers(case))
        found = [Found(sign, _weight(text, finders, sign, shown)) for sign, finders in covering]
        return [one for one in found if one.weight]


def _finders(sign: Sign) -> Iterator[tuple[float, Finder]]:
    """One for each weight: mostly both languages together, so that the text is read once."""
    weights = {phrases.weight or sign.weight for phrases in (sign.zh, sign.en)}
    for weight in sorted(weights, reverse=True):
        phrases = [each for each in (sign.zh, sign.en) if (each.weight or sign.weight) == weight]
        yield weight, Finder(phrases, mentions=sign.means != "doubt")


def _weight(text: bytes, finders: Sequence[tuple[float, Finder]], sign: Sign, shown: str | None) -> float:
    """Of as many findings as count. Ground counts only if it stands in what was `shown`, unless that is None."""
    checked = shown if sign.means == "ground" else None
    found = ((weight, one) for weight, finder in finders for one in finder.found(text))
    counting = (weight for weight, one in found if checked is None or stands_in(one.decode(), checked))
    return sum(islice(counting, sign.most))


def _total(found: Sequence[Found], means: Means) -> float:
    return sum(weight for sign, weight in found if sign.means == means)


def _strongest(found: Sequence[Found], means: Means) -> str:
    """The name of what weighs most; empty where there is none."""
    of = [one for one in found if one.sign.means == means]
    return max(of, key=lambda one: one.weight).sign.name if of else ""
