"""The picture of a bad day: figures with their bounds, the truth behind them, and what the controller held in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, MultipleLocator, PercentFormatter

from tests.bench.days import HOUR, KINDS, MONDAY, SCRAPE, Moment, Trouble

CHINESE = ("Noto Sans CJK SC", "Noto Serif CJK SC", "WenQuanYi Zen Hei", "Source Han Sans SC")
INK, PALE = {"chr": "#1b6ca8", "ld": "#2a7f4f", "cs": "#8a3ffc"}, "#9aa0a6"
SAFE, BACK, OTHER = "#c62828", "#2e7d32", "#e07b00"
ACTS = {
    "fallback": SAFE,
    "off": SAFE,
    "again": SAFE,
    "break": SAFE,
    "try": OTHER,
    "loosen": OTHER,
    "tighten": OTHER,
    "on": BACK,
    "recover": BACK,
    "mend": BACK,
}


class Words(NamedTuple):
    """What stands in the picture."""

    title: str
    figures: Mapping[str, str]
    bounds: str
    truth: str
    threshold: str
    rows: Mapping[str, str]
    kinds: Mapping[str, str]
    days: Sequence[str]
    troubles: Mapping[str, str]


ENGLISH = Words(
    "A bad weekend, simulated: figures with 95 % bounds, and what the controller does",
    {"chr": "CHR: hits", "ld": "LD: first token, p95", "cs": "CS: ROUGE-L"},
    "95 % bounds",
    "the truth (unknown to the controller)",
    "thresholds",
    {"fallback": "fallback", "breaker": "breaker", "loosened": "search loosened"},
    {SAFE: "stops", OTHER: "tries, loosens", BACK: "returns"},
    ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    {},
)
ZH = Words(
    "模拟的糟糕周末：各指标及 95% 置信界，以及控制器的动作",
    {"chr": "CHR：命中率", "ld": "LD：首 token p95", "cs": "CS：ROUGE-L"},
    "95% 置信界",
    "真值（控制器不知道）",
    "阈值",
    {"fallback": "回退", "breaker": "熔断", "loosened": "放宽检索"},
    {SAFE: "停用", OTHER: "试用、放宽", BACK: "恢复"},
    ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    {
        "safety rules change meaning": "安全规则含义改变",
        "reuse of R203 and R307 stops paying": "R203、R307 复用不再划算",
        "the store is down": "存储不可用",
        "other kinds of requests": "请求类型改变",
    },
)


def chinese() -> str | None:
    """A font that has Chinese letters, if there is one."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CHINESE if name in known), None)


def draw(path: Path, moments: Sequence[Moment], troubles: Sequence[Trouble], words: Words, font: str | None) -> None:
    """Write the picture."""
    from matplotlib import rc_context

    first, last = (moments[place].reading.at - MONDAY for place in (0, -1))
    seen = [trouble for trouble in troubles if first <= trouble.start <= last]
    family = [*([font] if font else []), "DejaVu Sans"]
    with rc_context({"font.family": family, "axes.unicode_minus": False, "font.size": 10}):
        picture = Picture(figsize=(16, 10), layout="constrained")
        FigureCanvasAgg(picture)
        rows = picture.subplots(4, 1, sharex=True, height_ratios=[1, 1, 1, 0.75])
        for axes, name in zip(rows, ("chr", "ld", "cs"), strict=False):
            _figure(axes, name, moments, words)
        _held(rows[3], moments, words)
        for axes in rows:
            _backdrop(axes, seen)
            _marks(axes, moments)
        _names(rows[0], seen, words)
        _time(rows[3], moments, words)
        picture.suptitle(f"{words.title}\n", fontsize=14, fontweight="bold")
        _legend(picture, words)
        picture.savefig(path, dpi=110)


def _hours(moments: Sequence[Moment]) -> np.ndarray:
    return np.array([(moment.reading.at - MONDAY) / HOUR for moment in moments])


def _figure(axes: Axes, name: str, moments: Sequence[Moment], words: Words) -> None:
    """One figure with its bounds and thresholds."""
    hours, nan = _hours(moments), (np.nan, np.nan, np.nan, 0)
    told = np.array([getattr(moment.reading, name) or nan for moment in moments], float)
    told[~np.isfinite(told)] = np.nan
    axes.fill_between(hours, told[:, 1], told[:, 2], color=INK[name], alpha=0.22, lw=0)
    axes.plot(hours, told[:, 0], color=INK[name], lw=1.3)
    truth = [float(getattr(moment.truth, "hit" if name == "chr" else name)) for moment in moments]
    axes.plot(hours, truth, color=PALE, lw=1, ls=":")
    limits, low, high = {
        "chr": ((0.15, 0.60), 0.0, 0.7),
        "ld": ((-0.05,), -0.5, 0.3),
        "cs": ((0.82, 0.85), 0.5, 1.0),
    }[name]
    for limit in limits:
        axes.axhline(limit, color="#555555", lw=0.8, ls="--")
    axes.set_ylim(low, high)
    axes.set_ylabel(words.figures[name])
    if name != "cs":
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def _held(axes: Axes, moments: Sequence[Moment], words: Words) -> None:
    """What is in force, a row each."""
    rows: list[tuple[str, Any, str]] = [
        (words.rows["fallback"], lambda o: o.fallback is not None, SAFE),
        *((code, lambda o, code=code: code in o.codes and o.codes[code].tried is None, SAFE) for code in sorted(KINDS)),
        (words.rows["breaker"], lambda o: o.breaker is not None, SAFE),
        (words.rows["loosened"], lambda o: o.bits > 0, OTHER),
    ]
    for place, (_, holds, color) in enumerate(rows):
        axes.broken_barh(_spans(moments, holds), (-place - 0.38, 0.76), color=color, lw=0)
    for place, code in enumerate(sorted(KINDS), 1):
        tried = _spans(moments, lambda o, code=code: code in o.codes and o.codes[code].tried is not None)
        axes.broken_barh(tried, (-place - 0.38, 0.76), color=OTHER, alpha=0.55, lw=0)
    axes.set_yticks([-place for place in range(len(rows))], [name for name, _, _ in rows])
    axes.set_ylim(-len(rows) + 0.4, 0.6)


def _spans(moments: Sequence[Moment], holds: Any) -> list[tuple[float, float]]:
    """From when on, and for how many hours, something held."""
    spans: list[tuple[float, float]] = []
    for hour, moment in zip(_hours(moments), moments, strict=True):
        if not holds(moment.overlay):
            continue
        step = SCRAPE / HOUR
        if spans and hour - sum(spans[-1]) < 1.5 * step:
            spans[-1] = spans[-1][0], float(hour) - spans[-1][0]
        else:
            spans.append((float(hour), step))
    return spans


def _backdrop(axes: Axes, troubles: Sequence[Trouble]) -> None:
    for trouble in troubles:
        axes.axvspan(trouble.start / HOUR, trouble.end / HOUR, color="#f4b6b0", alpha=0.28, lw=0)
    axes.grid(axis="x", color="#dddddd", lw=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _marks(axes: Axes, moments: Sequence[Moment]) -> None:
    for moment in moments:
        for act in moment.acts:
            axes.axvline((act.at - MONDAY) / HOUR, color=ACTS[act.what], lw=0.8, alpha=0.7)


def _names(axes: Axes, troubles: Sequence[Trouble], words: Words) -> None:
    for number, trouble in enumerate(troubles):
        name = words.troubles.get(trouble.name, trouble.name)
        told = {"color": "#a03028", "fontsize": 9, "va": "bottom", "ha": "left"}
        height = 0.705 + 0.045 * (number % 2)  # two rows, as neighbours are long words
        text = axes.text(trouble.start / HOUR, height, name, **told)  # type: ignore[arg-type]
        text.set_in_layout(False)


def _time(axes: Axes, moments: Sequence[Moment], words: Words) -> None:
    hours = _hours(moments)
    axes.set_xlim(hours[0], hours[-1])
    axes.xaxis.set_major_locator(MultipleLocator(6))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda hour, _: f"{words.days[int(hour // 24) % 7]} {int(hour % 24):02}:00")
    )


def _legend(picture: Picture, words: Words) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown: list[Any] = [
        Patch(color=INK["chr"], alpha=0.25, label=words.bounds),
        Line2D([], [], color=PALE, ls=":", label=words.truth),
        Line2D([], [], color="#555555", ls="--", lw=0.8, label=words.threshold),
        *(Line2D([], [], color=color, label=name) for color, name in words.kinds.items()),
    ]
    picture.legend(handles=shown, loc="outside lower center", ncols=len(shown), frameon=False)
