"""The review queue: answers that a person should look at, in a file or in a Redis stream. Off the road of requests.

A gateway adds (`Docket`), a person's tool takes them out (`Reviewing`), at the same time and without each other.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, model_validator

from gateway.plug import Strict
from gateway.refine._docket import Docket
from gateway.refine._entry import VERDICTS, Entry, Listing, Observe, QueueFault, Reviewing, Waiting
from gateway.refine._queue_file import Bounds, FileReviewing, FileSink
from gateway.refine._queue_redis import RedisReviewing, RedisSink
from gateway.stores._link import check_url

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

    def reviewing(self, folder: Path) -> Reviewing:
        return FileReviewing(folder / self.path, self.lease_seconds)


class RedisDocket(_Queue):
    """In a Redis server, 6.2 or newer, shared by all gateways that name it."""

    type: Literal["redis"] = "redis"
    url: str | None = Field(
        default=None,
        description="redis://, rediss:// (TLS) or unix://; without a password.",
        examples=["redis://127.0.0.1:6379/0"],
    )
    url_env: str | None = Field(default=None, description="The environment variable that holds the address instead.")
    stream: str = Field(default="retrace:review", pattern=r"^[A-Za-z0-9._:{}-]{1,128}$", description="Its key.")

    @model_validator(mode="after")
    def _address_there(self) -> Self:
        if (self.url is None) == (self.url_env is None):
            raise ValueError("name the server in `url`, or in `url_env` if its address holds a password")
        if self.url_env is not None and not os.environ.get(self.url_env):
            raise ValueError(f"the environment variable {self.url_env} is empty; export it, or use `url`")
        if self.url is not None and (urlsplit(self.url).password or "password" in parse_qs(urlsplit(self.url).query)):
            raise ValueError("an address must not hold a password; name an environment variable in `url_env`")
        try:
            check_url(self.address)
        except ValueError as fault:
            raise ValueError("this is no address of a Redis server; write it as redis://host:6379/0") from fault
        return self

    @property
    def address(self) -> str:
        """Where the server is; it may hold a password."""
        return self.url if self.url is not None else os.environ.get(self.url_env or "", "")

    def connect(self, folder: Path, observe: Observe) -> Docket:
        """The living docket; nothing is opened before its `start`, and `folder` is for files."""
        return Docket(RedisSink(self.address, self.stream, self.most), observe)

    def reviewing(self, folder: Path) -> Reviewing:
        return RedisReviewing(self.address, self.stream, self.most, self.lease_seconds)


DocketSpec: TypeAlias = FileDocket | RedisDocket  # told apart by `type`
