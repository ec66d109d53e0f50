"""The second tier: captures that were displaced from memory, each compressed into `<id>.kv.zst`.

Nothing else knows the library that compresses, and nobody needs it who has no such tier.
"""

from __future__ import annotations

import os
from pathlib import Path

from gateway.kv._held import Torn
from gateway.kv._names import MODE, ids, own

_SUFFIX = ".kv.zst"
_LEVEL = 1  # KV hardly compresses further at a higher one
_CHUNK = 1 << 20


class Disk:
    """The compressed files of one folder. Two never work on the same capture: who moves one holds its claim."""

    def __init__(self, folder: Path) -> None:
        """ValueError if the folder can't be used, or nothing can compress."""
        try:
            import zstandard
        except ImportError as error:
            raise ValueError(
                "RETRACE_POOL_DISK needs the package zstandard; pip install it, or unset the variable"
            ) from error
        self._zstd = zstandard
        self._folder = own(folder)

    def path(self, id: str) -> Path:
        return self._folder / f"{id}{_SUFFIX}"

    @staticmethod
    def most(size: int) -> int:
        """The bytes that `size` bytes take at the most."""
        return size + (size >> 8) + 1024

    def store(self, id: str, source: int) -> int:
        """Compress all of the open file `source`: bytes taken. OSError, and then nothing is left of it."""
        path = self.path(id)
        beside = _beside(path)
        compressor = self._zstd.ZstdCompressor(level=_LEVEL, write_checksum=True)
        os.lseek(source, 0, os.SEEK_SET)
        try:
            with open(source, "rb", closefd=False) as data, open(beside, "wb", opener=_private) as file:
                compressor.copy_stream(data, file, size=os.fstat(source).st_size)
            size = beside.stat().st_size
            beside.rename(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        return size

    def load(self, id: str, target: int, size: int) -> None:
        """Write what was stored into the empty file `target`. Torn if it isn't `size` sound bytes; OSError."""
        decompressor = self._zstd.ZstdDecompressor()
        left = size
        try:
            with self.path(id).open("rb") as file, open(target, "wb", closefd=False) as data:
                reader = decompressor.stream_reader(file)
                while left >= 0 and (chunk := reader.read(_CHUNK)):
                    left -= len(chunk)
                    data.write(chunk)
        except (self._zstd.ZstdError, FileNotFoundError) as error:
            raise Torn(f"{id} on disk can't be unpacked: {error}") from error
        if left:
            raise Torn(f"{id} on disk is not as long as it was")

    def size(self, id: str) -> int | None:
        """Bytes that a capture takes; None if it isn't there."""
        try:
            return self.path(id).stat().st_size
        except FileNotFoundError:
            return None

    def remove(self, id: str) -> None:
        """Also what a process that died has left half written."""
        self.path(id).unlink(missing_ok=True)
        _beside(self.path(id)).unlink(missing_ok=True)

    def ids(self) -> list[str]:
        """Of all files, the half written included."""
        return sorted({*ids(self._folder, _SUFFIX), *ids(self._folder, _beside(Path(_SUFFIX)).name)})

    def wipe(self) -> None:
        for id in self.ids():
            self.remove(id)


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, MODE)
