"""What is read of a question, a context and an answer before the network sees them: evidence, and plain counts.

A context may be long; what an answer must be compared with is where its words, numbers and names stand, and near
which words of the question. So runs of words that answer and context share are looked for, each at the place where most
of the question stands around it, and the sentences there are the evidence, with those runs marked. Chinese is cut into
characters, everything else into words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Language = Literal["zh", "en"]
Floats = NDArray[np.float32]

MOST: Final = 24_000  # characters of a context that are looked at
MOST_OF_ANSWER: Final = 4_000
EVIDENCE: Final = {"zh": 150, "en": 480}  # characters, about 110 tokens
REACH: Final = {"zh": 20.0, "en": 10.0}  # words; how near a word of the question must be to count a third
PLACES: Final = 24  # of one word in a context, that are tried
FEATURES: Final = 12
NEARNESS: Final = 8  # which of them says how near the question's words the answer stands

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_WORD: Final = re.compile(rf"[{_HAN}]|\d+(?:[.,]\d+)*|[^\W\d_{_HAN}]+")
_HAN_ONE: Final = re.compile(f"[{_HAN}]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_SENTENCE: Final = re.compile(r"[^。！？!?；;\n]*?(?:[。！？!?；;\n]+|\.(?=\s|$)|$)", re.DOTALL)
_NUMBER: Final = re.compile(r"\d|[一二三四五六七八九十百千万亿两]{2,}|[一二三四五六七八九十两][年月日个人次位名届]")
_ASKS_NUMBER: Final = re.compile(
    r"多少|几|何时|何年|什么时候|什么时间|哪一?[年天月日]|多[长大高久远重]"
    r"|how (?:many|much|long|old|far|often)|when\b"
    r"|wh(?:at|ich) (?:year|date|day|month|percent|number|century)|什麼時候|何時|幾|哪一?年",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"可能|大概|也许|或许|据推测|不确定|无法确定|不清楚|不知道|没有(?:相关|确切|明确|足够)|未经证实"
    r"|\b(?:may|might|perhaps|possibly|probably|unsure|not sure|no comment|don't know|cannot|unclear|unknown)\b",
    re.IGNORECASE,
)


class Asked(NamedTuple):
    """What is judged. An empty context is none."""

    question: str
    context: str
    answer: str


class Run(NamedTuple):
    """Words that answer and context share: where they stand in the context, counted in words."""

    start: int
    end: int
    near: float  # how much of the question stands around it


class Evidence(NamedTuple):
    """Sentences of the context, and the parts of them that the answer repeats, counted in characters."""

    text: str
    marks: tuple[tuple[int, int], ...]


class Reading(NamedTuple):
    """Everything the network is given, before it is cut into tokens."""

    evidence: Evidence
    features: Floats


NOTHING: Final = Evidence("", ())


def language(text: str) -> Language:
    """Chinese if a fifth of the letters are; a character tells as much as several letters."""
    han = len(_HAN_ONE.findall(text))
    return "zh" if han and han * 5 >= len(_LETTER.findall(text)) else "en"


def words(text: str) -> list[str]:
    """In lower case: Chinese characters one by one, numbers and other words whole."""
    return _cut(text).words


def doubts(text: str) -> int:
    """How many words there are that say that one isn't sure."""
    return len(_UNSURE.findall(text))


def read(asked: Asked) -> Reading:
    """Pure; about a millisecond for 2,000 characters of context."""
    answer = _cut(asked.answer[:MOST_OF_ANSWER])
    question = _cut(asked.question[:MOST_OF_ANSWER])
    if not asked.context.strip():
        return Reading(NOTHING, _features(asked, question, answer, None))
    text = asked.context[:MOST]
    context = _Context(text, _cut(text), question.words, REACH[language(text)])
    runs = _runs(answer.words, context, set(question.words))
    return Reading(_evidence(context, runs), _features(asked, question, answer, _Found(context, runs)))


class _Words(NamedTuple):
    words: list[str]  # in lower case
    spans: list[tuple[int, int]]


def _cut(text: str) -> _Words:
    found = list(_WORD.finditer(text))
    return _Words([one.group().lower() for one in found], [one.span() for one in found])


class _Context:
    """A context's words, and how near those of the question are to each of them."""

    def __init__(self, text: str, cut: _Words, question: Sequence[str], reach: float) -> None:
        self.text = text
        self.words, self.spans = cut
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self.places.setdefault(word, []).append(place)
        self._reach = reach
        self.asked = [word for word in dict.fromkeys(question) if word in self.places]
        self._share = 1.0 / max(1, len(set(question)))
        pairs = dict.fromkeys(itertools.pairwise(question))
        self._pairs = {pair: self._of_pair(pair) for pair in pairs}
        self._pair_share = 1.0 / max(1, len(pairs))

    def _of_pair(self, pair: tuple[str, str]) -> list[int]:
        return [place for place in self.places.get(pair[0], ()) if self.words[place + 1 : place + 2] == [pair[1]]]

    def near(self, start: int, end: int) -> tuple[float, float]:
        """How much of the question stands around these words, single words and pairs of them: 0 to 1 each."""
        single = sum(self._nearest(self.places[word], start, end) for word in self.asked) * self._share
        pairs = sum(self._nearest(places, start, end) for places in self._pairs.values() if places) * self._pair_share
        return single, pairs

    def _nearest(self, places: list[int], start: int, end: int) -> float:
        best = min(
            (start - place if place < start else place - end + 1 for place in places if not start <= place < end),
            default=None,
        )
        return 0.0 if best is None else float(np.exp(-best / self._reach)) / len(places) ** 0.5

    def around(self) -> Floats:
        """For each word, how much of the question stands around it."""
        at = np.arange(len(self.words))
        total = np.zeros(len(self.words), np.float32)
        for word in self.asked:
            places = np.array(self.places[word])
            after = np.searchsorted(places, at)
            right = np.abs(places[np.minimum(after, len(places) - 1)] - at)
            left = np.abs(places[np.maximum(after - 1, 0)] - at)
            total += np.exp(-np.minimum(left, right) / self._reach) / len(places) ** 0.5
        return total * np.float32(self._share)


class _Found(NamedTuple):
    context: _Context
    runs: list[Run]


def _runs(answer: Sequence[str], context: _Context, question: set[str]) -> list[Run]:
    found: list[Run] = []
    at = 0
    while at < len(answer):
        length, places = _longest(answer, at, context)
        shared = answer[at : at + length]
        if length and not question.issuperset(shared):
            best = max((sum(context.near(place, place + length)), -place) for place in places)
            found.append(Run(-best[1], -best[1] + length, best[0]))
        at += max(1, length)
    return found


def _longest(answer: Sequence[str], at: int, context: _Context) -> tuple[int, list[int]]:
    best: tuple[int, list[int]] = (0, [])
    for place in context.places.get(answer[at], ())[:PLACES]:
        length = 1
        while answer[at + length : at + length + 1] == context.words[place + length : place + length + 1] != []:
            length += 1
        if length > best[0]:
            best = (length, [])
        if length == best[0]:
            best[1].append(place)
    return best


def _evidence(context: _Context, runs: Sequence[Run]) -> Evidence:
    if not context.words:
        return NOTHING
    around = context.around()
    room = EVIDENCE[language(context.text)]
    parts = list(sentences(context.text, room))
    values = _values(context, runs, around, parts)
    kept: set[int] = set()
    for number in np.argsort(-values, kind="stable").tolist():
        size = parts[number][1] - parts[number][0]
        if not kept or size <= room:
            kept.add(number)
            room -= size
    return _joined(context, runs, [parts[number] for number in sorted(kept)])


def _values(
    context: _Context, runs: Sequence[Run], around: Floats, parts: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    starts = np.array([start for start, _ in parts])
    of_word = np.searchsorted(starts, [span[0] for span in context.spans], side="right") - 1
    values = np.zeros(len(parts))
    np.maximum.at(values, of_word, around)
    for run in runs:
        length = run.end - run.start
        for number in {int(of_word[run.start]), int(of_word[run.end - 1])}:
            values[number] += length * (1 + run.near)
    best = int(values.argmax())
    for number, nearness in ((best - 1, 0.3), (best + 1, 0.2)):  # who "he" is stands in the sentence before
        if 0 <= number < len(values):
            values[number] += nearness
    return values


def _joined(context: _Context, runs: Sequence[Run], kept: Sequence[tuple[int, int]]) -> Evidence:
    text, marks = "", []
    spans = [(context.spans[run.start][0], context.spans[run.end - 1][1]) for run in runs]
    for start, end in kept:
        shift = len(text) - start
        marks += [(max(a, start) + shift, min(b, end) + shift) for a, b in spans if a < end and b > start]
        text += context.text[start:end].replace("\n", " ")
    return Evidence(text, tuple(sorted(marks)))


def sentences(text: str, longest: int = MOST) -> Iterator[tuple[int, int]]:
    """Where each begins and ends; what is longer is cut."""
    for found in _SENTENCE.finditer(text):
        start, end = found.span()
        for part in range(start, end, longest):
            yield part, min(end, part + longest)


def _features(asked: Asked, question: _Words, answer: _Words, found: _Found | None) -> Floats:
    told = np.zeros(FEATURES, np.float32)
    has_number = bool(_NUMBER.search(asked.answer))
    asks_number = bool(_ASKS_NUMBER.search(asked.question))
    asked_words = set(question.words)
    told[0] = has_number
    told[1] = asks_number
    told[2] = has_number == asks_number
    told[3] = _share([word in asked_words for word in answer.words])
    told[4] = np.log1p(len(asked.answer)) / 5
    told[5] = min(3, doubts(asked.answer)) / 3
    if found is not None:
        told[6:] = _of_context(answer, found)
    return told


def _of_context(answer: _Words, found: _Found) -> list[float]:
    context, runs = found
    numbers = [word for word in answer.words if word[0].isdigit()]
    longest = max(runs, key=lambda run: run.end - run.start, default=None)
    single, pairs = context.near(longest.start, longest.end) if longest else (0.0, 0.0)
    around = context.around()
    here = float(around[longest.start : longest.end].mean()) if longest else 0.0
    most = float(around.max()) if len(around) else 0.0
    return [
        single,
        pairs,
        here / most if most else 0.0,
        _share([word in context.places for word in answer.words]),
        1 - _share([word in context.places for word in numbers]) if numbers else 0.0,
        1.0,
    ]


def _share(true: Sequence[bool]) -> float:
    return sum(true) / len(true) if true else 0.0
