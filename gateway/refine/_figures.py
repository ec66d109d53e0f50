"""Figures that a person would look up: amounts of money, shares, dates, numbers with a unit, long numbers.

Chinese numerals and number words are numbers too. Each pattern reads so many characters at most from where it begins.
"""

from __future__ import annotations

from typing import Final


def any_of(*patterns: str) -> str:
    """Whichever of these comes first."""
    return f"(?:{'|'.join(patterns)})"


# A number begins where none goes on, and no word, version or address; it ends likewise.
FREE: Final = r"(?<![A-Za-z0-9_.#@/\\])(?<![A-Za-z_][-.])(?<!\d[-,:])"
_END = r"(?![A-Za-z0-9_]|\.\d|,\d{3})"
_NO_LETTER = "(?![A-Za-z])"

ONES: Final = "零〇一二两三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖拾佰仟万亿"
_NUMERAL = f"(?<![{ONES}十百千万亿])[{ONES}十百千万亿]{{1,16}}(?:点[{ONES}]{{1,9}})?"
_NUMBER = any_of(r"\d{1,3}(?:[,，]\d{3}){1,6}(?!\d)(?:\.\d{1,9})?", r"\d{1,15}(?:\.\d{1,9})?")
_TO = "(?: ?[-–—~～至到] ?| to )"
_DIGITS = f"{FREE}{_NUMBER}(?:{_TO}{_NUMBER})?"
_CHINESE = any_of(f"{_DIGITS} ?[十百千万亿多余]{{0,4}}", f"{_NUMERAL}(?:[至到]{_NUMERAL})?[多余]?")

_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|trillion"
)
_WORD = f"(?<![A-Za-z-])(?i:(?:{_WORDS})(?:[- ](?:and )?(?:{_WORDS})){{0,5}}){_NO_LETTER}"
_SCALE = "(?:hundred|thousand|million|billion|trillion|mn|bn|[kKmMbB](?![A-Za-z]))"
_ENGLISH = any_of(f"{_DIGITS}(?: ?{_SCALE})?", _WORD)

_COINS_ZH = "美元|欧元|英镑|日元|港元|港币|澳元|加元|新台币|人民币|韩元|卢布|元|块钱|角钱|分钱"
_CODES = "USD|CNY|RMB|EUR|GBP|JPY|HKD|TWD|AUD|CAD|CHF|SGD|INR|KRW"
_COINS_EN = f"(?:(?:U\\.?S\\.? )?(?i:dollars?|cents?|euros?|pounds sterling|yuan|yen|rupees?|francs?)|{_CODES})"
_WHOLE = f"{_NUMBER}(?:{_TO}{_NUMBER})?(?: ?{_SCALE})?(?: ?[百千万亿]{{1,3}})?元?"
MONEY: Final = any_of(
    f"(?:US|HK|NT|CN|[ACS])?[$€£¥￥₹₩] ?{_WHOLE}",
    f"(?<![A-Za-z])(?:{_CODES}|人民币|美元|港币) ?{_WHOLE}",
    f"{_CHINESE} ?(?:{_COINS_ZH})(?:整|/[年月日天])?",
    f"(?<![{_FORMAL}])[{_FORMAL}]{{2,20}}[元圆]整?",
    f"{_ENGLISH}[ -]{_COINS_EN}{_NO_LETTER}",
)
PERCENT: Final = any_of(
    f"{_DIGITS} ?[%％‰](?:{_TO}{_NUMBER} ?[%％‰])?",
    f"{_CHINESE} ?个?(?:百分点|基点)",
    f"[百千]分之(?:{_NUMBER}|[{ONES}十百]{{1,8}}(?:点[{ONES}]{{1,9}})?)",
    f"{_ENGLISH}[ -]?(?:(?i:percent(?:age points?)?|per cent|basis points?)|bps){_NO_LETTER}",
    rf"(?<![{ONES}十百\d])[{ONES}\d]成(?=[的以左，。、；,.]|$)",
)

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)(?![A-Za-z])\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_OF_YEAR = r"\d{4}(?!\d)"
_FEW = r"[一二三四五六七八九十\d]{1,3}"
_CENTURIES = r"(?:1[5-9]|20)\d\d"
DATE: Final = any_of(
    rf"(?:公元前?)?(?<![\d{ONES}])(?:\d{{4}}|[{ONES}]{{4}}) ?年"
    rf"(?:度|初|底|末|代|第?[一二三四1-4]季度|[上下]半年| ?{_FEW} ?月(?:份|[初中底末]| ?{_FEW} ?[日号])?)?",
    r"公元前? ?\d{1,4} ?年",
    rf"{FREE}\d{{1,2}} ?月 ?\d{{1,2}} ?[日号]",
    r"(?<![一二三四五六七八九十])[一二三四五六七八九十]{1,2}月[一二三四五六七八九十]{1,3}[日号]",
    rf"{FREE}\d{{1,2}}世纪(?:\d0年代)?",
    rf"{FREE}(?:\d{{4}}-\d{{1,2}}-|\d{{4}}/\d{{1,2}}/|\d{{4}}\.\d{{1,2}}\.)\d{{1,2}}{_END}",
    rf"{FREE}\d{{1,2}}/\d{{1,2}}/\d{{2,4}}{_END}",
    rf"(?<![A-Za-z]){_MONTH} (?:{_OF_YEAR}|{_DAY}(?![\d%])(?:,? {_OF_YEAR})?)",
    rf"{FREE}{_DAY}(?: of)? {_MONTH}(?:,? {_OF_YEAR})?",
    rf"(?<![A-Za-z0-9])(?:Q[1-4]|[1-4]Q|H[12]|FY) ?(?:of )?{_OF_YEAR}",
    rf"{FREE}\d{{4}}(?: ?(?:Q[1-4]|H[12])|s){_END}",
    rf"{FREE}\d{{1,2}}(?:st|nd|rd|th) century{_NO_LETTER}",
    rf"{FREE}\d{{1,2}}:[0-5]\d(?::[0-5]\d)?(?: ?[ap]m\b| ?[ap]\.m\.)?(?![\d:])",
    rf"{FREE}{_CENTURIES}(?:[-–]{_CENTURIES})?(?![A-Za-z0-9_%％/-]|[.,:]\d| ?[{ONES}十百千万亿]| ?[%％])"
    rf"(?! ?(?:[\u4e00-\u9fff]|[a-z]{{1,20}}s(?![a-z])))",
)

_UNITS_ZH = (
    "个?工作日|个?自然日|个?交易日|天|日|周岁|周|个?星期|个月|个?季度|年|岁|个?小时|分钟|秒钟?|毫秒|公里|千米|厘米|毫米|微米|"
    "纳米|海里|英里|英尺|英寸|米|公斤|千克|毫克|微克|克|公吨|吨|磅|盎司|毫升|立方米|升|平方公里|平方米|公顷|亩|摄氏度|华氏度|"
    "千瓦时|千瓦|兆瓦|瓦|千伏|伏|兆赫|赫兹|毫安|字节|倍"
)
_COUNTS_ZH = (  # behind digits only: "一家" and "一次" say nothing that could be wrong
    "℃|°C|度|人次|人|名|户|家|次|例|起|件|台|辆|套|张|份|项|条|种|届|期|层|位|所|笔|股|票|席|个|页|章|节|款|级|寸|斤|点"
)
_UNITS_EN = (
    "(?i:(?:(?:business|working|calendar|trading) )?days?|weeks?|months?|quarters?|years?|hours?|hrs?|minutes?|mins?|"
    "seconds?|secs?|milliseconds?|(?:kilo|centi|milli)?met(?:er|re)s?|miles?|feet|foot|inch(?:es)?|yards?|acres?|"
    "hectares?|(?:square|cubic) [a-z]{2,10}|(?:kilo|milli)?grams?|pounds?|ounces?|tons?|tonnes?|lit(?:er|re)s?|"
    "gallons?|degrees?(?: (?:celsius|fahrenheit))?|calories|people|persons?|users?|patients?|employees?|customers?|"
    "countries|states|members?|cases|deaths|votes?|seats?|shares?|copies|pages?|times|fold|bytes?|tokens|volts?|"
    "(?:kilo|mega)?watts?)|km/h|km²|km|cm|mm|nm|m²|m³|m|kg|mg/dL|mg|mcg|µg|μg|g|lbs?|oz|mL|ml|L|ft|mph|° ?[CF]|℃|kHz|"
    "MHz|GHz|Hz|kWh|kW|MW|GW|W|kV|V|mAh|mA|KB|MB|GB|TB|Mbps|Gbps|ms|kcal|IU|mmol/L|mmHg|ppm|dB|x"
)
COUNTED: Final = any_of(
    f"{_CHINESE} ?(?:{_UNITS_ZH})(?!子)",
    f"{_DIGITS} ?[百千万亿多余]{{0,4}} ?(?:{_COUNTS_ZH})",
    f"{_ENGLISH}[ -]?(?:{_UNITS_EN})(?![A-Za-z0-9_])",
    f"{_DIGITS} ?(?:[百千万亿]{{1,4}}|(?:thousand|million|billion|trillion){_NO_LETTER})",
    f"(?<![{ONES}十百千万亿])[一二两三四五六七八九十][{ONES}十百千万亿]{{0,14}}[百千万亿](?![{ONES}十百千万亿])",
)
BARE: Final = any_of(
    rf"{FREE}\d{{2,8}}(?:-\d{{2,8}}){{1,4}}(?![\w-])",
    rf"{FREE}(?:\d{{1,3}}(?:,\d{{3}}){{1,6}}(?:\.\d{{1,9}})?|\d{{1,15}}\.\d{{1,9}}|\d{{1,4}}/\d{{1,4}}|\d{{2,15}})"
    rf"(?!/\d){_END}",
)
