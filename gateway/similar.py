"""Similarity codes of what was asked: one by its n-grams, one by a small encoder. The models are in classifiers/.

Codes that are near say that two questions may mean the same. They find, they never decide.
"""

from __future__ import annotations

from pathlib import Path

MODELS = Path(__file__).parent.parent / "classifiers" / "models" / "context"


class Similar:
    """Both models. ModelFault (classifiers.manifest) if one of them is missing or not what it should be."""

    def __init__(self, folder: Path = MODELS) -> None:
        # Here, since what runs them takes 0.1 s and 30 MB, and most gateways never ask for codes.
        from classifiers.encoder import Encoder
        from classifiers.ngrams import Ngrams

        self._ngrams, self._encoder = Ngrams(folder), Encoder(folder)

    def codes(self, text: str, window: int = 3) -> tuple[int, ...]:
        """The two codes of a text, each of 64 bits; none of an empty one. `window`: words of an n-gram."""
        if not text.strip():
            return ()
        return self._ngrams.code(text, window), self._encoder.code(text)
