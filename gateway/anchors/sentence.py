"""`type: sentence`: after a sentence, Chinese or English, with the quotes and brackets that close behind its stop."""

from __future__ import annotations

from typing import Literal

from gateway.anchors import LocalSpec, Marks
from gateway.anchors._sentences import sentence_ends


class Plug(LocalSpec):
    """Offers the end of every sentence, and every blank line."""

    type: Literal["sentence"] = "sentence"

    def look(self, text: str, low: int, high: int) -> Marks:
        return Marks(list(sentence_ends(text, low, high)))
