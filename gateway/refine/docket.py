"""The review queue: answers that a person should look at, in a file or in a Redis stream. Off the road of requests.

A gateway adds (`Docket`), a person's tool takes them out (`Reviewing`), at the same time and without each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from gateway.plug import Strict
from gateway.refine._docket import Docket
from gateway.refine._entry import VERDICTS, Entry, Listing, Observe, QueueFault, Reviewing, Waiting
from gateway.refine._queue_file import Bounds, FileReviewing, FileSink, files
from gateway.refine._queue_redis import RedisReviewing, RedisSink
from gateway.stores._address import Address

__all__ = [
    "VERDICTS",
    "Docket",
    "DocketSpec",
    "Entry",
    "FileDocket",
    "Listing",
    "QueueFault",
    "RedisDocket",
    "Reviewing",
    "Waiting",
]


class _Queue(Strict):
    most: int = Field(default=10_000, ge=1, description="Answers that wait at most; of more, the oldest are given up.")
    lease_seconds: float = Field(
        default=3600, gt=0, description="What a reviewer has taken and left lying so long, another one may take."
    )


class FileDocket(_Queue):
    """In a file that only its owner may read, shared by all gateways of this machine that name it."""

    type: Literal["file"] = "file"
    path: Path = Field(description="JSONL; marks and what is dealt with stand beside it.")
    bytes: int = Field(
        default=64 << 20, ge=1 << 16, description="What it takes at most; twice as much again for what is dealt with."
    )

    def connect(self, folder: Path, observe: Observe) -> Docket:
        """The living docket; nothing is opened before its `start`. Paths are relative to `folder`."""
        return Docket(FileSink(folder / self.path, Bounds(self.most, self.bytes)), observe)

    def files(self, folder: Path) -> Iterator[Path]:
        """All that it writes, less the lock."""
        return files(folder / self.path)

    def reviewing(self, folder: Path) -> Reviewing:
        return FileReviewing(folder / self.path, self.lease_seconds)


class RedisDocket(Address, _Queue):
    """In a Redis server, 6.2 or newer, shared by all gateways that name it."""

    type: Literal["redis"] = "redis"
    stream: str = Field(default="retrace:review", pattern=r"^[A-Za-z0-9._:{}-]{1,128}$", description="Its key.")

    def connect(self, folder: Path, observe: Observe) -> Docket:
        """The living docket; nothing is opened before its `start`, and `folder` is for files."""
        return Docket(RedisSink(self.address, self.stream, self.most), observe)

    def files(self, folder: Path) -> Iterator[Path]:
        """None."""
        return iter(())

    def reviewing(self, folder: Path) -> Reviewing:
        return RedisReviewing(self.address, self.stream, self.most, self.lease_seconds)


DocketSpec: TypeAlias = FileDocket | RedisDocket  # told apart by `type`
