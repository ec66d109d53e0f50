"""What gateway.yaml says of traces."""

from __future__ import annotations

import os
import re
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from gateway.addresses import http
from gateway.plug import Strict

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")  # a whole address; a base
PATH = "/v1/traces"

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
_VALUE = re.compile(r"[\x20-\x7e]*").fullmatch


_address = http("http://host:4318", secret="headers_env")


class Tracing(Strict):
    """How exchanges are traced. Off if `tracing` is absent."""

    endpoint: Annotated[str, AfterValidator(_address)] | None = Field(
        default=None,
        description="Where OTLP is taken over HTTP; an address without a path is given /v1/traces. If absent: the "
        "environment's OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT.",
        examples=["http://127.0.0.1:4318"],
    )
    headers_env: str | None = Field(
        default=None,
        description="The environment variable that holds headers for it, as `name=value,name=value`. If absent: "
        "OTEL_EXPORTER_OTLP_HEADERS.",
    )
    service: str | None = Field(
        default=None, description="What the gateway is called there. If absent: OTEL_SERVICE_NAME, or retrace-gateway."
    )
    sample: float = Field(default=1.0, ge=0, le=1, description="The share of exchanges that is traced.")
    parent_based: bool = Field(
        default=True, description="A caller that sends a `traceparent` decides itself whether its exchange is traced."
    )
    per_second: float = Field(
        default=10.0,
        gt=0,
        le=10_000,
        description="Most exchanges that are traced in a second, whoever wants them traced: what bounds the cost.",
    )
    queue: int = Field(default=2048, ge=1, le=100_000, description="Most traces that wait to be sent; more are lost.")
    timeout_seconds: float = Field(
        default=5.0, gt=0, le=60, description="How long it may take to hand a batch over, all tries together."
    )

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.headers_env is not None:
            told = os.environ.get(self.headers_env)
            if not told:
                problem = f"the environment variable {self.headers_env} is empty"
                raise ValueError(f"{problem}; export it, or remove `headers_env`")
            if headers(told) is None:
                raise ValueError(f"{self.headers_env} holds no headers; write them as name=value,name=value")
        if not self.url:
            raise ValueError(f"it is not said where traces go; set `endpoint`, or {ENDPOINTS[1]} in the environment")
        _address(self.url)
        return self

    @property
    def url(self) -> str:
        """Where they go, path and all; empty if nobody says."""
        if self.endpoint:
            return self.endpoint if urlsplit(self.endpoint).path.strip("/") else self.endpoint.rstrip("/") + PATH
        whole, base = (os.environ.get(name, "") for name in ENDPOINTS)
        return whole or (base and base.rstrip("/") + PATH)

    @property
    def headers(self) -> dict[str, str] | None:
        """Those that `headers_env` names; None: the environment's usual ones."""
        return headers(os.environ.get(self.headers_env, "")) if self.headers_env else None


def headers(told: str) -> dict[str, str] | None:
    """Headers as OTEL_EXPORTER_OTLP_HEADERS writes them; None if that is not what this is."""
    found: dict[str, str] = {}
    for part in told.split(","):
        name, equals, value = part.strip().partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not _NAME(name) or not _VALUE(value):
            return None
        found[name] = value
    return found
