"""What follows from the figures of a log: whether ReTrace will pay, why, and what to set.

It pays where a good part of all prompt tokens need not be computed again. What capturing itself costs is the least that
must come of it. Lengths by themselves only tell how much there is to win, so without words of requests no log is worth
more than `probably`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gateway.assess.likeness import TTL, Saving
from gateway.assess.memory import GB, Memory, needed
from gateway.assess.tally import Figures

Answer = Literal["yes", "probably", "no"]
Capture = Literal["rejected", "all"]
# Why, in words that stand in the report (wording.py) and in its JSON.
Why = Literal[
    "pays", "may_pay", "too_little", "short", "long", "few", "no_words", "no_times", "no_verdicts", "engine_cache"
]

SHORT, LONG = 64, 128  # tokens of prompt and answer: below it is hardly worth it, above it comes first
WORTH = 0.05  # share of all prompt tokens from which it is worth the trouble
COST = 0.015  # what capturing takes, as a share of the prefill: measured 1.2 % at 2,048 tokens
ENOUGH = 100  # requests
OFTEN = 0.05  # share of rejected requests that is a lot
MORE = 1.5  # times the saving that capturing everything must bring, to be worth its memory
TTLS = (300, 900, 1800, 3600, 7200, 21600, 86400)
SEEN = 3.0  # times the age of donors that a log must reach back
SPARE = 1.25  # times what captures take on average, so that a busy hour finds room
_RANK: Mapping[Answer, int] = {"no": 0, "probably": 1, "yes": 2}


class Bars(NamedTuple):
    """What is asked of the figures."""

    short: float = SHORT
    long: float = LONG
    worth: float = WORTH
    cost: float = COST


BARS = Bars()


class Plan(NamedTuple):
    """What to set."""

    capture: Capture
    mode: Literal["prefix", "splice"]
    ttl: int  # seconds
    pool_gb: float | None  # None: the log tells no times


class Verdict(NamedTuple):
    """The answer, why, and what to set if it is not no. `memory` of what the plan captures."""

    answer: Answer
    why: tuple[Why, ...]
    plan: Plan | None
    saving: Saving | None
    memory: Memory | None
    tokens_per_hour: float | None  # of prompts that need not be computed


def judge(
    figures: Figures, savings: Mapping[Capture, Saving], per_token: float, bars: Bars = BARS, qps: float | None = None
) -> Verdict:
    """`savings`: by what is captured, none where the log holds no words. `qps`: instead of the log's own."""
    pace = qps if qps is not None else figures.qps
    if not savings:
        return _by_lengths(figures, per_token, bars, pace)
    capture = _best(savings, bars)
    saving = savings[capture]
    answer, why = _graded(saving, bars)
    reasons: list[Why] = [why]
    if figures.both is not None and figures.both < bars.short:
        answer, reasons = ("probably" if answer == "yes" else answer), [*reasons, "short"]
    elif figures.both is not None and figures.both >= bars.long:
        reasons.append("long")
    if saving.share and saving.prefix > 2 * saving.moved:
        reasons.append("engine_cache")
    reasons += _lacking(figures, saving, pace)
    plan = _plan(figures, capture, saving, per_token, pace)
    hourly = saving.share * (figures.mean_prompt or 0) * pace * 3600 if pace else None
    memory = _memory(figures, capture, per_token, pace, plan.ttl)
    return Verdict(answer, tuple(reasons), plan if answer != "no" else None, saving, memory, hourly)


def _graded(saving: Saving, bars: Bars) -> tuple[Answer, Why]:
    low, _ = saving.bounds
    if low >= bars.worth and saving.requests >= ENOUGH:
        return "yes", "pays"
    return ("probably", "may_pay") if saving.share >= bars.cost else ("no", "too_little")


def _best(savings: Mapping[Capture, Saving], bars: Bars) -> Capture:
    """Rejected drafts alone take less memory; all are captured where that grades higher, or gives clearly more."""
    if "rejected" not in savings or "all" not in savings:
        return next(iter(savings))
    few, all_ = savings["rejected"], savings["all"]
    higher = _RANK[_graded(all_, bars)[0]] > _RANK[_graded(few, bars)[0]]
    more = all_.share > MORE * few.share and all_.share >= bars.worth
    return "all" if higher or more else "rejected"


def _by_lengths(figures: Figures, per_token: float, bars: Bars, pace: float | None) -> Verdict:
    long = figures.both is not None and figures.both >= bars.short
    often = figures.judged > 0 and figures.reject_bounds[0] >= OFTEN
    answer: Answer = "probably" if long and often else "no"
    reasons: list[Why] = ["may_pay" if answer == "probably" else "too_little"]
    if figures.both is not None:
        reasons.append("long" if figures.both >= bars.long else "short" if figures.both < bars.short else "may_pay")
    reasons += ["no_words", *_lacking(figures, None, pace)]
    memory = _memory(figures, "rejected", per_token, pace, TTL)
    plan = Plan("rejected", "prefix", int(TTL), _room(memory)) if answer == "probably" else None
    return Verdict(answer, tuple(dict.fromkeys(reasons)), plan, None, memory, None)


def _lacking(figures: Figures, saving: Saving | None, pace: float | None) -> list[Why]:
    found: list[Why] = []
    if (saving.requests if saving else figures.requests) < ENOUGH:
        found.append("few")
    if pace is None:
        found.append("no_times")
    if not figures.judged:
        found.append("no_verdicts")
    return found


def _plan(figures: Figures, capture: Capture, saving: Saving, per_token: float, pace: float | None) -> Plan:
    told = saving.ages is not None and saving.span >= SEEN * saving.ages[1]  # or older donors could not be seen at all
    wanted = saving.ages[1] if saving.ages and told else TTL
    ttl = next((one for one in TTLS if one >= wanted), TTLS[-1])
    mode: Literal["prefix", "splice"] = "splice" if saving.moved > 0.2 * saving.share else "prefix"
    return Plan(capture, mode, ttl, _room(_memory(figures, capture, per_token, pace, ttl)))


def _memory(figures: Figures, capture: Capture, per_token: float, pace: float | None, ttl: float) -> Memory | None:
    rejects = figures.reject_rate
    if pace is None or figures.mean is None or (rejects is None and capture == "rejected"):
        return None
    captures = 1.0 if capture == "all" else rejects or 0.0
    return needed(rejects or 0.0, captures, pace, figures.mean, per_token, ttl)


def _room(memory: Memory | None) -> float | None:
    return SPARE * memory.held if memory else None


def gib(gb: float) -> float:
    """As RETRACE_POOL_GIB wants it."""
    return gb * GB / (1 << 30)
