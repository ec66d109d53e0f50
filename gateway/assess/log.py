"""A log becomes lines, one after the other, whatever its size: gzip or plain, its format guessed from its beginning.

What can't be read is counted, and the first of it is named by its line. Memory holds one line at a time, and the few
by which the format is guessed.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from gateway.assess import _bodies, _litellm, _nginx, _ours
from gateway.assess._line import NOTHING, Format, Line
from gateway.errors import Complaint, ConfigFault

FORMATS: Sequence[Format] = (_ours.FORMAT, _litellm.FORMAT, _bodies.FORMAT, _nginx.FORMAT)
BY = 200  # lines by which a format is guessed
LONGEST = 8 << 20  # bytes of a line
NAMED = 5  # bad lines that are named
_GZIP = b"\x1f\x8b"


class Bad(NamedTuple):
    """A line that can't be read."""

    number: int
    why: str


class Log:
    """A log that is being read: what was understood of it so far."""

    def __init__(self, path: Path, file: IO[bytes], format: Format, ahead: Sequence[bytes], lines: Iterator[bytes]):
        self.path, self.format = path, format
        self.read = self.bad = self.others = 0  # lines in all, those that can't be read, those on no request
        self.named: list[Bad] = []
        self._file, self._lines = file, chain(ahead, lines)

    @property
    def place(self) -> int:
        """How many bytes of the file were read, for whoever shows progress."""
        return self._file.tell() if self._file.seekable() else 0

    def __iter__(self) -> Iterator[Line]:
        """The requests, in the order of the file."""
        try:
            yield from self._requests()
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self._spoilt("the archive breaks off or is damaged here; what stands behind it is not counted")

    def _requests(self) -> Iterator[Line]:
        for raw in self._lines:
            self.read += 1
            if not raw.strip():
                continue
            if len(raw) >= LONGEST:
                self._spoilt(f"longer than {LONGEST >> 20} MiB")
                continue
            line = _read(self.format, raw)
            if line is None:
                self._spoilt(_wrong(raw))
            elif line is NOTHING:
                self.others += 1
            else:
                yield line

    def _spoilt(self, why: str) -> None:
        self.bad += 1
        if len(self.named) < NAMED:
            self.named.append(Bad(self.read, why))

    def close(self) -> None:
        self._file.close()


def opened(path: Path, name: str = "") -> Log:
    """A log to be read once, and closed. `name`: of its format, if it is not to be guessed.

    ConfigFault if there is none, or if it is of no format that is understood.
    """
    try:
        file = path.open("rb")
    except OSError as fault:
        raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault.strerror}", "name a log")]) from fault
    try:
        lines = _lines(file)
        ahead = list(islice(lines, BY))
    except (EOFError, OSError, zlib.error) as fault:
        file.close()
        raise ConfigFault([Complaint(path, 1, "", f"can't be read: {fault}", "name a log, plain or gzip")]) from fault
    format = _named(name) if name else guess(ahead)
    if format is None:
        file.close()
        raise ConfigFault([_unknown(path, ahead)])
    return Log(path, file, format, ahead, lines)


def guess(lines: Sequence[bytes]) -> Format | None:
    """The format that understands the most of these lines; of equals the most particular. None if none does."""
    fits: Counter[str] = Counter()
    for raw in lines:
        fits.update(format.name for format in FORMATS if _read(format, raw) is not None)
    return max((one for one in FORMATS if fits[one.name]), key=lambda one: fits[one.name], default=None)


def _named(name: str) -> Format | None:
    return next((format for format in FORMATS if format.name == name), None)


def _unknown(path: Path, lines: Sequence[bytes]) -> Complaint:
    known = "; ".join(f"{one.name}: {one.en}" for one in FORMATS)
    what = "its first lines are of no format that is understood" if any(map(bytes.strip, lines)) else "it is empty"
    return Complaint(path, 1, "", what, f"give one of these: {known}")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Lines of at most LONGEST bytes; what is longer comes in pieces, of which the rest is passed over."""
    head = file.peek(2)[:2] if hasattr(file, "peek") else b""
    source: IO[bytes] = gzip.GzipFile(fileobj=file) if head == _GZIP else file  # type: ignore[assignment]
    while raw := source.readline(LONGEST):
        yield raw
        while len(raw) >= LONGEST and not raw.endswith(b"\n"):
            raw = source.readline(LONGEST)


def _read(format: Format, raw: bytes) -> Line | None:
    try:
        told = orjson.loads(raw) if raw.lstrip()[:1] == b"{" else None
    except orjson.JSONDecodeError:
        return None
    return format.read(raw, told if isinstance(told, dict) else None)


def _wrong(raw: bytes) -> str:
    try:
        told = orjson.loads(raw)
    except orjson.JSONDecodeError as fault:
        return f"is not JSON: {fault.msg}" if raw.lstrip()[:1] in (b"{", b"[") else "is of another format"
    return "lacks what this format has" if isinstance(told, dict) else "is no JSON object"
