"""Dates and times: a day is one token however it is written, and the words for days, weeks and seasons have one name.

A year, a month or a day that is not said stays open, so "March 2023" is another date than "March 5, 2023".
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.gates._number import chinese
from gateway.gates._rows import Table, table
from gateway.gates._text import RAW, Token, Tokens, each

_WORDS = """
today, 今天, 今日, 今儿, as of today
tomorrow, 明天, 明日, 明儿
yesterday, 昨天, 昨日
day after tomorrow, 后天
day before yesterday, 前天
大后天
大前天
tonight, this evening, 今晚, 今天晚上, 今夜
tomorrow night, 明晚, 明天晚上
last night, 昨晚, 昨天晚上, 昨夜
this morning, 今早, 今天早上
tomorrow morning, 明早, 明天早上
morning, 早上, 早晨, 清晨
上午
noon, midday, 中午, 正午
afternoon, 下午
evening, 傍晚
night, 晚上, 夜里, 夜间
midnight, 午夜, 半夜
凌晨
monday, 周一, 星期一, 礼拜一
tuesday, 周二, 星期二, 礼拜二
wednesday, 周三, 星期三, 礼拜三
thursday, 周四, 星期四, 礼拜四
friday, 周五, 星期五, 礼拜五
saturday, 周六, 星期六, 礼拜六
sunday, 周日, 周天, 星期日, 星期天, 礼拜天, 礼拜日
weekend, 周末, 双休日
weekday, working day, work day, business day, 工作日, 平日
this week, 本周, 这周, 这个星期, 这星期, 本星期, 这礼拜
next week, 下周, 下星期, 下个星期, 下礼拜
last week, previous week, 上周, 上星期, 上个星期, 上礼拜
this month, 本月, 这个月, 当月
next month, 下月, 下个月
last month, previous month, 上月, 上个月
this year, 今年, 本年, 本年度
next year, 明年, 下一年
last year, previous year, 去年, 上一年
year before last, 前年
year after next, 后年
this quarter, 本季度, 这个季度
next quarter, 下季度, 下个季度
last quarter, previous quarter, 上季度, 上个季度
q1, first quarter, 一季度, 第一季度
q2, second quarter, 二季度, 第二季度
q3, third quarter, 三季度, 第三季度
q4, fourth quarter, 四季度, 第四季度
h1, first half, 上半年
h2, second half, 下半年
下半场
月初
月中
月底, 月末
年初
年底, 年末
fy, fiscal year, financial year, 财年, 财政年度
spring, springtime, 春季, 春天
summer, summertime, 夏季, 夏天
autumn, fall semester, 秋季, 秋天
winter, wintertime, 冬季, 冬天
christmas, xmas, 圣诞节, 圣诞
easter, 复活节
thanksgiving, 感恩节
halloween, 万圣节
black friday
new year, new year's day, 元旦
chinese new year, lunar new year, spring festival, 春节, 过年
国庆节, 国庆
端午节, 端午
中秋节, 中秋
清明节, 清明
劳动节, 五一, 五一劳动节
双十一
双十二
六一八
前几天
last time, 上次
next time, 下次
this time, 这次
century, 世纪
january, in january, 一月份, 元月
february
april
june
july
august
september
october
november
december
"""
_NAMES = each("january february march april may june july august september october november december")
_MONTHS: Mapping[str, int] = {
    **{name: number for number, name in enumerate(_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(_NAMES, 1)},
    "sept": 9,
}
_YEARS, _MONTH_NAMES, _DAYS = frozenset(["年", "年度"]), frozenset(["月", "月份"]), frozenset(["日", "号"])
_HALVES = {"am": "am", "pm": "pm"}
_MINUTES = {"半": "30", "一刻": "15", "三刻": "45"}

TABLE: Table = {
    **table("date", _WORDS),
    **{
        f"{which}{day}": (Token("date", f"{name} week"), Token("date", english))
        for which, name in {"上": "last", "下": "next", "本": "this", "这": "this"}.items()
        for day, english in zip(
            ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
            ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
            strict=True,
        )
    },
    **{
        f"{decade}年代": (Token("date", f"{number}0s"),)
        for number, decade in zip(range(4, 10), ("四十", "五十", "六十", "七十", "八十", "九十"), strict=True)
    },
}
SEGMENTS = (*_YEARS, *_MONTH_NAMES, *_DAYS, "一刻", "三刻", "点", "点钟", "时", "年代")


def read(tokens: Tokens) -> Tokens:
    """The tokens with every calendar date and time of day read. It runs before numbers are."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        for reader in (_chinese_day, _english_day, _time, _year):
            read_here = reader(tokens, place)
            if read_here:
                token, place = read_here
                found.append(token)
                break
        else:
            found.append(tokens[place])
            place += 1
    return found


_Read = tuple[Token, int] | None


def _value(tokens: Tokens, place: int, low: int, high: int) -> int | None:
    """The whole number at a place, if it lies in a range."""
    if not 0 <= place < len(tokens):
        return None
    token = tokens[place]
    text = token.value.removesuffix("th") if token.gate in (RAW, "number") else ""
    if text.isascii() and text.isdigit() and len(text) < 5:
        value = int(text)
    elif token.gate == RAW and text and (numeral := chinese(text)) is not None and numeral == int(numeral):
        value = int(numeral)
    else:
        return None
    return value if low <= value <= high else None


def _word(tokens: Tokens, place: int) -> str:
    return tokens[place].value if place < len(tokens) else ""


def _day(year: int | None, month: int | None, day: int | None) -> Token:
    return Token("date", "-".join("*" if part is None else str(part) for part in (year, month, day)))


def _chinese_day(tokens: Tokens, place: int) -> _Read:
    """`2023年3月5日` or any part of it that says month or year."""
    parts: list[int | None] = []
    for low, high, names in ((1000, 2999, _YEARS), (1, 12, _MONTH_NAMES), (1, 31, _DAYS)):
        value = _value(tokens, place, low, high)
        if value is not None and _word(tokens, place + 1) in names:
            parts.append(value)
            place += 2
        else:
            parts.append(None)
    if parts == [None, None, None]:
        return None
    return _day(*parts), place


def _month(tokens: Tokens, place: int) -> int | None:
    """The month that is named at a place; a word that may be a verb has been told from one before."""
    word = _word(tokens, place)
    return _MONTHS.get(word) if place < len(tokens) and tokens[place].gate in ("month", "date") else None


def _english_day(tokens: Tokens, place: int) -> _Read:
    """`March 5, 2023`, `5 March 2023`, `March 2023`, `March`."""
    day = _value(tokens, place, 1, 31)
    start = place if day is None else place + 1
    month = _month(tokens, start)
    if month is None:
        return None
    place = start + 1
    if day is None:
        day = _value(tokens, place, 1, 31)
        place += day is not None
    year = _value(tokens, place, 1900, 2099)
    return _day(year, month, day), place + (year is not None)


def _time(tokens: Tokens, place: int) -> _Read:
    """`六点半`, `8点`, `6 oclock`, `8 am`, `10:30 pm`."""
    token = tokens[place]
    if token.gate == "date" and ":" in token.value and _word(tokens, place + 1) in _HALVES:
        return Token("date", token.value + _HALVES[_word(tokens, place + 1)]), place + 2
    hour, unit, behind = _value(tokens, place, 0, 24), _word(tokens, place + 1), _word(tokens, place + 2)
    if hour is None:
        return None
    if unit in _HALVES:
        return Token("date", f"{hour}:00{_HALVES[unit]}"), place + 2
    if unit not in ("点", "点钟", "oclock", "时"):
        return None
    if behind in _MINUTES:
        return Token("date", f"{hour}:{_MINUTES[behind]}"), place + 3
    minute = _value(tokens, place + 2, 10, 59)
    if minute is not None:
        return Token("date", f"{hour}:{minute}"), place + 3 + (_word(tokens, place + 3) == "分")
    return Token("date", f"{hour}:00"), place + 2


def _year(tokens: Tokens, place: int) -> _Read:
    """A number that is nothing but a year."""
    digits = _word(tokens, place)
    year = _value(tokens, place, 1900, 2099) if len(digits) == 4 and digits.isdigit() else None
    behind = tokens[place + 1] if place + 1 < len(tokens) else Token(RAW, "")
    before = tokens[place - 1].value if place else ""
    counts = (
        behind.gate in ("unit", "suffix") or before in ("$", "€", "£", "¥") or behind.value in ("%", "元", "块", "个")
    )
    return None if year is None or counts else (_day(year, None, None), place + 1)
