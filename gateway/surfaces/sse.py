"""Server-sent events, read in whatever pieces the network brings them (WHATWG HTML, section 9.2).

What goes downstream is only `data:` lines: comments, ids, event names and retry times of the upstream stay behind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gateway.errors import UpstreamFault

DONE = b"[DONE]"
DONE_FRAME = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n"  # a lone comment: no blank line, so even a strict client sees no event in it
LONGEST_EVENT = 16 << 20


_ORDINARY = re.compile(rb"data: [^\r\n]{1,65536}\n\n").fullmatch


class Frame(NamedTuple):
    """One event: the bytes to send for it, and the payload inside."""

    raw: bytes
    data: bytes


def frame(data: bytes) -> bytes:
    """The bytes of an event with this one-line payload."""
    return b"data: " + data + b"\n\n"


class Decoder:
    """Bytes in, whole events out. LF, CRLF and CR line ends; cuts anywhere; the last event may lack its blank line."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that are now complete. UpstreamFault if one grows past all measure."""
        if self._begun and not self._rest and chunk.find(b"\n") == len(chunk) - 2 and _ORDINARY(chunk):
            return [Frame(chunk, chunk[6:-2])]  # one whole event, as nearly always
        buffer = self._rest + chunk if self._rest else chunk
        if not self._begun:
            buffer = self._begin(buffer)
        held = b""
        if b"\r" in buffer:
            if buffer.endswith(b"\r"):  # perhaps half of a CRLF
                buffer, held = buffer[:-1], b"\r"
            buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *blocks, rest = buffer.split(b"\n\n")
        self._rest = rest + held
        if len(self._rest) > LONGEST_EVENT:
            raise UpstreamFault("the upstream sent an event without end", kind="framing")
        frames = []
        for block in blocks:
            if block.startswith(b"data: ") and len(block) > 6 and b"\n" not in block:
                frames.append(Frame(block + b"\n\n", block[6:]))
            elif event := _assembled(block):
                frames.append(event)
        return frames

    def flush(self) -> list[Frame]:
        """The upstream closed: an event that lacks only its blank line counts."""
        events = self.feed(b"\n\n")
        self._rest = b""
        return events

    def _begin(self, buffer: bytes) -> bytes:
        if len(buffer) < 3 and b"\xef\xbb\xbf".startswith(buffer):
            return buffer
        self._begun = True
        return buffer.removeprefix(b"\xef\xbb\xbf")


def _assembled(block: bytes) -> Frame | None:
    """An event of several lines, or of lines that are no data; None if it holds no data at all."""
    data = b"\n".join(
        line[5:].removeprefix(b" ") if line != b"data" else b""
        for line in block.split(b"\n")
        if line.startswith(b"data:") or line == b"data"
    )
    return Frame(frame(data.replace(b"\n", b"\ndata: ")), data) if data else None
