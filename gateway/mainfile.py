"""The main file, rules/gateway.yaml: where to listen, whom to ask, and the names of all other files."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.audit.settings import Auditing
from gateway.backends import BackendSpec
from gateway.plug import OneOf, Strict
from gateway.terms import Retracing
from gateway.tracing.file import Tracing


class Listen(Strict):
    """Where to listen. Other hosts than the local one are refused until there is an API key."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)


class Limits(Strict):
    """What a client may ask of the gateway."""

    body_bytes: int = Field(default=32 << 20, ge=1024, description="Largest request body.")
    text_chars: int = Field(default=1_000_000, ge=1024, description="Most text of a request, all messages together.")
    body_seconds: float = Field(default=30.0, gt=0, description="How long a request body may take to arrive.")
    answer_bytes: int = Field(default=64 << 20, ge=1024, description="Largest answer that is not streamed.")
    keep_alive_seconds: float | None = Field(
        default=None,
        gt=0,
        description="While a stream waits for its first token, send an SSE comment that often. It opens the stream, so "
        "what fails afterwards is told inside it and not by a status. Off if absent.",
    )


class GatewayFile(Strict):
    """The main file (rules/gateway.yaml). Paths are relative to it."""

    listen: Listen = Listen()
    backends: tuple[Annotated[BackendSpec, OneOf("backends")], ...] = Field(min_length=1)
    rules: tuple[str, ...] = Field(
        default=(), description="Files of rules; `*` allowed.", examples=[["input.yaml", "output.yaml"]]
    )
    reasons: str = "reasons.yaml"
    tiers: str | None = Field(default=None, description="The file of keys, tenants and tiers.")
    pass_through: tuple[str, ...] = Field(
        default=(
            "/v1/models",
            "/v1/models/*",
            "/v1/embeddings",
            "/tokenize",
            "/detokenize",
            "/health",
            "/version",
            "/ping",
        ),
        description="Paths that generate nothing and go to the backend as they are; every other path is refused.",
    )
    limits: Limits = Limits()
    retrace: Retracing = Retracing()
    refine: str | None = Field(default=None, description="The file that says which answers are read once more.")
    audit: Auditing | None = Field(default=None, description="The log for whoever has to answer for it. Off if absent.")
    watch: str | None = Field(default=None, description="The file that says how reuse is measured, and acted on.")
    tracing: Tracing | None = Field(default=None, description="Where traces of exchanges go. Off if absent.")

    @property
    def models(self) -> frozenset[str]:
        """The models that the file names, in full."""
        named = {model for backend in self.backends for model in backend.models}
        return frozenset(model for model in named if not set(model) & set("*?["))
