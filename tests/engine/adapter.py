"""Make a LoRA adapter for a Llama, with random weights: `python adapter.py MODEL_FOLDER TARGET_FOLDER`.

Runs inside the engine's environment. Its weights are large enough that answers differ from the base model's.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

RANK = 8
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")


def make(model: Path, target: Path) -> None:
    """Write adapter_config.json and adapter_model.safetensors into `target`."""
    torch: Any = importlib.import_module("torch")
    safetensors: Any = importlib.import_module("safetensors.torch")
    shapes = json.loads((model / "config.json").read_text())
    hidden, heads, width = shapes["hidden_size"], shapes["num_attention_heads"], shapes["head_dim"]
    queries, keys = heads * width, shapes["num_key_value_heads"] * width
    sizes = {
        "q_proj": (hidden, queries),
        "k_proj": (hidden, keys),
        "v_proj": (hidden, keys),
        "o_proj": (queries, hidden),
    }
    torch.manual_seed(1)
    weights = {}
    for layer in range(shapes["num_hidden_layers"]):
        for name in TARGETS:
            read, write = sizes[name]
            stem = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights[f"{stem}.lora_A.weight"] = torch.randn(RANK, read) * 0.3
            weights[f"{stem}.lora_B.weight"] = torch.randn(write, RANK) * 0.3
    target.mkdir(parents=True, exist_ok=True)
    safetensors.save_file(weights, target / "adapter_model.safetensors")
    told = {"peft_type": "LORA", "r": RANK, "lora_alpha": RANK, "target_modules": list(TARGETS), "bias": "none"}
    (target / "adapter_config.json").write_text(json.dumps({**told, "task_type": "CAUSAL_LM"}))


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
