"""The figures of the bench of rewinding, out of what was measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from tests.bench.rewind_contenders import Told
from tests.bench.rewind_drafts import Breach, third
from tests.bench.rewind_kept import Kept

OTHERS = ("end_check", "abort")
MEASURES = {"time": "seconds", "tokens": "tokens"}

Ways = Mapping[str, Told]


class Pair(NamedTuple):
    """One breach, and what every contender made of it."""

    breach: Breach
    ways: Ways

    @property
    def lang(self) -> str:
        return self.breach.ask[:2]

    def ratio(self, measure: str, other: str) -> float:
        """Rewind's over the other's."""
        mine, theirs = (getattr(self.ways[name], MEASURES[measure]) for name in ("rewind", other))
        return float(mine / theirs)


def broken(told: Sequence[Breach], repaired: Mapping[str, Ways]) -> list[Pair]:
    """The breaches that were measured and that broke the rule for every contender."""
    pairs = [Pair(breach, repaired[breach.tenant]) for breach in told if breach.tenant in repaired]
    return [pair for pair in pairs if all(way.calls > 1 for way in pair.ways.values())]


def scores(told: Sequence[Breach], kept: Kept) -> dict[str, Any]:
    """All figures but of what is held back."""
    pairs = broken(told, kept.repaired)
    out: dict[str, Any] = {"n": len(pairs), "n_not_broken": len(kept.repaired) - len(pairs)}
    for measure in MEASURES:
        for other in OTHERS:
            out |= _spread(f"{measure}_vs_{other}", _ratios(pairs, measure, other))
    if pairs:
        out["accepted"] = _accepted(pairs, "rewind")
        out |= {f"accepted_{other}": _accepted(pairs, other) for other in OTHERS}
        out |= {f"seconds_{name}": round(_median(pairs, name), 2) for name in ("rewind", *OTHERS)}
    out["by_place"] = _grouped(sorted(pairs, key=lambda pair: pair.breach.place), lambda pair: third(pair.breach.place))
    out["by_lang"] = _grouped(pairs, lambda pair: pair.lang)
    return out | _firsts(kept)


def _ratios(pairs: Iterable[Pair], measure: str, other: str) -> list[float]:
    """Of the requests to which both came to an accepted answer."""
    both = [pair for pair in pairs if pair.ways["rewind"].accepted and pair.ways[other].accepted]
    return [pair.ratio(measure, other) for pair in both]


def _spread(name: str, ratios: Sequence[float]) -> dict[str, float]:
    if not ratios:
        return {}
    low, mid, high = (round(float(value), 3) for value in np.quantile(ratios, [0.1, 0.5, 0.9]))
    return {name: mid, f"{name}_p10": low, f"{name}_p90": high, f"{name}_n": len(ratios)}


def _accepted(pairs: Sequence[Pair], name: str) -> float:
    return round(sum(pair.ways[name].accepted for pair in pairs) / len(pairs), 4)


def _median(pairs: Sequence[Pair], name: str) -> float:
    return float(np.median([pair.ways[name].seconds for pair in pairs]))


def _grouped(pairs: Sequence[Pair], of: Any) -> dict[str, dict[str, float]]:
    """Median ratios of each group."""
    out: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(map(of, pairs)):
        mine = [pair for pair in pairs if of(pair) == name]
        out[name] = {"n": len(mine)}
        for measure in MEASURES:
            for other in OTHERS:
                if ratios := _ratios(mine, measure, other):
                    out[name][f"{measure}_vs_{other}"] = round(float(np.median(ratios)), 3)
    return out


def _firsts(kept: Kept) -> dict[str, float]:
    out: dict[str, float] = {}
    for name, of in (("ttft", "event"), ("ttft_text", "text")):
        both = [getattr(first, of) for first in kept.firsts if len(getattr(first, of)) > 1]
        out |= _spread(f"{name}_ratio_plain", [one["gateway"] / one["bare"] for one in both])
        if both:
            added = float(np.median([1000 * (one["gateway"] - one["bare"]) for one in both]))
            out |= {f"{name}_ms_plain": round(1000 * float(np.median([one["bare"] for one in both])), 1)}
            out |= {f"{name}_added_ms": round(added, 1)}
    return out


def table(told: Sequence[Breach], kept: Kept) -> Table:
    """Median ratios, all and by the place of the break."""
    pairs = broken(told, kept.repaired)
    made = Table("ratio", "n", *(f"{measure} / {other}" for measure in MEASURES for other in OTHERS), box=None)
    groups = {"all": pairs} | {f"{name} third": [] for name in ("first", "middle", "last")}
    for pair in pairs:
        groups[f"{third(pair.breach.place)} third"].append(pair)
    for name, mine in groups.items():
        cells = [_cell(_ratios(mine, measure, other)) for measure in MEASURES for other in OTHERS]
        made.add_row(name, str(len(mine)), *cells)
    return made


def _cell(ratios: Sequence[float]) -> str:
    if not ratios:
        return "-"
    low, mid, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    return f"{mid:.2f} ({low:.2f} to {high:.2f})"
