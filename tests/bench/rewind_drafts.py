"""What the bench of rewinding asks, and the words that are made rules because the model says them.

A rule is made for one request alone (`when: tenant`): one word, chosen at a random place of what the model answers
when nobody interferes. Places are drawn evenly over the draft, one from each of as many stretches as there are
requests to break; of the words that could be chosen the one nearest to the place is taken. A word must stand there for
the first time, so that the draft breaks its rule there and not before.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from gateway.judge import Judge, Lane
from gateway.rules import Place, Rule
from gateway.types import Side
from gateway.window import Window
from tests.bench.docs import Lang

MATERIAL = Path(__file__).parent / "material"
MODEL = "qwen"
LONGEST = 160  # tokens of an answer
SHARE = 0.23  # of the drafts break a rule
EDGE = 0.02  # of a draft at either end, where no word is chosen

_ENGLISH = re.compile(r"(?<![\w'’-])[a-z]{4,}(?![\w'’-])")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,}")


class Ask(NamedTuple):
    """One request. `kind`: prose or json."""

    id: str
    lang: Lang
    kind: str
    messages: list[dict[str, str]]

    def body(self, **more: Any) -> dict[str, Any]:
        """The body of the request: greedy, so that every contender is given the same draft."""
        told = {"model": MODEL, "messages": self.messages, "max_tokens": LONGEST, "temperature": 0}
        shape = {"response_format": {"type": "json_object"}} if self.kind == "json" else {}
        return told | shape | more


class Draft(NamedTuple):
    """What the engine said, piece by piece, and the seconds after which each piece came."""

    ask: str
    pieces: list[tuple[float, str]]
    finish: str

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


class Breach(NamedTuple):
    """A request that breaks a rule: the word, and which share of the draft stands before it."""

    tenant: str
    ask: str
    word: str
    place: float

    @property
    def rule(self) -> Rule:
        return Rule.model_validate(self.ruled())

    def ruled(self, **rewind: Any) -> dict[str, Any]:
        """The rule as a team writes it."""
        return {
            "id": f"no.{self.tenant}",
            "side": "output",
            "when": {"tenant": self.tenant},
            "check": {"type": "words", "words": [self.word]},
            "action": "rewind",
            "reason": "R101",
            "rewind": rewind,
        }

    @property
    def lanes(self) -> Sequence[Lane]:
        return Judge([self.rule]).lanes(Place(Side.OUTPUT, "chat", MODEL, self.tenant, "standard", "assistant"))


def asks(count: int | None = None, kind: str = "prose") -> list[Ask]:
    """The first `count` requests of a kind, Chinese and English in turn."""
    told = [ask for pair in zip(_asks("zh", kind), _asks("en", kind), strict=True) for ask in pair]
    return told[:count]


def _asks(lang: Lang, kind: str) -> Iterator[Ask]:
    file = yaml.safe_load((MATERIAL / f"rewind.{lang}.yaml").read_text(encoding="utf-8"))
    desks = file[kind] if kind == "prose" else [file[kind]]
    for row in zip(*([(desk["system"], question) for question in desk["questions"]] for desk in desks), strict=True):
        for number, (system, question) in enumerate(row):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
            place = desks[number]["questions"].index(question)
            yield Ask(f"{lang}-{kind}-{number}-{place:02}", lang, kind, messages)


def words(draft: Draft) -> list[tuple[int, str]]:
    """Every word that could be chosen and where it stands: for the first time, nowhere as part of what came before.

    English: written small, four letters or more. Chinese: what the model says in one piece, two characters or more.
    """
    text = draft.text
    found = [(at, word) for at, word in _candidates(draft) if text.lower().find(word) == at]
    margin = EDGE * len(text)
    return [(at, word) for at, word in found if margin <= at <= len(text) - margin]


def _candidates(draft: Draft) -> Iterator[tuple[int, str]]:
    yield from ((match.start(), match[0]) for match in _ENGLISH.finditer(draft.text))
    at = 0
    for _, piece in draft.pieces:
        if _CHINESE.fullmatch(piece):
            yield at, piece
        at += len(piece)


def breaches(drafts: Sequence[Draft], rounds: int = 1, share: float = SHARE, seed: int = 23) -> list[Breach]:
    """In each round `share` of the drafts break a rule; none is taken again before all were.

    The same for the same drafts and seed.
    """
    rng = random.Random(seed)
    left: list[Draft] = []
    made: list[Breach] = []
    for number in range(rounds):
        count = round(share * len(drafts))
        places = [(n + rng.random()) / count for n in range(count)]
        rng.shuffle(places)
        for place in places:
            left = left or rng.sample(drafts, len(drafts))
            breach = breach_at(left.pop(), place, f"{number}")
            made += [breach] if breach else []
    return made


def breach_at(draft: Draft, place: float, name: str) -> Breach | None:
    """The rule that one draft breaks, as near to a place as can be; None if no word will do."""
    length = len(draft.text)
    for at, word in sorted(words(draft), key=lambda one: abs(one[0] / length - place)):
        breach = Breach(f"{draft.ask}.{name}", draft.ask, word, at / length)
        if found(breach.lanes, draft.text) == at:
            return breach
    return None


def found(lanes: Sequence[Lane], text: str) -> int | None:
    """Where a whole text breaks a rule; None if nowhere."""
    window = Window(lanes)
    window.feed(text, final=True)
    return window.halted.start if window.halted else None


def third(place: float) -> str:
    """Which third of a draft a place lies in."""
    return ("first", "middle", "last")[min(int(3 * place), 2)]


def by_id(all_asks: Iterable[Ask]) -> Mapping[str, Ask]:
    return {ask.id: ask for ask in all_asks}
