"""Rules applied: all checks of one kind fused, the ones that matter for an exchange picked, a broken one never silent.

A lane is one scanner with the rules that apply in one place. A track is a lane on its way along one text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from gateway.checks import Active, Check, Scanner, TokenCheck
from gateway.rules import BROKEN, Place, Rule
from gateway.types import NEVER, Action, Finding, Hit, Scan, Side, View

log = logging.getLogger(__name__)

OnBroken = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Group:
    """The rules whose checks share a kind, these checks, and their one scanner."""

    rules: tuple[Rule, ...]
    checks: tuple[Check, ...]
    scanner: Scanner
    on_broken: OnBroken

    def silent(self, view: View, active: Active) -> bool:
        """Whether nothing is found in a whole text. A broken check is not silent; a track will say more."""
        try:
            return not self.scanner.scan(view, active).hits
        except Exception:  # noqa: BLE001 - not silent: the window that is asked next makes it a verdict
            return False

    def one_by_one(self, view: View, active: Active) -> tuple[Scan, list[Finding]]:
        """What each rule sees when it is tried alone, after one of them has failed; those that fail answer for it."""
        hits: list[Hit] = []
        broken: list[Finding] = []
        alive: list[tuple[int, int]] = []
        for index in sorted(active):
            rule, check = self.rules[index], self.checks[index]
            try:
                scan = type(check).fuse([check]).scan(view, frozenset({0}))
            except Exception as fault:  # noqa: BLE001 - and each rule answers for its own
                self.on_broken(rule.id)
                broken += answer_for(rule, fault, view.base + view.begin)
                continue
            hits += [Hit(index, hit.start, hit.end) for hit in scan.hits]
            alive += [(index, start) for _, start in scan.alive]
        return Scan(hits, len(view.text), alive), broken


def answer_for(rule: Rule, fault: Exception, place: int = 0) -> list[Finding]:
    """What a rule whose check has failed says of a text, from `place` on."""
    log.error("rule %s is broken (%r): %s", rule.id, fault, rule.on_error)
    if rule.on_error == "allow" or rule.action is Action.MONITOR:
        return []
    return [Finding(rule.id, BROKEN, Action(rule.on_error), place, place)]


@dataclass(frozen=True, slots=True)
class Lane:
    """One scanner, for the rules of one place: all that apply, and those of them that text must wait for."""

    group: Group
    active: Active
    acting: Active
    wake: int = 0  # a text shorter than this tells these rules nothing
    at_end: bool = True  # ... unless its end does


def _lane(group: Group, active: Active) -> Lane:
    checks = [group.checks[number] for number in active]
    return Lane(
        group,
        active,
        acting=frozenset(number for number in active if group.rules[number].action.holds),
        wake=min(check.wake(0) for check in checks),
        at_end=any(check.at_end for check in checks),
    )


def silent(lanes: Iterable[Lane], text: str) -> bool:
    """Whether no rule has anything to say of a whole text: the common case, told without a window."""
    view = View(text)
    for lane in lanes:
        if (lane.at_end or lane.wake <= len(text)) and not lane.group.silent(view, lane.active):
            return False
    return True


class Track:
    """A lane on its way along one text.

    `hold` is the position from which an acting rule could still need the text (NEVER: none needs any). Watching rules
    have a mark of their own, so that they never make text wait.
    """

    __slots__ = ("_acted", "_lane", "_scan", "_watched", "_watching", "at_end", "hold", "wake")

    def __init__(self, lane: Lane) -> None:
        self._lane, self._scan = lane, lane.group.scanner.scan
        self._watching = lane.active - lane.acting
        self._acted = self._watched = 0  # what acting and watching rules have to say before these is said
        self.hold = NEVER
        self.wake, self.at_end = 0, lane.at_end

    def needs(self, end: int) -> int:
        """The first position that must be kept of a text of `end` characters."""
        return end if self.wake > end and self.hold is NEVER else min(self._acted, self._watched)

    def judge(self, text: str, base: int, final: bool) -> list[Finding]:
        """The findings that have become certain; nothing that may still come can change them."""
        if self._acted != self._watched:
            return self._act(text, base, final) + self._watch(text, base, final)
        scan, broken = self._look(View(text, max(self._acted - base, 0), base, final), self._lane.active)
        self.wake = scan.wake
        if not scan.hits and not scan.alive:
            self._acted = self._watched = base + scan.end
            self.hold = NEVER
            return broken
        acted, self._acted = self._certain(scan, text, base, self._lane.acting, final)
        watched, self._watched = self._certain(scan, text, base, self._watching, final)
        self.hold = self._acted if self._acted < base + scan.end else NEVER
        return [*broken, *acted, *watched]

    def watched(self, text: str, base: int) -> list[Finding]:
        """All that watching rules see in a text that ends here, since it was cut."""
        if not self._watching:
            return []
        scan, broken = self._look(View(text, 0, base), self._watching)
        return broken + self._certain(scan, text, base, self._watching, True)[0]

    def _act(self, text: str, base: int, final: bool) -> list[Finding]:
        scan, broken = self._look(View(text, max(self._acted - base, 0), base, final), self._lane.acting)
        findings, self._acted = self._certain(scan, text, base, self._lane.acting, final)
        self.wake = scan.wake
        self.hold = self._acted if self._acted < base + scan.end else NEVER
        return broken + findings

    def _watch(self, text: str, base: int, final: bool) -> list[Finding]:
        scan, broken = self._look(View(text, max(self._watched - base, 0), base, final), self._watching)
        findings, self._watched = self._certain(scan, text, base, self._watching, final)
        self.wake = min(self.wake, scan.wake)
        return broken + findings

    def _look(self, view: View, rules: Active) -> tuple[Scan, list[Finding]]:
        try:
            return self._scan(view, rules), []
        except Exception:  # whatever breaks in a check becomes a verdict
            log.exception("a check failed; %d rules are tried one by one", len(rules))
            return self._lane.group.one_by_one(view, rules)

    def _certain(self, scan: Scan, text: str, base: int, rules: Active, final: bool) -> tuple[list[Finding], int]:
        """What these rules say for certain, and how far that goes: never into the middle of a finding."""
        hits = [hit for hit in scan.hits if hit.number in rules]
        hold = min((start for number, start in scan.alive if number in rules), default=scan.end)
        if not final:
            for hit in sorted(hits, key=lambda hit: -hit.start):
                if hit.start < hold < hit.end:
                    hold = hit.start
            hits = [hit for hit in hits if hit.start < hold]
        return [self._finding(hit, text, base) for hit in hits], base + hold

    def _finding(self, hit: Hit, text: str, base: int) -> Finding:
        rule = self._lane.group.rules[hit.number]
        found = text[hit.start : hit.end]
        return Finding(rule.id, rule.reason, rule.action, base + hit.start, base + hit.end, rule.mask, found)


class Judge:
    """All rules. ValueError if the checks of one family can't be fused."""

    def __init__(self, rules: Iterable[Rule], on_broken: OnBroken = lambda _rule: None) -> None:
        self.on_broken = on_broken
        families: dict[tuple[Side, type[Check]], list[tuple[Rule, Check]]] = {}
        slow: dict[Side, list[Rule]] = {}
        for rule in rules:
            if isinstance(rule.check, Check):
                families.setdefault((rule.side, rule.check.family()), []).append((rule, rule.check))
            else:
                slow.setdefault(rule.side, []).append(rule)
        self._groups = []
        for (side, family), same in families.items():
            own, checks = zip(*same, strict=True)
            self._groups.append((side, Group(own, checks, family.fuse(checks), on_broken)))
        self._slow = slow
        self.slow = lru_cache(maxsize=4096)(self._slow_at)
        self.lanes = lru_cache(maxsize=4096)(self._lanes)
        self.rewinding = lru_cache(maxsize=4096)(self._rewinding)
        self.metering = lru_cache(maxsize=4096)(self._metering)

    def _lanes(self, place: Place) -> tuple[Lane, ...]:
        """The lanes for one place; none if no rule applies there, and then nothing is scanned."""
        lanes = []
        for side, group in self._groups:
            if side is not place.side:
                continue
            active = frozenset(n for n, rule in enumerate(group.rules) if rule.when.matches(place))
            if active:
                lanes.append(_lane(group, active))
        return tuple(lanes)

    def takes_time(self, side: Side) -> bool:
        """Whether any rule for texts that go this way has a probe to ask."""
        return side in self._slow

    def _slow_at(self, place: Place) -> tuple[Rule, ...]:
        """The rules for one place that have a probe to ask (gateway/jury.py); no lane knows of them."""
        return tuple(rule for rule in self._slow.get(place.side, ()) if rule.when.matches(place))

    def _rewinding(self, place: Place) -> tuple[Rule, ...]:
        """The rules that cut an answer back in one place; none nearly everywhere."""
        return tuple(rule for rule in self._at(place) if rule.action is Action.REWIND)

    def _metering(self, place: Place) -> tuple[Rule, ...]:
        """The rules that follow an answer's tokens in one place; none nearly everywhere."""
        return tuple(rule for rule in self._at(place) if isinstance(rule.check, TokenCheck))

    def _at(self, place: Place) -> list[Rule]:
        return [lane.group.rules[n] for lane in self.lanes(place) for n in sorted(lane.active)]
