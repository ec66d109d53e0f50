"""`type: vllm`: a vLLM server. It says how it is on /health, and cancels what nobody reads any more."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateway.backends import openai


class Plug(openai.Plug):
    """A vLLM endpoint."""

    type: Literal["vllm"] = "vllm"  # type: ignore[assignment]
    health_path: str = Field(default="/health", pattern=r"^/")
