"""What gateway.yaml says of the audit log (`audit`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from gateway.audit._log import Bounds, Fsync
from gateway.audit._words import TextPolicy
from gateway.plug import Strict


class Auditing(Strict):
    """A log of what became of each exchange, in which a changed or missing line is found (`retrace audit verify`)."""

    folder: Path = Field(
        default=Path("audit"), description="Where its files lie, relative to this file. Only their owner may read them."
    )
    text: TextPolicy = Field(
        default="redacted",
        description="What is written of what was asked and answered. none: nothing. hash: a keyed hash and the length, "
        "by which a text that somebody brings is known again. redacted: the text less personal data, less what rules "
        "mask and less what they found. full: as it was, less what rules mask.",
    )
    key_env: str = Field(
        default="RETRACE_AUDIT_KEY", description="The environment variable that holds the key for `text: hash`."
    )
    text_chars: int = Field(
        default=16_384, ge=0, le=1_000_000, description="Characters of an exchange's texts at most, the latest first."
    )
    rotate_mb: float = Field(default=64, ge=0.01, le=4096, description="A file that is larger is followed by the next.")
    keep: int = Field(default=16, ge=1, le=100_000, description="Files of each worker; of more the oldest is removed.")
    fsync: Fsync = Field(
        default="batch",
        description="When lines are safe from a power failure. line: each before the next. batch: all that came within "
        "batch_ms together. rotate: when a file is full.",
    )
    batch_ms: float = Field(default=100, ge=1, le=10_000, description="How long a line may wait for others.")
    queue: int = Field(default=10_000, ge=1, le=1_000_000, description="Lines that may wait; more are lost, and told.")

    @model_validator(mode="after")
    def _has_key(self) -> Self:
        if self.text == "hash" and not os.environ.get(self.key_env):
            raise ValueError(
                f"`text: hash` needs a key; export {self.key_env} (such as from `openssl rand -hex 32`), or write "
                "`text: redacted`"
            )
        return self

    @property
    def key(self) -> bytes:
        return os.environ.get(self.key_env, "").encode()

    @property
    def bounds(self) -> Bounds:
        return Bounds(int(self.rotate_mb * (1 << 20)), self.keep, self.fsync, self.batch_ms / 1000)
