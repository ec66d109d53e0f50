"""What a trial of a policy has shown: the sessions that got the new one against those that kept the old.

Compared are
- late    LD: half the time to the first token with a donor over that without (never more than twice), of fair pairs
- unlike  CS: one less how alike the answers with a donor and without are (ROUGE-L), of all pairs
- left    drop-off: visits in which the client left before an answer's end. A visit is a session's requests within half
          an hour of its first one; each visit counts once, when it is over, so that one session is one sample

All are in [0, 1], and larger is worse. Of each figure both tests are made at fixed times and at no others: when the
smaller arm has its least samples, and each time it has doubled, `looks` times in all. Two errors can be made, and the
risk of each is spent in equal parts over the looks (alpha spending; Bonferroni, so it holds whatever depends on what):

- To turn back a policy that is as good as the old one. It is turned back if one of the three figures is significantly
  worse, by a studentized permutation test (`late`, `unlike`) or Fisher's exact test (`left`), each at a third of that
  part.
- To accept a policy that is worse in some figure by more than its margin. It is accepted if all three are shown to be
  no worse than that: the new one's upper bound and the old one's lower bound are less than the margin apart (`late`,
  `unlike`), or a score test says so (`left`). That all must agree needs no correction (Berger 1982).

A trial that has shown neither in time is turned back as well, and says so. Where the old policy injects nothing there
is nothing to measure: with and without a donor are the same then, and the new one is held against that.

Pairs and visits are taken to be independent of each other. Pure: times are passed in, nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gateway.watch._compare import Bounds, fisher, mean_within, no_worse, permuted
from gateway.watch.bounds import wilson
from gateway.watch.pairs import Arm, Pair
from gateway.watch.trying import Trying

Figure = Literal["late", "unlike", "left"]
What = Literal["going", "accepted", "turned_back"]

FIGURES: tuple[Figure, ...] = ("late", "unlike", "left")
KEPT = 4  # the old policy's arm holds so many times the values of the new one's
_SAME = {"late": 0.5, "unlike": 0.0}  # where nothing is injected


@dataclass(slots=True)
class Side:
    """What was seen of one arm's sessions."""

    visits: int = 0
    left: int = 0
    late: list[float] = field(default_factory=list)
    unlike: list[float] = field(default_factory=list)

    def values(self, figure: Figure) -> list[float]:
        return self.late if figure == "late" else self.unlike

    def count(self, figure: Figure) -> int:
        return self.visits if figure == "left" else len(self.values(figure))

    def mean(self, figure: Figure) -> float:
        """None seen: 0."""
        total = self.left if figure == "left" else sum(self.values(figure))
        return total / max(self.count(figure), 1)


@dataclass(slots=True)
class Evidence:
    """All that was seen of one trial. `key` is the trial's name; `idle`: the old policy injects nothing."""

    key: str
    idle: bool = False
    now: Side = field(default_factory=Side)
    new: Side = field(default_factory=Side)
    looks: dict[Figure, int] = field(default_factory=dict)  # tests that were made
    chance: dict[Figure, float] = field(default_factory=dict)  # the p-value of the last of them
    shown: list[Figure] = field(default_factory=list)  # figures that were shown to be no worse than the margin

    def side(self, arm: Arm) -> Side:
        return self.new if arm == "new" else self.now

    def add(self, pair: Pair, trying: Trying) -> None:
        """An exchange of one of the arms was served twice."""
        side = self.side(pair.arm)
        most = trying.least_pairs * 2 ** (trying.looks - 1) * (1 if pair.arm == "new" else KEPT)
        (with_donor, without), unlike = pair.first, pair.alike
        if pair.fair and without > 0 and len(side.late) < most:
            side.late.append(min(max(with_donor / without, 0.0), 2.0) / 2)
        if unlike is not None and len(side.unlike) < most:
            side.unlike.append(min(max(1 - unlike, 0.0), 1.0))

    def visit(self, arm: Arm, left: bool) -> None:
        """A visit is over."""
        side = self.side(arm)
        side.visits, side.left = side.visits + 1, side.left + left


class Compared(NamedTuple):
    """One figure of both arms, each with its usual bounds (wrong with the chance `risk`)."""

    figure: Figure
    new: float
    new_within: Bounds
    now: float
    now_within: Bounds
    counts: tuple[int, int]  # new, now


class Verdict(NamedTuple):
    """What is to be done about a trial, and why."""

    what: What
    why: str = ""


def compared(evidence: Evidence, figure: Figure, trying: Trying) -> Compared:
    """A figure of both arms. `late` is told as it is kept: twice its value is the ratio of the times."""
    new, now = evidence.new, evidence.now
    counts = new.count(figure), now.count(figure)
    if figure == "left":
        usual = [wilson(side.left, side.visits, 1 - trying.risk) for side in (new, now)]
        return Compared(figure, new.mean(figure), usual[0], now.mean(figure), usual[1], counts)
    within = mean_within(new.values(figure), trying.risk)
    if evidence.idle:
        same = _SAME[figure]
        return Compared(figure, new.mean(figure), within, same, (same, same), (counts[0], 0))
    return Compared(
        figure, new.mean(figure), within, now.mean(figure), mean_within(now.values(figure), trying.risk), counts
    )


def judged(evidence: Evidence, trying: Trying, seconds: float) -> Verdict:
    """What `evidence` says after so many seconds of a trial. Tests that are due are made, and noted in it."""
    for figure in FIGURES:
        if _due(evidence, figure, trying) > evidence.looks.get(figure, 0) and _look(evidence, figure, trying):
            told, chance = said(compared(evidence, figure, trying)), evidence.chance.get(figure)
            return Verdict("turned_back", f"significantly worse{f' (p {chance:.2g})' if chance else ''}: {told}")
    if len(evidence.shown) == len(FIGURES):
        told = "; ".join(said(compared(evidence, figure, trying)) for figure in FIGURES)
        return Verdict("accepted", f"no worse than the margins allow: {told}")
    if seconds > trying.most_hours * 3600:
        missing = ", ".join(NAMES[figure] for figure in FIGURES if figure not in evidence.shown)
        return Verdict("turned_back", f"not shown in {trying.most_hours:g} hours to be no worse: {missing}")
    return Verdict("going")


def spent(trying: Trying) -> float:
    """At which p-value one test of one figure says that a policy is worse."""
    return trying.risk / (len(FIGURES) * trying.looks)


def _due(evidence: Evidence, figure: Figure, trying: Trying) -> int:
    """How many looks at a figure its samples are enough for."""
    new, now = evidence.new.count(figure), evidence.now.count(figure)
    smaller = new if evidence.idle and figure != "left" else min(new, now)
    least = trying.least_visits if figure == "left" else trying.least_pairs
    return sum(1 for look in range(trying.looks) if smaller >= least * 2**look)


def _look(evidence: Evidence, figure: Figure, trying: Trying) -> bool:
    """Make both tests of a figure: whether the new policy is significantly worse; and note if it is shown that it is no
    worse than the margin."""
    evidence.looks[figure] = due = _due(evidence, figure, trying)
    part, new, now = trying.risk / trying.looks, evidence.new, evidence.now
    if figure == "left":
        shares = (new.left, new.visits), (now.left, now.visits)
        evidence.chance[figure] = fisher(*shares)
        shown = no_worse(*shares, trying.margins.left) <= part
    else:
        margin = trying.margins.late / 2 if figure == "late" else trying.margins.unlike
        values, others = new.values(figure), now.values(figure)
        if evidence.idle:
            if mean_within(values, 2 * spent(trying))[0] > _SAME[figure] + margin:
                return True
            shown = mean_within(values, 2 * part)[1] <= _SAME[figure] + margin
        else:
            evidence.chance[figure] = permuted(values, others, seed=due)
            shown = mean_within(values, part)[1] - mean_within(others, part)[0] <= margin
    if shown and figure not in evidence.shown:
        evidence.shown.append(figure)
    return evidence.chance.get(figure, 1.0) <= spent(trying)


def said(found: Compared) -> str:
    """A comparison in a line, as people speak of it."""
    new, now = (_figure(found.figure, *told) for told in ((found.new, found.new_within), (found.now, found.now_within)))
    counts = tuple(f"{count:,}" for count in found.counts)
    return f"{NAMES[found.figure]} {new} of {counts[0]} against {now} of {counts[1]}"


NAMES = {"late": "LD", "unlike": "CS", "left": "drop-off"}


def _figure(figure: Figure, value: float, within: Bounds) -> str:
    low, high = within
    if figure == "late":
        return f"{2 * value - 1:+.1%} [{2 * low - 1:+.1%}, {2 * high - 1:+.1%}]"
    if figure == "unlike":
        return f"{1 - value:.3f} [{1 - high:.3f}, {1 - low:.3f}]"
    return f"{value:.2%} [{low:.2%}, {high:.2%}]"


class Visits:
    """Sessions under way: which arms they are in, and whether their client has left. Bounded: what comes when it is
    full is not counted."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._open: dict[bytes, _Visit] = {}

    def __len__(self) -> int:
        return len(self._open)

    def seen(self, session: bytes, arms: dict[str, Arm], left: bool, at: float) -> None:
        """One of a session's requests is over. `arms`: of each trial (by key), the arm it is in."""
        visit = self._open.get(session)
        if visit is None:
            if len(self._open) >= self._most:
                return
            visit = self._open[session] = _Visit(at, arms)
        visit.left = visit.left or left

    def over(self, at: float, seconds: float) -> Iterator[tuple[dict[str, Arm], bool]]:
        """The visits that began so many seconds before, taken out: their arms, and whether their client left."""
        done = []
        for session, visit in self._open.items():  # the oldest first
            if visit.began > at - seconds:
                break
            done.append(session)
        for session in done:
            visit = self._open.pop(session)
            yield visit.arms, visit.left


@dataclass(slots=True)
class _Visit:
    began: float
    arms: dict[str, Arm]
    left: bool = False
