"""Whether what the classifier says of answers has drifted, by the population stability index of its scores.

PSI is the sum of (now - before) * ln(now / before) over bins (Siddiqi 2006, "Credit Risk Scorecards"). By custom less
than 0.1 is no change and more than 0.25 a great one. Of two samples of one population it is about a chi-squared
variable over their sizes (Yurdakul 2018), so with few answers more is asked for than custom says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

from gateway.symptoms import Facts, Light, Said, Sign, Spread, Symptom, green, grey

SOME, GREAT = 0.1, 0.25
ENOUGH = 50  # answers on each side
CERTAIN = 0.95

_LOOK = Said(
    "look at answers of both times: another model, another prompt, other clients? Then set the threshold anew "
    "(`python -m classifiers.evaluate`)",
    "对比两个时期的回答：是否换了模型、提示词或客户？然后重新设定阈值（`python -m classifiers.evaluate`）",
)
_LOG = Said("name a longer log that holds answers with --log", "用 --log 指定更长、含有回答的日志")


class Plug(Symptom):
    """Scores, and what was decided by them."""

    title = Said("classifier drift", "分类器漂移")
    order = 80

    def look(self, facts: Facts) -> Iterator[Sign]:
        told = facts.answers
        spreads = told.spreads if told else ()
        usable = [one for one in spreads if min(sum(one.before), sum(one.now)) >= ENOUGH]
        if not usable:
            lacks = told.lacks if told and told.lacks else ""
            yield grey("scores", f"too few to compare {lacks}".strip(), f"数量不足，无法比较 {lacks}".strip(), _LOG)
        for spread in usable:
            yield _seen(told.source if told else "", spread)


def _seen(source: str, spread: Spread) -> Sign:
    index, chance = psi(spread.before, spread.now), by_chance(spread)
    en, zh = spread.what
    sizes = f"{sum(spread.before)} / {sum(spread.now)}"
    seen = Said(
        f"PSI of {en} {index:.2f} ({sizes}; {SOME} and {GREAT} are the custom, {chance:.2f} may be chance)",
        f"{zh}的 PSI 为 {index:.2f}（{sizes}；惯例阈值 {SOME} 与 {GREAT}，{chance:.2f} 以内可能是偶然）",
    )
    if index > max(SOME, chance):
        return Sign(Light.RED if index > max(GREAT, chance) else Light.YELLOW, source, seen, _LOOK)
    return green(source, *seen)


def psi(before: Sequence[int], now: Sequence[int]) -> float:
    """Of counts in the same bins; half a count is added to each, so that an empty bin is not infinitely far away."""
    count = len(before)
    total, later = sum(before) + count / 2, sum(now) + count / 2
    shares = [((a + 0.5) / total, (b + 0.5) / later) for a, b in zip(before, now, strict=True)]
    return sum((b - a) * math.log(b / a) for a, b in shares)


def by_chance(spread: Spread) -> float:
    """What two samples of one population stay below 95 times of 100 (chi-squared by Wilson and Hilferty, 1931)."""
    free = max(len(spread.before) - 1, 1)
    part = 2 / (9 * free)
    quantile = free * (1 - part + NormalDist().inv_cdf(CERTAIN) * math.sqrt(part)) ** 3
    return quantile * (1 / sum(spread.before) + 1 / sum(spread.now))
