"""Watching, all of it on: what it costs, what the audit log keeps, how the controller acts, whether alerts can be had.

    python -m tests.bench.watch [--parts rate,alerts,hand,audit]

- rate     request rate and latency with audit, watch and traces, beside a gateway without them      watch_rate.py
- alerts   each alert fires, keeps still and ends as its tests say, by promtool                      watch_alerts.py
- hand     simulated days: how soon the controller acts, and what it does on days on which all is well  watch_hand.py
- audit    lines a second, what `kill -9` costs, how fast the way back over captures is              watch_audit.py

The last line is JSON, with the figures of all parts; the exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any

PARTS = ("rate", "alerts", "hand", "audit")


def measured(parts: list[str]) -> dict[str, Any]:
    """The figures of these parts; `bars` tells of each bar whether it is reached."""
    told: dict[str, Any] = {"bars": {}}
    for part in parts:
        print(f"{part} ...", file=sys.stderr)
        figures = importlib.import_module(f"tests.bench.watch_{part}").measured()
        bars = figures.pop("bars", None) or _acted(figures)
        told["bars"] |= {f"{part}.{name}": reached for name, reached in bars.items()}
        told |= figures if part in ("rate", "alerts") else {part: figures}
    return {**told, "passed": all(told["bars"].values())}


def _acted(hand: Mapping[str, Any]) -> dict[str, bool]:
    """Whether the controller acts within one scrape of its condition, on nothing else, and not to and fro."""
    return {
        "reaction": hand["reacted"] == hand["days_with_trouble"] and hand["reaction_scrapes_worst"] <= 1,
        "good_days": hand["false_acts_on_good_days"] == 0,
        "oscillations": hand["oscillations"] == 0,
    }


def _parts(text: str) -> list[str]:
    named = text.split(",")
    if unknown := set(named) - set(PARTS):
        raise argparse.ArgumentTypeError(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=_parts, default=list(PARTS), help="some of them, with commas")
    told = measured(parser.parse_args().parts)
    print(json.dumps(told))
    raise SystemExit(0 if told["passed"] else 1)


if __name__ == "__main__":
    main()
