"""Whether an answer needs refining: a probability for each, learnt from answers that people found right or wrong.

It is no fact checker. Without a context it knows how answers sound that were wrong, and some misconceptions; with one
it also sees whether the answer stands where the context speaks of what was asked. The model card says how far.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from classifiers import manifest, session
from classifiers.manifest import ModelFault
from classifiers.phrases import Phrases
from classifiers.reading import Asked, Language, language
from classifiers.rows import Row, row

__all__ = ["Asked", "Assessor", "ModelFault", "language"]

REFINE: Final = manifest.MODELS / "refine"
FILES: Final = ("reader.onnx", "tokenizer.json", "phrases.npy")
# onnxruntime's joint kernel of addition and norm takes four times as long as the two alone.
WITHOUT: Final = ("SkipLayerNormFusion",)
PARTS: Final = ("network", "phrases", "shift", "threshold")
MODES: Final = ("zh", "en", "zh+context", "en+context")


class Said(NamedTuple):
    """Of one answer, before it is made a probability: higher where it is likelier wrong."""

    network: float
    phrases: float


@dataclass(frozen=True, slots=True)
class Mode:
    """A language, with or without a context: from two numbers to a probability, and where it is too high."""

    network: float
    phrases: float
    shift: float
    threshold: float

    def probability(self, said: Said) -> float:
        """0 to 1, rising with both numbers."""
        return 0.5 + 0.5 * math.tanh((self.network * said.network + self.phrases * said.phrases + self.shift) / 2)


class Assessor:
    """Loaded and verified once; any number of threads may ask it at the same time. One thread's work for each call."""

    def __init__(self, folder: Path = REFINE) -> None:
        model = manifest.load(folder)
        network, tokenizer, phrases = FILES
        self._session = session.network(model, network, WITHOUT)
        self._tokenizer = session.tokenizer(model, tokenizer)
        try:
            self._phrases = Phrases(np.load(io.BytesIO(model.read(phrases)), allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise model.fault(phrases, error) from error
        try:
            self._modes = modes(model.manifest.metrics)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFault(folder / manifest.FILE, f"lacks or misstates its modes ({error})") from error

    def risks(self, items: Sequence[Asked]) -> list[float]:
        """For each the probability that the answer needs refining: 10 ms for 128 tokens, whatever stands beside it.

        They are read one by one: on one thread a batch would be no faster, and an answer's risk would hang on the
        others in it.
        """
        return [self.mode(item).probability(said) for item, said in zip(items, self.say(items), strict=True)]

    def threshold(self, language: Language, context: bool) -> float:
        """The risk from which on an answer should be refined: about one right answer in ten lies above it."""
        return self._modes[_name(language, context)].threshold

    def mode(self, item: Asked) -> Mode:
        """By the language of question and answer, and whether there is a context."""
        return self._modes[mode_of(item)]

    def tokens(self, item: Asked) -> int:
        """How many the network reads of it."""
        return len(row(self._tokenizer, item).ids)

    def say(self, items: Sequence[Asked]) -> list[Said]:
        """What network and phrases say of each, before it is made a probability."""
        return [Said(self._read(row(self._tokenizer, item)), self._phrases.number(item)) for item in items]

    def _read(self, one: Row) -> float:
        given = {
            "ids": np.array([one.ids], np.int64),
            "kinds": np.array([one.kinds], np.int64),
            "features": one.features[None, :],
        }
        (number,) = self._session.run(["number"], given)[0]
        return float(number)


def mode_of(item: Asked) -> str:
    """The name of its mode."""
    return _name(language(item.question + item.answer), bool(item.context.strip()))


def modes(metrics: Mapping[str, Any]) -> dict[str, Mode]:
    """As a manifest tells them. KeyError, TypeError or ValueError if it doesn't."""
    told = metrics["modes"]
    return {name: Mode(*(float(told[name][part]) for part in PARTS)) for name in MODES}


def _name(language: Language, context: bool) -> str:
    return f"{language}+context" if context else language
