"""CRC-32 of a record: zlib-ng's where it is installed, else Python's own. The value is the same, it takes twenty times
as long; and every byte that is captured or given back goes through it while the engine waits."""

from __future__ import annotations

try:
    from zlib_ng.zlib_ng import crc32
except ImportError:
    from zlib import crc32

__all__ = ["crc32"]
