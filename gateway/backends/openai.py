"""`type: openai`: any endpoint that speaks the OpenAI protocol, in one or several replicas."""

from __future__ import annotations

import os
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from yarl import URL

from gateway.backends import Backend, BackendSpec, Observe
from gateway.backends._http import HttpBackend
from gateway.backends._patched import Plugin
from gateway.backends._timing import Timeouts


def _http_url(url: str) -> str:
    parsed = URL(url)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("this is no http(s) address; write it as http://host:8000")
    if parsed.user or parsed.password:
        raise ValueError("an address must not hold a password; name an environment variable in `key_env`")
    return url.rstrip("/").removesuffix("/v1")


class Plug(BackendSpec):
    """An OpenAI-compatible endpoint."""

    type: Literal["openai"] = "openai"
    urls: tuple[Annotated[str, AfterValidator(_http_url)], ...] = Field(
        min_length=1, description="One address a replica.", examples=[["http://127.0.0.1:8000"]]
    )
    key_env: str | None = Field(default=None, description="The environment variable that holds our key for it.")
    health_path: str = Field(default="/v1/models", pattern=r"^/")
    health_seconds: float = Field(default=5.0, gt=0, description="How often each replica is asked how it is.")
    retries: int = Field(default=1, ge=0, le=5, description="More tries while the client has not got a byte.")
    timeouts: Timeouts = Timeouts()

    @model_validator(mode="after")
    def _key_there(self) -> Self:
        if self.key_env is not None and not os.environ.get(self.key_env):
            raise ValueError(f"the environment variable {self.key_env} is empty; export it, or remove `key_env`")
        return self

    def connect(self, observe: Observe) -> Backend:
        return HttpBackend(
            name=self.name,
            urls=self.urls,
            key=os.environ[self.key_env] if self.key_env else None,
            health_path=self.health_path,
            health_seconds=self.health_seconds,
            retries=self.retries,
            timeouts=self.timeouts,
            observe=observe,
            plugin=self.plugin(),
        )

    def plugin(self) -> Plugin | None:
        """How to speak to the plugin inside it, if it is of a kind that may have one."""
        return None
