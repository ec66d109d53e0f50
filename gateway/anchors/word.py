"""`type: word`: after any word; a Chinese character is one. The least is thrown away, and the least is held back."""

from __future__ import annotations

from typing import Literal

from gateway.anchors import LocalSpec, Marks
from gateway.anchors._edges import word_ends


class Plug(LocalSpec):
    """Offers the end of every word."""

    type: Literal["word"] = "word"

    def look(self, text: str, low: int, high: int) -> Marks:
        return Marks(list(word_ends(text, low, high)))
