"""Which tokens a passage of an answer is made of, told by the engine's own tokens: nothing is tokenised again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from gateway.kv.nouns import Entry

Decode = Callable[[Sequence[int]], str]
"""The text of some tokens, special ones included."""

HALF = "\ufffd"  # what decoding writes for a character whose other bytes are yet to come


def sensitive(entry: Entry, texts: Sequence[str], decode: Decode | None) -> list[tuple[int, int]] | None:
    """Where these passages of a capture's answer stand, in its tokens. None: it can't be told, so all of it counts."""
    first = entry.prompt_tokens
    answer = (*entry.tokens, *entry.tail)[first:]
    if decode is None or not entry.report:
        return None
    spans = located(decode, answer, texts)
    return None if spans is None else [(start + first, end + first) for start, end in spans]


def located(decode: Decode, tokens: Sequence[int], texts: Iterable[str]) -> list[tuple[int, int]] | None:
    """The token spans of all places where one of the texts stands; None if one of them stands nowhere."""
    whole = decode(tokens)
    lengths = _Lengths(decode, tokens)
    spans: list[tuple[int, int]] = []
    for text in texts:
        places = [*_places(whole, text)]
        if not places:
            return None
        spans += [_covering(lengths, start, start + len(text)) for start in places]
    return spans


def _places(whole: str, text: str) -> Iterator[int]:
    at = whole.find(text) if text else -1
    while at >= 0:
        yield at
        at = whole.find(text, at + len(text))


def _covering(lengths: _Lengths, start: int, end: int) -> tuple[int, int]:
    """The tokens that characters [start, end) come from: all of each, where one begins before or ends behind them."""
    first = bisect_left(lengths, start)
    first -= lengths[first] > start
    while first and lengths.ragged(first):  # the character before them has left bytes of the next in its token
        first -= 1
    last = bisect_left(lengths, end)
    return first, last


class _Lengths(Sequence[int]):
    """How many whole characters the first n tokens have, for each n; worked out only where it is asked for."""

    def __init__(self, decode: Decode, tokens: Sequence[int]) -> None:
        self._decode, self._tokens = decode, tokens
        self._known: dict[int, int] = {0: 0}
        self._ragged: set[int] = set()

    def __len__(self) -> int:
        return len(self._tokens) + 1

    def __getitem__(self, count: int) -> int:  # type: ignore[override]
        if count not in self._known:
            text = self._decode(self._tokens[:count])
            self._known[count] = len(text.rstrip(HALF))
            if text.endswith(HALF):
                self._ragged.add(count)
        return self._known[count]

    def ragged(self, count: int) -> bool:
        """Whether the first n tokens end in the middle of a character."""
        return self[count] >= 0 and count in self._ragged
