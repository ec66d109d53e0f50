"""What a reader has said of the text so far, in order, and no more of it than may still be asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gateway.anchors._marks import Closed, Marks


class Ledger:
    """Offers and closed stretches of one text."""

    def __init__(self) -> None:
        self._offers: list[int] = []
        self._closed: list[Closed] = []

    def offer(self, position: int) -> None:
        """Positions must come in ascending order; the same one twice counts once, and the start of a text never."""
        if position and (not self._offers or position > self._offers[-1]):
            self._offers.append(position)

    def close(self, span: Closed) -> None:
        self._closed.append(span)

    def marks(self, low: int, high: int) -> Marks:
        """What concerns [low, high]."""
        offers = self._offers[bisect_left(self._offers, low) : bisect_right(self._offers, high)]
        return Marks(offers, [span for span in self._closed if span.end > low and span.start < high])

    def forget(self, before: int) -> None:
        """Drop what ends before a position."""
        del self._offers[: bisect_left(self._offers, before)]
        if self._closed and self._closed[0].end <= before:
            self._closed = [span for span in self._closed if span.end > before]
