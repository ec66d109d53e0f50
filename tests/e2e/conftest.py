"""A real vLLM with a real model, and the real gateway before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import openai
import pytest

from deploy.setup.engine import Engine
from tests.rig import Running, gateway, regex, rule

RULES = [
    regex(r"\bignore all previous instructions\b", side="input", id="injection", reason="R201"),
    regex(r"\bpurple\b", id="no.purple"),
    rule({"type": "words", "words": ["蓝色", "green"]}, action="mask", id="mask.colours", mask="[colour]"),
    rule({"type": "pii"}, action="mask", id="pii", reason="R102", mask="[private]"),
]


@pytest.fixture
async def guarded(engine: Engine, tmp_path: Path) -> AsyncIterator[Running]:
    """The gateway before the engine."""
    async with gateway(tmp_path, [engine.url], RULES) as running:
        yield running


@pytest.fixture
async def client(guarded: Running) -> AsyncIterator[openai.AsyncOpenAI]:
    """The official client, pointed at the gateway."""
    async with openai.AsyncOpenAI(base_url=f"{guarded.url}/v1", api_key="none", timeout=300) as made:
        yield made


@pytest.fixture
async def direct(engine: Engine) -> AsyncIterator[openai.AsyncOpenAI]:
    """The official client, pointed at the engine itself."""
    async with openai.AsyncOpenAI(base_url=f"{engine.url}/v1", api_key="none", timeout=300) as made:
        yield made
