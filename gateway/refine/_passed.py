"""What holds numbers that are no facts, or must not be touched: code, formulas, addresses, names, list numbering."""

from __future__ import annotations

import re
from typing import Final

from gateway.refine._figures import FREE, any_of

# A fence that nobody closes goes on to the end of the text.
_FENCE = (
    r"^[ \t>]{0,12}(?P<fence>`{3,}+|~{3,}+)[^\n]*+(?:\n(?![ \t>]{0,12}(?P=fence))[^\n]*+)*+"
    r"(?:\n[ \t>]{0,12}(?P<closed>(?P=fence))[^\n]*+)?"
)
FENCE: Final = re.compile(_FENCE, re.MULTILINE)

_NUMBERING = any_of(
    r"(?:[-*+] )?(?:\*\*)?\d{1,3}[.)、．](?!\d)",
    r"[（(]\d{1,3}[）)]",
    r"[一二三四五六七八九十]{1,3}[、.．]",
    r"#{1,6} +\d{1,3}(?:\.\d{1,3}){0,4}[.、 ]",
)
HELD: Final = any_of(
    _FENCE,
    r"(?<=\n\n)(?:(?: {4}|\t)[^\n]*+\n?)++",
    r"`[^`\n]{1,300}`",
    r"``[^\n]{1,300}?``",
    r"\$\$[^$]{1,400}\$\$",
    r"\\\((?:[^\\\n]|\\(?!\))){1,300}\\\)",
    r"\\\[(?:[^\\]|\\(?!\])){1,400}\\\]",
    r"\$(?=[^$\n]{0,200}[\\=^_{])(?!\s)[^$\n]{1,200}(?<!\s)\$(?!\d)",
    r"(?:https?://|ftp://|www\.)[^\s<>\"'，。；、）】》]{1,2000}+",
    r"\]\([^()\s]{0,500}\)",
    r"</?[A-Za-z][^<>\n]{0,300}>",
    r"(?<![A-Za-z0-9])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,100}",
    r"\[\^?\d{1,3}\]",
    rf"^[ \t>]{{0,12}}{_NUMBERING}",
    r"(?<![A-Za-z])(?:Step|Figure|Fig\.|Table|Chapter|Example|Question|Option) \d{1,3}(?!\d)",
    r"(?<![\u4e00-\u9fff])[图表例题] ?\d{1,3}(?!\d)",
)
NAMES: Final = any_of(  # a word with digits, a version, an address
    r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z_]{0,59}+[-_/]?\d[A-Za-z0-9_.-]{0,60}(?<![.-])",
    rf"{FREE}\d{{1,9}}(?:\.\d{{1,9}}){{2,9}}",
)
WORDS: Final = rf"{FREE}\d{{1,20}}[-_]?[A-Za-z_][A-Za-z0-9_-]{{0,60}}"  # that begin with digits
