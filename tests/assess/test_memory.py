"""What a model keeps of a token, and what captures take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.assess import memory
from gateway.errors import ConfigFault


@pytest.mark.parametrize(
    ("config", "per_token"),
    [
        # Measured on an engine: 18,432 bytes a token of Gemma 3 270M, 12,288 of Qwen 2.5 0.5B.
        ({"num_hidden_layers": 18, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256}, 18_432),
        ({"num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "hidden_size": 896}, 12_288),
        ({"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "torch_dtype": "float32"}, 512),
        ({"text_config": {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}}, 256),
        (
            {"num_hidden_layers": 27, "num_attention_heads": 16, "hidden_size": 2048, "kv_lora_rank": 512}
            | {"qk_rope_head_dim": 64},
            27 * 2 * 576,
        ),
    ],
)
def test_a_model_s_config_tells_its_kv(tmp_path: Path, config: dict[str, Any], per_token: int) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(orjson.dumps(config))
    assert memory.shape(path).per_token == per_token


def test_the_usual_model_is_named_and_has_128_kib_a_token() -> None:
    assert memory.USUAL.per_token == 131_072
    assert "8B" in memory.USUAL.name


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"num_hidden_layers": 2, "num_attention_heads": 0}'])
def test_a_config_that_does_not_tell_is_said_so(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(raw)
    with pytest.raises(ConfigFault, match=r"config\.json"):
        memory.shape(path)
    with pytest.raises(ConfigFault, match="can't be read"):
        memory.shape(tmp_path / "none.json")


def test_memory_by_the_rule_of_thumb_and_by_the_model() -> None:
    told = memory.needed(0.15, 0.15, 200, 1000, 100_000, ttl=60)
    assert told.thumb == pytest.approx(0.003 * 0.15 * 200 * 60)
    assert told.ours == pytest.approx(0.15 * 200 * 60 * 1000 * 100_000 / 1e9)
    assert told.held == pytest.approx(told.ours)
