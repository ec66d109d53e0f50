"""The rules whose checks take their time, and the living probes that these ask. What a probe finds, its rule decides.

A rule whose probe can't say is broken, and does what its `on_error` says: it never passes in silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

from gateway import marks
from gateway.judge import answer_for
from gateway.metrics import Metrics
from gateway.probes import Probe, ProbeFault, ProbeSpec, Question, Sighting
from gateway.rules import BROKEN, Rule
from gateway.types import Action, Finding, Text


class Case(NamedTuple):
    """A text before a rule that has to ask; `text` is where it stands in a request."""

    rule: Rule
    question: Question
    text: Text | None = None


class Ruling(NamedTuple):
    """What a rule decided in its case."""

    case: Case
    finding: Finding


class Jury:
    """The probes of one process. Those of the last configuration but one still answer: requests may be on their way."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._living: dict[ProbeSpec, Probe] = {}
        self._named: frozenset[ProbeSpec] = frozenset()  # by the rules in force
        self._codes: Collection[str] = ()

    async def apply(self, rules: Iterable[Rule], codes: Collection[str]) -> None:
        """Serve these rules from now on. A probe of theirs that lives already goes on with all that it knows; one may
        name any of these reason codes."""
        named = frozenset(rule.check for rule in rules if isinstance(rule.check, ProbeSpec))
        for spec in named - self._living.keys():
            probe = spec.connect()
            await probe.start()
            self._living[spec] = probe
        for spec in self._living.keys() - named - self._named:
            await self._living.pop(spec).stop()
        self._named, self._codes = named, codes

    async def stop(self) -> None:
        for probe in self._living.values():
            await probe.stop()
        self._living.clear()

    async def rulings(self, cases: Sequence[Case]) -> list[Ruling]:
        """What the rules decide, all asked at once. One that blocks decides all: the others are not waited for."""
        asked = [asyncio.ensure_future(self._ruled(case)) for case in cases]
        ruled: list[Ruling] = []
        try:
            for one in asyncio.as_completed(asked):
                ruled += await one
                if any(ruling.finding.action is Action.BLOCK for ruling in ruled):
                    break
        finally:
            for task in asked:
                task.cancel()
        return ruled

    async def _ruled(self, case: Case) -> list[Ruling]:
        rule, began, said = case.rule, perf_counter(), "broken"
        try:
            sighting = await self._asked(case)
            said = "flag" if sighting.spans else "pass"
            return [Ruling(case, finding) for finding in self._findings(case, sighting)]
        except Exception as fault:  # noqa: BLE001 - whatever breaks in a probe becomes a verdict
            said = fault.kind if isinstance(fault, ProbeFault) else said
            self._metrics.guard_broken(rule.id)
            return [Ruling(case, finding) for finding in answer_for(rule, fault)]
        except asyncio.CancelledError:
            said = "dropped"  # another has decided, or the client has left
            raise
        finally:
            self._metrics.observe_probe(rule.id, said, perf_counter() - began)

    async def _asked(self, case: Case) -> Sighting:
        check = case.rule.check
        probe = self._living.get(check) if isinstance(check, ProbeSpec) else None
        if probe is None:
            raise ProbeFault("it is no longer part of the configuration", kind="retired")
        with marks.stage("probe", rule=case.rule.id) as seen:
            sighting = await probe.ask(case.question)
            seen.note(said="flag" if sighting.spans else "pass")
        return sighting

    def _findings(self, case: Case, sighting: Sighting) -> list[Finding]:
        rule, text = case.rule, case.question.text
        named = sighting.reason if sighting.reason in self._codes and sighting.reason != BROKEN else rule.reason
        return [Finding(rule.id, named, rule.action, start, end, text=text[start:end]) for start, end in sighting.spans]


def blocking(rulings: Iterable[Ruling]) -> Ruling | None:
    """The one that ends it, if any does."""
    return next((ruling for ruling in rulings if ruling.finding.action is Action.BLOCK), None)
