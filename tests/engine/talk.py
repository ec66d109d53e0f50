"""Prompts for any of our models, and requests that a donor could serve."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from deploy.setup.engine import Engine
from tests.bench.client import Answer, Client

SALT = "tests"


def tokens(count: int, seed: int) -> list[int]:
    """Tokens that every model's vocabulary has."""
    rng = random.Random(seed)
    return [rng.randrange(40, 250) for _ in range(count)]


def captured(client: Client, prompt: Sequence[int], salt: str = SALT, keep: bool = True, **verdict: Any) -> str:
    """The prompt computed and captured under a name of its own; kept unless said otherwise."""
    name = secrets.token_hex(8)
    client.ask(prompt, retrace={"capture": name}, salt=salt)
    if keep:
        client.keep(name, **verdict)
    return name


def asked(client: Client, prompt: Sequence[int], donor: str, mode: str, salt: str = SALT, **more: Any) -> Answer:
    """A request that names a donor."""
    ask: Mapping[str, Any] = {"donor": donor, "mode": mode, "min_tokens": 128} | more.pop("ask", {})
    return client.ask(prompt, retrace=ask, salt=salt, **more)


def forget(engine: Engine) -> None:
    """Empty the engine's own prefix cache (it must run with VLLM_SERVER_DEV_MODE=1), so that only a donor can help."""
    httpx.post(f"{engine.url}/reset_prefix_cache", trust_env=False).raise_for_status()
