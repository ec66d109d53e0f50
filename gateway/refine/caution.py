"""The light check, when nobody can check facts: it finds what a person should verify, and says so in the answer.

It judges nothing: a figure, a date or the name of a law is found, right or wrong. The answer's own words stay as they
are; what is added never stands inside code, a formula or an address, and an answer that a program will read is left
alone. Time grows with the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import Field

from gateway.plug import Strict
from gateway.refine import _figures, _passed, _statutes

Kind: TypeAlias = Literal["regulation", "money", "percent", "date", "number"]
Placement: TypeAlias = Literal["inline", "note", "header"]
Language: TypeAlias = Literal["zh", "en"]

MOST = 100  # spans of an answer
LONGEST = 50_000  # characters that are looked at
INLINE = 8  # tags between the words; what is left is listed at the end
LISTED = 12  # spans in a note
QUOTED = 60  # characters of each

_WORD = r"^[^\s|`<>*_~](?:[^\n\r|`<>*_~]{0,58}[^\s|`<>*_~])?$"


class Tags(Strict):
    """What an answer is tagged with, in either language."""

    zh: str = Field(default="[需人工复核]", pattern=_WORD, description="In Chinese answers.")
    en: str = Field(default="[needs human review]", pattern=_WORD, description="In all other answers.")

    def of(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


TAGS: Final = Tags()


class Span(NamedTuple):
    """Something to verify: text[start:end]."""

    start: int
    end: int
    kind: Kind


# In this order they are tried at each place; groups that are no kind are passed over.
_TABLE = (
    ("held", _passed.HELD),
    ("regulation", f"{_statutes.CHINESE}|{_statutes.STANDARD}|{_statutes.ENGLISH}"),
    ("money", _figures.MONEY),
    ("percent", _figures.PERCENT),
    ("date", _figures.DATE),
    ("names", _passed.NAMES),
    ("number", _figures.COUNTED),
    ("words", _passed.WORDS),
    ("bare", _figures.BARE),
)
_KINDS: dict[str, Kind] = {
    "regulation": "regulation",
    "money": "money",
    "percent": "percent",
    "date": "date",
    "number": "number",
    "bare": "number",
}
# Most places of a text can begin nothing of all that, which one look at the character tells.
_BEGINS = (
    rf"(?:^|(?<![A-Za-z])(?=[A-Za-z])|(?=[\d{_figures.ONES}十百千万亿零壹贰叁肆伍陆柒捌玖拾佰仟第公人美港图表例题"
    r"《〔\[【﹝（(§$€£¥￥₹₩`\]\\<_]))"
)
_FACTS = re.compile(f"{_BEGINS}(?:{'|'.join(f'(?P<{name}>{pattern})' for name, pattern in _TABLE)})", re.MULTILINE)
_NUMBERED = re.compile(r"[〔\[（(【﹝]|(?<=[法例则定典令告字])第")
_HEAD = re.compile(r"[\u4e00-\u9fff]{1,12}$")
_LEADS = re.compile(r"^.*(?:根据|按照|依据|依照|参照|遵照|参见|详见|违反|适用|以及|[即和与及或由在的见按])")


def spans(text: str) -> list[Span]:
    """What a person should verify, in the order of the text: MOST at most, none overlaps another."""
    found: list[Span] = []
    for match in islice(_FACTS.finditer(text, 0, LONGEST), 10 * MOST):
        kind = _KINDS.get(match.lastgroup or "")
        if kind is None:
            continue
        start, end = match.span()
        found.append(Span(_headed(text, start, found[-1].end if found else 0), end, kind))
        if len(found) == MOST:
            break
    return found


def _headed(text: str, start: int, least: int) -> int:
    """Where the name of a Chinese regulation begins, whose number begins here: "银保监发" of "银保监发〔2020〕9号"."""
    head = _HEAD.search(text, max(least, start - 12), start) if _NUMBERED.match(text, start) else None
    return start if head is None else start - len(_LEADS.sub("", head.group()))


def language_of(text: str) -> Language:
    """The language to speak to whoever reads this."""
    chinese = sum(map(len, re.findall(r"[\u4e00-\u9fff]+", text)))
    letters = sum(map(len, re.findall(r"[A-Za-z]+", text)))
    return "zh" if 5 * chinese > letters else "en"


_SHAPES = re.compile(r'\{\s*["}]|\[\s*[\[{"]|<\?xml')


def structured(text: str) -> bool:
    """Whether a program will read this: nothing but JSON, be it cut off, or nothing but one block of code."""
    bare = text.strip()
    fence = _passed.FENCE.match(bare)
    if _SHAPES.match(bare) or (fence is not None and fence.end() == len(bare)):
        return True
    if bare[:1] not in ("{", "["):
        return False
    try:
        return isinstance(orjson.loads(bare), dict | list)
    except orjson.JSONDecodeError:
        return False


def tagged(text: str, placement: Placement, language: Language | None = None, tags: Tags = TAGS) -> str:
    """The answer with its tags, and with a note where there is nothing or no room to tag; `language` None: its own.

    Unchanged if a header says it, if it is empty, or if a program will read it.
    """
    if placement == "header" or not text.strip() or structured(text):
        return text
    speech, found = language or language_of(text), spans(text)
    if placement == "note" or not found:
        return text + _note(text, found, speech, tags)
    groups = _groups(text, found)
    pieces: list[str] = []
    last = 0
    for group in groups[:INLINE]:
        place, tag = _tag(text, group[-1].end, speech, tags)
        pieces += (text[last:place], tag)
        last = place
    rest = [span for group in groups[INLINE:] for span in group]
    return "".join((*pieces, text[last:], _note(text, rest, speech, tags) if rest else ""))


def note(text: str, language: Language | None = None, tags: Tags = TAGS) -> str:
    """What to say behind an answer that has left already; nothing if it is empty or a program will read it."""
    if not text.strip() or structured(text):
        return ""
    return _note(text, spans(text), language or language_of(text), tags)


_JOINED = re.compile(r"[ ,，、/~～至到和与及或–—-]{0,3}|,? ?(?:and|or|to) ")


def _groups(text: str, found: Sequence[Span]) -> list[list[Span]]:
    """Those that stand side by side share a tag."""
    groups: list[list[Span]] = []
    for span in found:
        if groups and _JOINED.fullmatch(text, groups[-1][-1].end, span.start):
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


_STRESS = re.compile(r"\*{1,3}|_{1,3}|~~")


def _tag(text: str, end: int, language: Language, tags: Tags) -> tuple[int, str]:
    """Where the tag goes, and what it is: behind marks that end here, and never such that it becomes a link."""
    tag = tags.of(language)
    stress = _STRESS.match(text, end)
    if stress and text.count(stress.group(), text.rfind("\n", 0, end) + 1, end) % 2:
        end = stress.end()
    if text.startswith(tag, end) or text.startswith(" " + tag, end):
        return end, ""
    before = "" if language == "zh" else " "
    return end, before + tag + (" " if text[end : end + 1] in ("(", "[") else "")


_NOTES = {
    "zh": ("本回答未经事实核查，使用前请由人工复核。", "本回答未经事实核查，请人工核对：{}{}。", "；", "（另有{}处）"),
    "en": (
        "This answer was not fact-checked. Please have a person check it before use.",
        "This answer was not fact-checked. Please have a person verify: {}{}.",
        "; ",
        " (and {} more)",
    ),
}


def _note(text: str, found: Sequence[Span], language: Language, tags: Tags) -> str:
    """Behind a blank line, and behind the end of a block of code that the answer has left open."""
    general, listing, between, more = _NOTES[language]
    quotes = list(dict.fromkeys(text[span.start : span.end][:QUOTED] for span in found))
    rest = more.format(len(quotes) - LISTED) if len(quotes) > LISTED else ""
    words = listing.format(between.join(quotes[:LISTED]), rest) if quotes else general
    return f"{_shut(text)}\n\n{tags.of(language)} {words}"


def _shut(text: str) -> str:
    """What ends the block of code that is open at the end of a text, if one is."""
    fences = _passed.FENCE.finditer(text)  # one that nobody closes goes on to the end, so there is one at most
    return "".join("\n" + fence["fence"] for fence in fences if not fence["closed"])
