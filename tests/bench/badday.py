"""A bad weekend in simulated time: what the figures say, and what the controller does about it.

    python -m tests.bench.badday [--out DIR] [--seed 7] [--hours 60]

On Friday the safety rules change their meaning in a way that no file tells (a service behind a probe is replaced), so
nothing but the figures can notice: answers with reuse are no longer like those without, the gateway falls back, and its
tries fail until the rules are mended in the afternoon. On Saturday reuse stops paying for two codes, while little is
asked and measured: whether that comes to a verdict is a matter of luck (`--seed`). In the evening the store of captures
is down, and in the night other kinds of requests come in. The real series and the real controller look at it once a
minute. A line is printed for each event, pictures go into DIR; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import track

from gateway.watch.acts import SAFE, WORDS
from gateway.watch.control import Controlling
from tests.bench import _badday_plot as plot
from tests.bench.days import DAY, HOUR, KINDS, MONDAY, SCRAPE, Kind, Moment, Trouble, World, clock, days

console = Console(highlight=False)

START = 3 * DAY + 18 * HOUR  # Thursday evening
FRIDAY, SATURDAY, SUNDAY = 4 * DAY, 5 * DAY, 6 * DAY
CHANGED = {
    "R101": KINDS["R101"]._replace(cs=0.64),
    "R203": KINDS["R203"]._replace(cs=0.55),
    "R307": KINDS["R307"]._replace(cs=0.68),
}
DEAR = {"R203": Kind(0.40, 0.15, 0.92), "R307": Kind(0.25, 0.10, 0.95)}
TROUBLES = (
    Trouble(FRIDAY + 10 * HOUR, FRIDAY + 15 * HOUR, "safety rules change meaning", kinds=CHANGED),
    Trouble(SATURDAY + 8 * HOUR, SATURDAY + 13 * HOUR, "reuse of R203 and R307 stops paying", kinds=DEAR),
    Trouble(SATURDAY + 20 * HOUR, SATURDAY + 20.5 * HOUR, "the store is down", faults=frozenset({"store"})),
    Trouble(SATURDAY + 23 * HOUR, SUNDAY + 20 * HOUR, "other kinds of requests", hit=0.05),
)
STYLES = {True: "red", False: "green"}


def timeline(moments: Sequence[Moment], troubles: Sequence[Trouble]) -> list[tuple[float, str]]:
    """What happened, and what was done, in order."""
    first, last = moments[0].reading.at, moments[-1].reading.at
    told = [(MONDAY + one.start, f"[magenta]the truth[/]  {one.name}") for one in troubles]
    told += [(MONDAY + one.end, f"[magenta]the truth[/]  {one.name}: over") for one in troubles]
    for moment in moments:
        for act in moment.acts:
            name = f"[{STYLES[act.what in SAFE]}]{act.what:9}[/]"
            which = f" {act.code}" if act.code else ""
            told.append((act.at, f"{name}{which:5}  {WORDS[act.what]}: {escape(act.why)}"))
    return sorted(line for line in told if first <= line[0] <= last)


def pictures(out: Path, moments: Sequence[Moment], troubles: Sequence[Trouble]) -> list[str]:
    """The picture in both languages, as far as there is a font for them."""
    out.mkdir(parents=True, exist_ok=True)
    font, made = plot.chinese(), []
    for name, words in (("en", plot.ENGLISH), ("zh", plot.ZH)):
        if name == "zh" and font is None:
            console.print("no picture in Chinese: install a font that has its letters, such as fonts-noto-cjk")
            continue
        path = out / f"badday-{name}.png"
        plot.draw(path, moments, troubles, words, font if name == "zh" else None)
        made.append(str(path))
    return made


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.badday", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--out", type=Path, help="where pictures go (default: none are made)")
    made.add_argument("--seed", type=int, default=7, help="another one is another weekend (default: 7)")
    made.add_argument("--hours", type=float, default=60, help="from Thursday 18:00 on (default: 60)")
    options = made.parse_args()
    began = time.monotonic()
    run = days(World(options.seed, TROUBLES), Controlling(mode="act"), START, options.hours * HOUR)
    looks = int(options.hours * HOUR / SCRAPE)
    moments = list(track(run, "a weekend", looks, console=Console(stderr=True), transient=True))
    for at, line in timeline(moments, TROUBLES):
        console.print(f"{clock(at)}  {line}", soft_wrap=True)
    shown = pictures(options.out, moments, TROUBLES) if options.out else []
    acts = [act for moment in moments for act in moment.acts]
    changed = MONDAY + TROUBLES[0].start
    fallback = next((act.at for act in acts if act.what == "fallback"), None)
    out = {
        "seed": options.seed,
        "hours": options.hours,
        "readings": len(moments),
        "acts": dict(Counter(act.what for act in acts)),
        "acts_before_anything_was_wrong": sum(act.at < changed for act in acts),
        "fallback_minutes_after_the_change": None if fallback is None else round((fallback - changed) / 60, 1),
        "in_force_at_the_end": moments[-1].overlay.model_dump(exclude_defaults=True, exclude={"acts", "returned"}),
        "pictures": shown,
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(out))


if __name__ == "__main__":
    main()
