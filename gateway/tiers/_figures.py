"""Whether a text holds a figure: digits, or a number in words, Chinese or English. Pure.

Words that look like numbers and are none stay out: 万一 (in case), 千万 (be sure to), 十分 (very), 一些 (some).
"""

from __future__ import annotations

import re

_SCALE = "hundred|thousand|million|billion|trillion|percent|per cent"
_COUNT = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|eighty"
# Each alternative has a bounded length, so the search is linear.
_FIGURE = re.compile(
    rf"""(?xi)
    [0-9０-９]
    | [一二两三四五六七八九十百千万]分之[一二两三四五六七八九十百]
    | [一二两三四五六七八九][十百千万亿]
    | 十[一二三四五六七八九]
    | [百千][万亿][元人吨年]
    | [一二三四五六七八九][〇零一二三四五六七八九]{{3}}年
    | [一二两三四五六七八九十几](?:个?月|日|[元倍]|年(?:[内以期间后前]|级)|个?百分点|成(?:以上|左右|[的，。]))
    | \b(?:one|a|{_COUNT}|ninety|seventy)[\ -](?:{_SCALE})\b
    """
)


def figures(text: str) -> bool:
    """Whether there is one."""
    return _FIGURE.search(text) is not None
