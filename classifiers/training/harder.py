"""Swaps that are harder than those of the data: a wrong answer is made like the right one, from anywhere in the context
or from the very sentence that holds the right one. Only for judging; the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from classifiers.reading import Asked, sentences
from classifiers.training.cases import Case, swapped
from classifiers.training.units import alike

KINDS = ANYWHERE, SAME_SENTENCE = "same-kind", "same-sentence"


def harder(cases: Iterable[Case]) -> Iterator[Case]:
    """For each right answer out of a context, itself and a wrong one, where there is a wrong one."""
    for case in cases:
        if case.wrong or not swapped(case.source):
            continue
        language = case.source.partition(".")[2]
        for kind, context in ((ANYWHERE, case.asked.context), (SAME_SENTENCE, _around(case.asked))):
            others = alike(case.asked._replace(context=context))
            if others:
                whole = case._replace(source=f"{kind}.{language}")
                yield whole
                yield whole._replace(asked=case.asked._replace(answer=others[0]), wrong=True)


def _around(asked: Asked) -> str:
    start = asked.context.find(asked.answer)
    end = start + len(asked.answer)
    return "".join(asked.context[a:b] for a, b in sentences(asked.context) if start >= 0 and a < end and b > start)
