"""`type: vllm`: a vLLM server. It says how it is on /health, and cancels what nobody reads any more.

Whether it has our plugin it says by itself; without it, it is used like any other endpoint, and retrace is off.
"""

from __future__ import annotations

import os
import re
from typing import Literal, Self

from pydantic import Field, model_validator

from gateway.backends import openai
from gateway.backends._patched import SECRET, Plugin

_CARRIED = re.compile(r"[\x21-\x7e]*").fullmatch  # what a header holds as it is


class Plug(openai.Plug):
    """A vLLM endpoint."""

    type: Literal["vllm"] = "vllm"  # type: ignore[assignment]
    health_path: str = Field(default="/health", pattern=r"^/")

    @model_validator(mode="after")
    def _secret_fits(self) -> Self:
        if not _CARRIED(os.environ.get(SECRET, "")):
            raise ValueError(
                f"the environment variable {SECRET} holds a space or a sign that no header can carry; "
                "use letters, digits and punctuation, here and at the engine"
            )
        return self

    def plugin(self) -> Plugin:
        return Plugin(self.name, os.environ.get(SECRET, ""))
