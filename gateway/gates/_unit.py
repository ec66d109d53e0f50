"""Units and currencies: each has one name in both languages. Some words are units only behind a number ("g", "元")."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.gates._rows import Table, table, words
from gateway.gates._text import RAW, Token, Tokens, each

_SURE = """
kg, kilogram, kilo, 公斤, 千克
lb, lbs, 磅
ounce, 盎司
milligram, 毫克
microgram, mcg, 微克
gram, 克重
tonne, ton, 吨
斤, 市斤
两斤
km, kilometer, kilometre, 公里, 千米
mile, 英里
meter, metre
centimeter, centimetre, cm, 厘米, 公分
millimeter, millimetre, mm, 毫米
inch, 英寸
feet, ft, 英尺
nautical mile, 海里
liter, litre, 公升
milliliter, millilitre, ml, 毫升
gallon, 加仑
pint, 品脱
quart
square meter, square metre, sqm, 平方米, 平米
square feet, sqft, 平方英尺
square kilometer, square kilometre, 平方公里
hectare, 公顷
acre, 英亩
亩
celsius, degree celsius, centigrade, 摄氏度
fahrenheit, degree fahrenheit, 华氏度
degree
second, sec, 秒钟, 秒
minute, min, 分钟
hour, hr, 小时, 个小时, 钟头
day, 天, 日子
week, 周, 星期, 个星期, 礼拜
month, 个月, 月
year, yr, 年
decade
semester, 学期
学年
percent, per cent
megabyte, mb
gigabyte, gb
terabyte, tb
kilobyte, kb
mbps
kbps
gbps
兆
千兆
watt, 瓦
kilowatt, kw, 千瓦
volt, 伏
kilovolt, kv, 千伏
kwh, 千瓦时, 度电
millisecond, ms, 毫秒
km/h, kmh, kph, 公里每小时
mph, 英里每小时
米每秒
dpi
px, pixel, 像素
usd, dollar, us dollar, 美元, 美金
cny, yuan, rmb, renminbi, 人民币, 元, 块, 块钱, 元钱, 元人民币
eur, euro, 欧元
gbp, pound, british pound, 英镑
jpy, yen, 日元, 日币
krw, won, 韩元
hkd, hong kong dollar, 港币, 港元
twd, 新台币, 台币
aud, australian dollar, 澳元
cad, canadian dollar, 加元
sgd, singapore dollar, 新加坡元
chf, swiss franc, 瑞士法郎
inr, rupee, 卢比
rub, ruble, 卢布
thb, baht, 泰铢
mxn, peso
myr, ringgit
brl, real
cent, 分钱
角, 毛钱
btc, bitcoin, 比特币
箱
瓶
盒
包
袋
杯
片
粒
次
份
折
克
尺
寸
顿
期
倍
"""
# Behind a number a letter is a unit; elsewhere it is a letter.
_BEHIND_A_NUMBER = """
gram, g, 克
meter, m, 米
tonne, t
second, s
minute, min
hour, h
day, d, 日
liter, l, 升
watt, w
volt, v
ampere, a
microgram, ug, µg, μg
milligram, mg
milliampere hour, mah
celsius, c, °c, ℃
fahrenheit, f, °f, ℉
kilobyte, k字节
gigabyte, g字节
ounce, oz
feet, foot
yard
degree, °, 度
cny, 元, 块, 圆
centimeter, cm
bar
hz
khz
mhz
ghz
db
kcal, 大卡, 千卡
calorie, 卡路里
mg/kg
mg/dl
mmol, mmol/l
毫安
"""
# Weak words that are only counted with; which of them it is does not matter.
_COUNTERS = frozenset(
    each(
        """
        个 张 名 位 条 件 只 本 家 种 款 部 台 辆 项 门 所 座 间 头 匹 颗 支 根 枚 副 套 道 笔 号 人次
        """
    )
)
_SIGNS: Mapping[str, str] = {
    "$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "cny",
    "₩": "krw",
    "₹": "inr",
    "₽": "rub",
    "฿": "thb",
}

WEAK: Table = {**table("unit", _SURE), **table("unit", _BEHIND_A_NUMBER)}
# These mean something else too, and so does a single character: they are units only behind a number.
_AMBIGUOUS = frozenset(words("second, sec, minute, min, degree, won, real, pound, day, feet, ton, 块钱, 日子"))
TABLE: Table = {word: read for word, read in table("unit", _SURE).items() if len(word) > 1 and word not in _AMBIGUOUS}
SEGMENTS = frozenset(word for word in [*WEAK, *_COUNTERS] if not word.isascii())


def read(tokens: Tokens) -> Tokens:
    """The tokens with what counts and measures behind a number read, and a sign of money put behind its number."""
    found: list[Token] = []
    sign = None
    for token in tokens:
        counted = bool(found) and found[-1].gate == "number"
        if token.gate == "suffix":
            found += _suffix(found, token.value)
        elif token.gate == RAW and token.value in _SIGNS:
            sign = Token("unit", _SIGNS[token.value])
        elif counted and token.gate == RAW and token.value in _COUNTERS:
            continue
        elif counted and token.gate == RAW and token.value in WEAK:
            found += WEAK[token.value]
        else:
            found.append(token)
        if sign and found and found[-1].gate == "number":
            found.append(sign)
            sign = None
    return [*found, sign] if sign else found


def _suffix(found: list[Token], letters: str) -> Tokens:
    """What letters glued to a number say: a unit, or that the whole is a code."""
    if letters in WEAK:
        return WEAK[letters]
    number = found.pop() if found else Token("number", "")
    return [Token("entity", number.value + letters)]
