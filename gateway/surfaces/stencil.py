"""Most events of a stream are alike but for one text. What was understood of one is not worked out again for the next.

A stencil is an event's payload with its text cut out. A later payload that has the same bytes around a string without
quotes, escapes or control characters is the same event with another text: JSON leaves no other reading. So its text
is known without parsing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

from gateway.errors import UpstreamFault
from gateway.surfaces import Reading
from gateway.surfaces.sse import Frame

MOST = 4  # stencils a stream may have: one for each choice or channel that speaks in turn
_PROBE = "a text that stands in for another"


class Stencil(NamedTuple):
    """An event with a hole where its one text was."""

    fits: Callable[[bytes], re.Match[bytes] | None]
    choice: int
    channel: str

    @classmethod
    def cut(cls, payload: bytes, reading: Reading, read: Callable[[bytes], Reading]) -> Self | None:
        """A stencil from an event that says one text and nothing else; `read` is used to make sure. None if not."""
        if len(reading.pieces) != 1 or reading.ends or reading.usage or reading.failed:
            return None
        piece = reading.pieces[0]
        before, hole, behind = payload.partition(b'"' + piece.text.encode() + b'"')
        if not hole:
            return None
        try:
            probed = read(before + b'"' + _PROBE.encode() + b'"' + behind)
        except UpstreamFault:
            return None  # short texts, such as a colon, stand between the names of fields as well
        if probed != reading._replace(pieces=[piece._replace(text=_PROBE)]):
            return None
        pattern = re.compile(re.escape(before) + rb'"([^"\\\x00-\x1f]{1,4096})"' + re.escape(behind), re.DOTALL)
        return cls(pattern.fullmatch, piece.choice, piece.channel)

    def texts(self, frames: Sequence[Frame]) -> list[str]:
        """The texts of the first events in a row that fit."""
        texts: list[str] = []
        fits = self.fits
        try:
            for frame in frames:
                match = fits(frame.data)
                if not match:
                    break
                texts.append(match[1].decode())
        except UnicodeDecodeError:
            return texts  # it fits, but is no text: whoever reads it whole will say so
        return texts
