"""What captures take: by a common rule of thumb, and by what a model really keeps of a token.

The rule knows neither the model nor how long requests are; it stands there to be compared with.

A token's KV is two vectors (key and value) of `heads * head_dim` numbers in each layer; models with multi-head latent
attention keep one vector of `kv_lora_rank + qk_rope_head_dim` instead (DeepSeek-V2, 2024, section 2.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.errors import Complaint, ConfigFault

GB = 1e9
THUMB = 0.003  # GB: the rule is THUMB * reject rate * requests a second * 60, in GB a minute
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "half": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "fp8": 1}


class Shape(NamedTuple):
    """What of a model decides how large its KV is."""

    name: str
    layers: int
    heads: int
    head_dim: int
    bytes: int
    latent: int = 0  # numbers a token and layer of a model with latent attention

    @property
    def per_token(self) -> int:
        """Bytes."""
        return self.layers * self.bytes * (self.latent or 2 * self.heads * self.head_dim)


USUAL = Shape("8B, 32 layers, 8 KV heads of 128, 16 bit", 32, 8, 128, 2)  # such as Llama 3 8B


class Memory(NamedTuple):
    """GB. `thumb` and `ours` are what is captured a minute; `held` is what lies there in the end, at this ttl."""

    thumb: float
    ours: float
    held: float


def needed(rejects: float, captures: float, qps: float, tokens: float, per_token: float, ttl: float) -> Memory:
    """`rejects`, `captures`: shares of requests, the captured ones of so many tokens on average. `ttl` in seconds."""
    captured = captures * qps * tokens * per_token / GB
    return Memory(THUMB * rejects * qps * 60, captured * 60, captured * ttl)


def shape(path: Path) -> Shape:
    """Out of a model's config.json, as Hugging Face writes it. ConfigFault if it doesn't tell."""
    try:
        told = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as fault:
        raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault}", "name a config.json")]) from fault
    inner = told.get("text_config") if isinstance(told, dict) else None
    try:
        return _shape(path, {**told, **(inner or {})})
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as fault:
        fix = "use the model's own config.json, or give --kv-bytes-per-token"
        raise ConfigFault([Complaint(path, None, "", f"does not tell {fault}", fix)]) from fault


def _shape(path: Path, told: Mapping[str, Any]) -> Shape:
    layers, queries = int(told["num_hidden_layers"]), int(told["num_attention_heads"])
    heads = int(told.get("num_key_value_heads") or queries)
    dim = int(told.get("head_dim") or int(told["hidden_size"]) // queries)
    latent = int(told["kv_lora_rank"]) + int(told.get("qk_rope_head_dim") or 0) if told.get("kv_lora_rank") else 0
    kind = str(told.get("dtype") or told.get("torch_dtype") or "bfloat16").removeprefix("torch.")
    name = f"{path}: {layers} layers, {latent} latent" if latent else f"{path}: {layers} layers, {heads} heads of {dim}"
    return Shape(f"{name}, {kind}", layers, heads, dim, _BYTES.get(kind, 2), latent)
