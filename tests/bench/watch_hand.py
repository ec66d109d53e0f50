"""How soon the controller reacts, what it does on good days, and whether it ever goes to and fro.

    python -m tests.bench.watch_hand [--seeds 4]

For each seed a day with each kind of trouble, and a good day (another of the week for each), in simulated time before
the real series and the real controller. The reaction is counted in scrapes from the first at which the condition has
held for its minutes; that is told anew here, from the readings alone. A lever that is moved there and back more than
once in a day counts as an oscillation. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

from gateway.watch.control import Controlling
from gateway.watch.series import Figure, Reading
from tests.bench.days import HOUR, KINDS, SCRAPE, Kind, Moment, Trouble, World, clock, days

console = Console(highlight=False)

WORDS = Controlling(mode="act")
START = 9 * HOUR  # a working day, traffic on its way up
CHANGED = {code: Kind(kind.share, kind.ld, kind.cs - 0.32) for code, kind in KINDS.items()}
FORWARD = {"fallback": "recover", "off": "on", "loosen": "tighten", "break": "mend"}  # an act, and what reverses it


class Case(NamedTuple):
    """One kind of trouble: the act that it calls for, the act that ends it, and when it is due, by the readings."""

    name: str
    trouble: Trouble
    hours: float
    acts: tuple[str, str]
    bad: Callable[[Reading], bool]
    minutes: float
    after: Trouble | None = None  # what comes then


def _below(figure: Figure | None, limit: float) -> bool:
    return figure is not None and figure.high < limit


def _above(figure: Figure | None, limit: float) -> bool:
    return figure is not None and figure.low > limit


def _does_not_pay(reading: Reading) -> bool:
    """All together surely don't pay, and of one code that is sure as well."""
    own = (one.ld if one.ld and one.ld.high < 9e9 else one.ld_median for one in reading.by_code.values())
    return _above(reading.ld, -0.05) and any(_above(figure, -0.05) for figure in own)


def _trouble(hours: float, **fields: Any) -> Trouble:
    return Trouble(START + 2 * HOUR, START + (2 + hours) * HOUR, **fields)


CASES = (
    Case(
        "consistency",
        _trouble(3, name="safety rules change meaning", kinds=CHANGED),
        11,
        ("fallback", "recover"),
        lambda reading: _below(reading.cs, 0.82),
        3,
    ),
    Case(
        "latency",
        _trouble(4, name="reuse of R203 and R307 stops paying", kinds={
            "R203": Kind(0.40, 0.15, 0.92), "R307": Kind(0.25, 0.10, 0.95)
        }),
        13,
        ("off", "on"),
        _does_not_pay,
        10,
    ),
    Case(
        "hit rate",
        _trouble(3, name="other kinds of requests", hit=0.05),
        11,
        ("loosen", "tighten"),
        lambda reading: _below(reading.chr, 0.15),
        5,
        Trouble(START + 5 * HOUR, START + 24 * HOUR, name="the same again and again", hit=0.58),
    ),
    Case(
        "faults",
        _trouble(1, name="the store is down", faults=frozenset({"store"})),
        5,
        ("break", "mend"),
        lambda reading: bool(reading.faults),
        0.5,
    ),
)  # fmt: skip


def due(moments: Sequence[Moment], case: Case) -> int | None:
    """The scrape at which the condition had first held for its minutes."""
    since: int | None = None
    for number, moment in enumerate(moments):
        since = (number if since is None else since) if case.bad(moment.reading) else None
        if since is not None and (number - since) * SCRAPE >= case.minutes * 60:
            return number
    return None


def when(moments: Sequence[Moment], what: str) -> int | None:
    """The scrape of the first such act."""
    return next((n for n, moment in enumerate(moments) if any(act.what == what for act in moment.acts)), None)


def to_and_fro(moments: Iterable[Moment]) -> int:
    """How often a lever was moved beyond once there and once back."""
    moved: dict[tuple[str, str], int] = {}
    for moment in moments:
        for act in moment.acts:
            if act.what in FORWARD:
                key = act.what, act.code
                moved[key] = moved.get(key, 0) + 1
    return sum(count - 1 for count in moved.values())


def one(case: Case, seed: int) -> dict[str, Any]:
    """One day with trouble."""
    world = World(seed, (case.trouble, *filter(None, [case.after])))
    moments = list(days(world, WORDS, START, case.hours * HOUR))
    expected, acted = due(moments, case), when(moments, case.acts[0])
    first = int((case.trouble.start - START) / SCRAPE)
    ended = when(moments, case.acts[1])
    last = int((case.trouble.end - START) / SCRAPE)
    early = sum(len(moment.acts) for moment in moments[:first])
    others = {act.what for moment in moments for act in moment.acts} - {*case.acts, "try", "again", "on", "off", "mend"}
    return {
        "case": case.name,
        "seed": seed,
        "reaction": None if acted is None or expected is None else acted - expected,
        "minutes_after_the_change": None if acted is None else (acted - first) * SCRAPE / 60,
        "back_minutes_after_the_end": None if ended is None else (ended - last) * SCRAPE / 60,
        "back": ended is not None,
        "false": early + len(others),
        "oscillations": to_and_fro(moments),
    }


def measured(seeds: int = 4, step: Callable[[str], None] = lambda _name: None) -> dict[str, Any]:
    """All of it."""
    began = time.monotonic()
    told: list[dict[str, Any]] = []
    good, acts = 0, 0
    for seed in range(seeds):
        for case in CASES:
            told.append(one(case, seed))
            step(f"{case.name} {seed}")
    for seed in range(seeds):
        for moment in days(World(1000 + seed), WORDS, (3 + seed) % 7 * 24 * HOUR, 24 * HOUR):
            acts += len(moment.acts)
        good += 1
        step(f"good day {seed}")
    reactions = [one["reaction"] for one in told if one["reaction"] is not None]
    return {
        "scrape_seconds": SCRAPE,
        "days_with_trouble": len(told),
        "reacted": len(reactions),
        "reaction_scrapes_worst": max(reactions, default=None),
        "reaction_scrapes_mean": sum(reactions) / max(len(reactions), 1),
        "minutes_after_the_change": _spread(told, "minutes_after_the_change"),
        "back_minutes_after_the_end": _spread(told, "back_minutes_after_the_end"),
        "back": sum(one["back"] for one in told),
        "false_acts_on_days_with_trouble": sum(one["false"] for one in told),
        "good_days": good,
        "false_acts_on_good_days": acts,
        "oscillations": sum(one["oscillations"] for one in told),
        "seconds": round(time.monotonic() - began, 1),
    }


def _spread(told: Sequence[Mapping[str, Any]], what: str) -> dict[str, list[float]]:
    """By case the least and the most."""
    by: dict[str, list[float]] = {}
    for one in told:
        if one[what] is not None:
            by.setdefault(one["case"], []).append(one[what])
    return {name: [min(values), max(values)] for name, values in by.items()}


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.watch_hand",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--seeds", type=int, default=4, help="how many (default: 4)")
    made.add_argument("--show", action="store_true", help="show each act of each day")
    options = made.parse_args()
    if options.show:
        for case in CASES:
            for moment in days(World(0, (case.trouble, *filter(None, [case.after]))), WORDS, START, case.hours * HOUR):
                for act in moment.acts:
                    console.print(f"{case.name:12} {clock(act.at)} {act.what:9} {act.code:5} {act.why}")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("days", total=options.seeds * (len(CASES) + 1))
        out = measured(options.seeds, lambda name: progress.update(task, advance=1, description=name))
    print(json.dumps(out))
    good = (
        out["reacted"] == out["days_with_trouble"] == out["back"]
        and out["reaction_scrapes_worst"] <= 1
        and not out["false_acts_on_good_days"] + out["false_acts_on_days_with_trouble"] + out["oscillations"]
    )
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
