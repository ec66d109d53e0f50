"""Services that are called over HTTP, as YAML says them: an address, and the variable that holds the key for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Self

from pydantic import Field, model_validator
from yarl import URL

from gateway.plug import Strict


def http(example: str, secret: str = "key_env") -> Callable[[str], str]:
    """For `AfterValidator`: an http(s) address without a password, written as in the example; `secret` is the field
    that names where a password stands."""

    def checked(url: str) -> str:
        parsed = URL(url)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError(f"this is no http(s) address; write it as {example}")
        if parsed.user or parsed.password:
            raise ValueError(f"an address must not hold a password; name an environment variable in `{secret}`")
        return url

    return checked


class Keyed(Strict):
    """A service that wants to see a key, or none."""

    key_env: str | None = Field(default=None, description="The environment variable that holds our key for it.")

    @model_validator(mode="after")
    def _key_there(self) -> Self:
        if self.key_env is not None and not os.environ.get(self.key_env):
            raise ValueError(f"the environment variable {self.key_env} is empty; export it, or remove `key_env`")
        return self

    @property
    def key(self) -> str | None:
        return os.environ[self.key_env] if self.key_env else None
