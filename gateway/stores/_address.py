"""Where a Redis server is, as YAML says it: an address, or the environment variable that holds one with a password."""

from __future__ import annotations

import os
from typing import Self
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, model_validator

from gateway.plug import Strict
from gateway.stores._link import check_url


class Address(Strict):
    """What everything says that is kept in Redis."""

    url: str | None = Field(
        default=None,
        description="redis://, rediss:// (TLS) or unix://; without a password.",
        examples=["redis://127.0.0.1:6379/0"],
    )
    url_env: str | None = Field(default=None, description="The environment variable that holds the address instead.")

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
