"""`type: openai`: any endpoint that speaks the OpenAI protocol, in one or several replicas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gateway.addresses import Keyed, http
from gateway.backends import Backend, BackendSpec, Observe
from gateway.backends._http import HttpBackend
from gateway.backends._patched import Plugin
from gateway.backends._timing import Timeouts


def _without_version(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")


Url = Annotated[str, AfterValidator(http("http://host:8000")), AfterValidator(_without_version)]


class Plug(Keyed, BackendSpec):
    """An OpenAI-compatible endpoint."""

    type: Literal["openai"] = "openai"
    urls: tuple[Url, ...] = Field(
        min_length=1, description="One address a replica.", examples=[["http://127.0.0.1:8000"]]
    )
    health_path: str = Field(default="/v1/models", pattern=r"^/")
    health_seconds: float = Field(default=5.0, gt=0, description="How often each replica is asked how it is.")
    retries: int = Field(default=1, ge=0, le=5, description="More tries while the client has not got a byte.")
    timeouts: Timeouts = Timeouts()

    def connect(self, observe: Observe) -> Backend:
        return HttpBackend(
            name=self.name,
            urls=self.urls,
            key=self.key,
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
