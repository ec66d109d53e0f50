"""The classifier's model, as this room sees it. It is loaded when it is wanted, off the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from gateway.tiers import Case, TierFault

FOLDER = Path(__file__).parents[2] / "classifiers" / "models" / "refine"
MOST = 24_000  # characters of each text


Language: TypeAlias = Literal["zh", "en"]


class Asked(NamedTuple):
    """What a risk is asked for."""

    question: str
    context: str
    answer: str


class Scorer(Protocol):
    """A model. It may be asked by one thread at a time, and may raise whatever it likes."""

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        """For each, the probability (0 to 1) that the answer holds an error."""
        ...

    def threshold(self, language: Language, context: bool) -> float:
        """The probability from which checking pays, by the model's own figures."""
        ...


Load = Callable[[], Scorer]  # blocks; may raise whatever it likes


def asked(case: Case) -> Asked:
    """The case, as a model is asked about it: cut to more than any model reads, since it is remembered for a while."""
    return Asked(case.question[:MOST], case.context[:MOST], case.answer[:MOST])


class _Refine:
    """The model of classifiers/."""

    def __init__(self, folder: Path) -> None:
        # Here, since what runs it takes time and memory, and a gateway without this tier never asks for it.
        from classifiers.refine import Asked as Question
        from classifiers.refine import Assessor

        self._assessor, self._question = Assessor(folder), Question

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        return self._assessor.risks([self._question(*one) for one in asked])

    def threshold(self, language: Language, context: bool) -> float:
        return self._assessor.threshold(language, context)


def load(folder: Path) -> Scorer:
    """The model in a folder. ModelFault (classifiers.manifest) if it is not what its manifest says."""
    return _Refine(folder)


def broken(fault: BaseException) -> TierFault:
    """For whatever a model raised."""
    return TierFault(f"the classifier failed ({type(fault).__name__}: {fault})", kind="broken")
