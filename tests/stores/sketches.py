"""Sketches made to measure: which chunks they hold is said by numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from gateway.stores import WIDTH, Kept, Sketch

WHOSE, OTHERS = b"\x01" * 16, b"\x02" * 16
LATER = 4_000_000_000.0  # seconds of the epoch


def hashed(number: int) -> bytes:
    return blake2b(str(number).encode(), digest_size=WIDTH).digest()


def sketch(
    chunks: Iterable[int], *, whose: bytes = WHOSE, sizes: Sequence[int] = (), codes: tuple[int, ...] = ()
) -> Sketch:
    """A prompt of these chunks, one behind the other; each has 100 bytes of text unless said otherwise."""
    own = [hashed(number) for number in chunks]
    running, prefix = blake2b(digest_size=WIDTH), []
    for one in own:
        running.update(one)
        prefix.append(running.digest())
    return Sketch(whose, b"".join(own), b"".join(prefix), tuple(sizes) or (100,) * len(own), codes)


def kept(name: object, of: Sketch, *, until: float = LATER, replica: str = "http://a:8000") -> Kept:
    return Kept(f"capture-{name}", replica, "R203", "session", until, of)


def names(found: Iterable[Kept]) -> list[str]:
    return [one.capture.removeprefix("capture-") for one in found]
