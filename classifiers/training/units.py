"""What is learnt from, drawn anew for each round: units of one answer, or of a wrong and a right one to one question.

Without a context, answers to one question are paired at random. With one, the right part of it stands against another
part: the one that the data gives, the right answer to another question, or something of the same kind near by. Some
answers are put into a sentence, since models seldom answer with a bare name; and some contexts are exchanged, since an
answer that a context doesn't support needs a look however right it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from classifiers.reading import Asked, language
from classifiers.training.cases import Case, swapped

# Not here: what is told by length or style alone (halueval-qa, uhgeval).
LARGE: Final = ("truthfulqa-judge.en", "halluqa-llm-outputs.zh", "halluqa-ref.zh", "halueval2-human.en")
SMALL: Final = ("chinesefacteval.zh", "factool-en.en")  # shown more often
GIVEN: Final = 0.45  # of wrong parts: the one that the data gives,
OTHERS: Final = 0.7  # up to here the answer to another question, and the rest something of its kind
IN_SENTENCE: Final = 0.25
EXCHANGED: Final = 0.06
SENTENCES: Final = {
    "zh": ("答案是{}。", "根据材料，{}。", "是{}。", "{}。", "根据上文，答案应为{}。"),
    "en": ("The answer is {}.", "It is {}.", "According to the text, {}.", "{}.", "That would be {}."),
}
_NUMBERS: Final = re.compile(
    r"\d+(?:[.,]\d+)*(?:\s?(?:年|月|日|个|人|%|％|million|billion|percent)|年\d+月(?:\d+日)?)?"
)
_NAMES: Final = re.compile(r"《[^》]{1,20}》|“[^”]{2,16}”|(?:[A-Z][\w'-]+ ?){1,4}|[\u3400-\u9fff]{2,8}")

Random = np.random.Generator


class Unit(NamedTuple):
    """What is right, what is wrong, or both to one question."""

    wrong: Asked | None
    right: Asked | None


class Question(NamedTuple):
    """A question whose answer stands in a context."""

    right: Asked
    given: tuple[str, ...]  # wrong answers of the data


def plain(cases: Iterable[Case], small: int, random: Random) -> Iterator[Unit]:
    """One round of those without a context, with small sources shown so often."""
    groups: dict[tuple[str, str], tuple[list[Asked], list[Asked]]] = {}
    for case in cases:
        if case.source in LARGE + SMALL and case.split == "train":
            for time in range(small if case.source in SMALL else 1):
                key = (case.source, f"{time} {case.group}")
                groups.setdefault(key, ([], []))[case.wrong].append(case.asked)
    for right, wrong in groups.values():
        random.shuffle(right)  # type: ignore[arg-type]
        random.shuffle(wrong)  # type: ignore[arg-type]
        both = min(len(right), len(wrong))
        yield from (Unit(w, r) for w, r in zip(wrong, right, strict=False))
        yield from (Unit(w, None) for w in wrong[both:])
        yield from (Unit(None, r) for r in right[both:])


def questions(cases: Iterable[Case]) -> list[Question]:
    """Those of the training split whose answer stands in a context."""
    found: dict[tuple[str, str], tuple[list[Asked], list[str]]] = {}
    for case in cases:
        if swapped(case.source) and case.split == "train":
            right, wrong = found.setdefault(case.asked[:2], ([], []))
            if case.wrong:
                wrong.append(case.asked.answer)
            else:
                right.append(case.asked)
    return [Question(right[0], tuple(wrong)) for right, wrong in found.values() if right]


def grounded(asked: Sequence[Question], random: Random) -> Iterator[Unit]:
    """One round of those with a context."""
    others: dict[str, list[str]] = {}
    for one in asked:
        others.setdefault(one.right.context, []).append(one.right.answer)
    for one in asked:
        right = one.right
        if random.random() < EXCHANGED:
            elsewhere = asked[int(random.integers(len(asked)))].right.context
            if right.answer not in elsewhere:
                yield Unit(_told(right._replace(context=elsewhere), random), None)
        wrong = _wrong(one, others[right.context], random)
        if wrong is None:
            yield Unit(None, _told(right, random))
        else:
            turn = int(random.integers(1 << 30)) if random.random() < IN_SENTENCE else None
            yield Unit(_put(right._replace(answer=wrong), turn), _put(right, turn))


def _wrong(one: Question, others: Sequence[str], random: Random) -> str | None:
    right = one.right.answer
    kind = random.random()
    choice: list[str] = []
    if kind > OTHERS:
        choice = alike(one.right)
    elif kind > GIVEN:
        choice = [other for other in others if other not in right and right not in other]
    choice = choice or list(one.given)
    return choice[int(random.integers(len(choice)))] if choice else None


def alike(right: Asked) -> list[str]:
    """Other parts of the context: numbers for a number, names and other short ones for the rest, the nearest by
    length first."""
    kind = _NUMBERS if re.search(r"\d", right.answer) else _NAMES
    found = {part.strip() for part in kind.findall(right.context)}
    far = [part for part in found if part and part not in right.answer and right.answer not in part]
    return sorted(far, key=lambda part: (abs(len(part) - len(right.answer)), part))[:12]


def _told(asked: Asked, random: Random) -> Asked:
    return _put(asked, int(random.integers(1 << 30)) if random.random() < IN_SENTENCE else None)


def _put(asked: Asked, turn: int | None) -> Asked:
    if turn is None:
        return asked
    sentences = SENTENCES[language(asked.question)]
    return asked._replace(answer=sentences[turn % len(sentences)].format(asked.answer.rstrip("。.")))
