"""Rules applied: all checks of one kind fused, the ones that matter for an exchange picked, a broken one never silent.

A lane is one scanner with the rules that apply in one place; rules that change the text and rules that only watch go
in separate lanes, so that watching never makes text wait. A track is a lane on its way along one text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from gateway.checks import Active, Check, Scanner
from gateway.rules import BROKEN, Place, Rule
from gateway.types import Action, Finding, Hit, Scan, View

log = logging.getLogger(__name__)

OnBroken = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Group:
    """The rules whose checks share a kind, and their one scanner."""

    rules: tuple[Rule, ...]
    scanner: Scanner
    on_broken: OnBroken

    def scan(self, view: View, active: Active) -> tuple[Scan, list[Finding]]:
        """What the scanner sees; if it fails, each rule is tried alone and the failing ones answer for themselves."""
        try:
            return self.scanner.scan(view, active), []
        except Exception:  # whatever breaks in a check becomes a verdict
            log.exception("a %s check failed; its rules are tried one by one", self.rules[0].check.type)
            return self._one_by_one(view, active)

    def _one_by_one(self, view: View, active: Active) -> tuple[Scan, list[Finding]]:
        hits: list[Hit] = []
        broken: list[Finding] = []
        hold = len(view.text)
        for index in sorted(active):
            rule = self.rules[index]
            try:
                scan = type(rule.check).fuse([rule.check]).scan(view, frozenset({0}))
            except Exception as fault:  # noqa: BLE001 - and each rule answers for its own
                log.error("rule %s is broken (%r): %s", rule.id, fault, rule.on_error)
                broken += self._answer_for(rule, view)
                continue
            hits += [Hit(index, hit.start, hit.end) for hit in scan.hits]
            hold = min(hold, scan.hold)
        return Scan(hits, hold), broken

    def _answer_for(self, rule: Rule, view: View) -> list[Finding]:
        self.on_broken(rule.id)
        if rule.on_error == "allow" or rule.action is Action.MONITOR:
            return []
        place = view.base + view.begin
        return [Finding(rule.id, BROKEN, Action(rule.on_error), place, place)]


@dataclass(frozen=True, slots=True)
class Lane:
    """One scanner, for the rules of one place."""

    group: Group
    active: Active
    holds: bool


class Track:
    """A lane on its way along one text; before `settled` (a position of the whole text) it has said all it can say."""

    __slots__ = ("_lane", "holds", "settled")

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.holds = lane.holds
        self.settled = 0

    def judge(self, view: View) -> tuple[list[Finding], int]:
        """The findings that nothing to come can change, and the position from which more text could."""
        (hits, hold), findings = self._lane.group.scan(view, self._lane.active)
        if hits:
            if not view.final:
                for hit in sorted(hits, key=lambda hit: -hit.start):
                    if hit.start < hold < hit.end:
                        hold = hit.start
                hits = [hit for hit in hits if hit.start < hold]
            findings = findings + [self._finding(hit, view.base) for hit in hits]
        self.settled = view.base + hold
        return findings, self.settled

    def _finding(self, hit: Hit, base: int) -> Finding:
        rule = self._lane.group.rules[hit.number]
        return Finding(rule.id, rule.reason, rule.action, base + hit.start, base + hit.end, rule.mask)


class Judge:
    """All rules of one side. ValueError if a kind's checks can't be fused."""

    def __init__(self, rules: Iterable[Rule], on_broken: OnBroken = lambda _rule: None) -> None:
        ordered = sorted(rules, key=lambda rule: rule.check.type)
        kinds = [tuple(same) for _, same in groupby(ordered, key=lambda rule: rule.check.type)]
        self._groups = [Group(same, _fuse([rule.check for rule in same]), on_broken) for same in kinds]
        self.lanes = lru_cache(maxsize=4096)(self._lanes)

    def _lanes(self, place: Place) -> tuple[Lane, ...]:
        """The lanes for one place; none if no rule applies there, and then nothing is scanned."""
        lanes = []
        for group in self._groups:
            for holds in (True, False):
                active = frozenset(
                    index
                    for index, rule in enumerate(group.rules)
                    if rule.action.holds is holds and rule.side is place.side and rule.when.matches(place)
                )
                if active:
                    lanes.append(Lane(group, active, holds))
        return tuple(lanes)


def _fuse(checks: Sequence[Check]) -> Scanner:
    return type(checks[0]).fuse(checks)
