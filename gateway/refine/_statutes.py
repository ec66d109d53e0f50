"""Laws, regulations, standards and rulings by their names and numbers, Chinese, European and American."""

from __future__ import annotations

from typing import Final

from gateway.refine._figures import ONES, any_of

_ORDER = rf"[{ONES}十百千\d]{{1,9}}"  # of an article, a decree
_LAW = (
    "法|法典|条例|规定|办法|准则|规则|细则|通知|意见|决定|解释|标准|指引|指南|规范|公约|协定|条约|章程|公告|批复|制度|纲要"
    "|方案"
)
_OPEN, _SHUT = r"[〔\[（(【﹝]", r"[〕\]）)】﹞]"
_ASIDE = r"[（(][^（）()\n]{1,20}[）)]"
_ARTICLE = f"第 ?{_ORDER} ?(?:编|章|节|条|款|项|目)(?:之[{ONES}十]{{1,3}})?"
_MORE = f"(?:[、及和与至]?{_ARTICLE}){{0,5}}"
CHINESE: Final = any_of(
    rf"《[^《》\n]{{0,60}}?(?:{_LAW})(?:{_ASIDE})?》(?:{_ASIDE})?(?:的?{_ARTICLE}{_MORE})?",
    f"第 ?{_ORDER} ?条(?:之[{ONES}十]{{1,3}})?{_MORE}",
    rf"{_OPEN}\d{{4}}{_SHUT} ?(?:第 ?)?\d{{1,5}} ?号",
    rf"{_OPEN}\d{{4}}{_SHUT}[\u4e00-\u9fff]{{1,3}}\d{{0,6}}[\u4e00-\u9fff]{{1,6}}\d{{1,6}}号",
    f"(?:(?<=令)|(?<=公告)|(?<=字))第 ?{_ORDER} ?号",
)

_HOUSES = (
    r"(?:(?:GB|JR|YD|YY|HJ|JB|QB|SB|SN|GA|DL|CJJ|JGJ|DB\d{2}|T/[A-Z]{2,8})(?:/[TZ])?|ISO(?:/(?:IEC|TS|TR|IEEE))?|IEC|"
    r"IEEE|RFC|EN|DIN|ASTM|ANSI|FIPS|JIS|NIST SP|PCI DSS|IFRS|IAS|SOC)"
)
STANDARD: Final = any_of(
    rf"(?<![A-Za-z]){_HOUSES}[ -]?(?:[A-Z] ?)?\d{{1,6}}(?:[.-]\d{{1,5}}){{0,3}}(?:[-–—:]\d{{4}})?(?![A-Za-z0-9])",
    "(?<![A-Za-z])Basel I{1,3}V?(?![A-Za-z])",
)

_KNOWN = (
    "(?:GDPR|CCPA|CPRA|HIPAA|FERPA|COPPA|GLBA|FCRA|ECOA|TILA|RESPA|SOX|PIPL|DORA|NIS2|PSD[23]|MiFID(?: II)?|MiCA|"
    "AMLD[1-6])(?![A-Za-z])"
)
_PART = r"\d{1,5}[a-z]?(?:[.-]\d{1,5}[a-z]?){0,3}(?:\([A-Za-z0-9]{1,4}\)){0,5}"
_WHERE = (
    r"(?:(?:Articles?|Arts?\.|Sections?|Sec\.|Clause|Rule|Annex|Schedule|Title|Recital) |§§? ?)"
    rf"(?:{_PART}|[IVXL]{{1,6}}(?![A-Za-z]))(?:(?:,? (?:and|or|to) |, |[-–]){_PART}){{0,4}}"
)
_ACT = (
    r"(?!(?:Under|The|According|Per|In|Of|By|For|See|As|If|An?|This|That)\b)"
    r"(?:[A-Z][A-Za-z'’&-]{1,20}+(?: (?:of|in|and|for|the|to|on)(?: the)?)? ){1,8}"
    r"(?:Act|Regulations?|Directive|Code|Law|Ordinance|Statute|Convention|Treaty)(?![A-Za-z])(?:(?: of)? \d{4}(?!\d))?"
)
ENGLISH: Final = any_of(
    rf"(?<!\d)\d{{1,3}} (?:CFR|C\.F\.R\.|USC|U\.S\.C\.)(?: (?:Part|§§?))?(?: {_PART})?",
    r"(?<![A-Za-z])(?:Regulation|Directive|Decision) (?:\((?:EU|EC)\) )?(?:No\.? )?"
    r"(?:\d{2,4}/\d{1,4}(?:/E[CU])?|[A-Z]{1,2}(?![A-Za-z]))",
    r"(?<![A-Za-z])(?:Pub\. ?L\.|Public Law) (?:No\. )?\d{1,3}-\d{1,4}",
    rf"(?<![A-Za-z]){_WHERE}(?:,?(?: of)?(?: the)? (?:{_KNOWN}|{_ACT}))?",
    f"(?<![A-Za-z]){_KNOWN}(?:,? {_WHERE})?",
    f"(?<![A-Za-z]){_ACT}",
)
