"""What an exchange is about, as far as its words tell: finance, legal, medical, or what YAML names. Pure.

The domain of which most different words stand in the text wins; where as many do, the one whose words stand there more
often; then the one that YAML names first. A word is told by plain search: English ones stand alone and in either number
(contract, contracts), Chinese ones anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from gateway.plug import Strict

MOST = 2000  # characters of a text that are read
_WORD = re.compile(r"[a-z0-9]+")
_CHINESE = re.compile("[一-鿿]")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
Word = Annotated[str, Field(min_length=2)]


class Domains(Strict):
    """Domains by their names, each with words that hardly stand anywhere else."""

    words: dict[Name, dict[Literal["zh", "en"], tuple[Word, ...]]] = Field(
        default={}, examples=[{"finance": {"zh": ["市盈率", "理财产品"], "en": ["mutual fund", "interest rate"]}}]
    )
    least: int = Field(default=1, ge=1, description="Different words that a text must hold to be of a domain.")

    @cached_property
    def spelled(self) -> Mapping[str, Spelled]:
        """The words of each domain, as they are searched for."""
        return {
            name: Spelled(_once(map(str.lower, words.get("zh", ()))), _once(map(_singular, words.get("en", ()))))
            for name, words in self.words.items()
        }


class Spelled(NamedTuple):
    """Words of a domain: Chinese ones, and English ones between spaces."""

    zh: Sequence[str]
    en: Sequence[str]


def domain_of(text: str, domains: Domains) -> str:
    """The domain of a text; empty if it is of none. Its first 2,000 characters are read: put the question first."""
    text = text[:MOST].lower()
    chinese, english = text if _CHINESE.search(text) else "", _singular(text)
    strengths = {name: _strength(chinese, english, words) for name, words in domains.spelled.items()}
    best = max(strengths, key=strengths.__getitem__, default="")
    return best if best and strengths[best][0] >= domains.least else ""


def _strength(chinese: str, english: str, words: Spelled) -> tuple[int, int]:
    """How many different words stand in a text, and how often."""
    often = [chinese.count(word) for word in words.zh] if chinese else []
    often += [english.count(word) for word in words.en]
    return sum(map(bool, often)), sum(often)


def _once(words: Iterable[str]) -> Sequence[str]:
    return tuple(dict.fromkeys(words))


def _singular(text: str) -> str:
    """The English words of a text, each between spaces of its own, without the `s` of a plural."""
    return "".join(f" {_stem(word)} " for word in _WORD.findall(text.lower()))


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word
