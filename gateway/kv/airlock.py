"""The only file that imports vLLM: the names we build on, its objects put into our words, its private hooks checked.

Made for vLLM 0.32. Another version may have moved a private hook: `missing_hooks` says so, and the plugin then leaves
splicing alone.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import vllm
from vllm.distributed.kv_transfer.kv_connector.v1 import (
    KVConnectorBase_V1 as ConnectorBase,
)
from vllm.distributed.kv_transfer.kv_connector.v1 import (
    KVConnectorRole as Role,
)
from vllm.distributed.kv_transfer.kv_connector.v1 import (
    SupportsHMA as SupportsHybrid,
)
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorHandshakeMetadata as HandshakeBase
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata as MetadataBase
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorWorkerMetadata as WordBase
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics as PromBase
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorStats as StatsBase
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, MLAAttentionSpec, SlidingWindowSpec
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from gateway.kv.ask import parse
from gateway.kv.layout import Layer
from gateway.kv.nouns import Owner
from gateway.kv.plan import Engine, Subject
from gateway.kv.rope import Rope

__all__ = [
    "ConnectorBase",
    "HandshakeBase",
    "LogitsProcessor",
    "MetadataBase",
    "MoveDirectionality",
    "PromBase",
    "Role",
    "Scheduler",
    "StatsBase",
    "SupportsHybrid",
    "WordBase",
]

# The private methods that splicing overrides, and the parameters it counts on.
HOOKS: Mapping[str, tuple[str, ...]] = {
    "_reserve_prefill_lookahead": ("request", "num_computed_tokens", "num_new_tokens"),
    "_update_after_schedule": ("scheduler_output",),
    "_build_kv_connector_meta": ("connector", "scheduler_output"),
    "_preempt_request": ("request", "timestamp"),
    "_handle_failed_recving": ("failed_req_ids",),
    "update_from_output": ("scheduler_output", "model_runner_output"),
    "add_request": ("request",),
}
# Where vLLM itself calls them, and how often: an override that nobody calls would never jump.
CALLED: Mapping[str, Mapping[str, int]] = {
    "schedule": {"_reserve_prefill_lookahead": 2, "_build_kv_connector_meta": 1, "_update_after_schedule": 1},
    "update_from_output": {"_handle_failed_recving": 1},
}


class Unsupported(ValueError):
    """This engine keeps its KV in a way the plugin does not understand; the message says which."""


def missing_hooks(scheduler: type) -> list[str]:
    """What of the scheduler's private hooks is not as it was when this was written."""
    wrong = []
    for name, wanted in HOOKS.items():
        method = getattr(scheduler, name, None)
        told = list(inspect.signature(method).parameters)[1:] if callable(method) else []
        if tuple(told[: len(wanted)]) != wanted:
            wrong.append(name)
    for caller, called in CALLED.items():
        source = inspect.getsource(getattr(scheduler, caller))
        wrong += [name for name, times in called.items() if source.count(f"self.{name}(") != times]
    return wrong


def engine_of(config: Any, kv_config: Any, splices: bool) -> Engine:
    """Block size and windows. Unsupported for what is not plain attention on one worker."""
    if config.parallel_config.world_size > 1:
        raise Unsupported("more than one worker (tensor or pipeline parallel)")
    windows = []
    sizes = set()
    for group in kv_config.kv_cache_groups:
        spec = group.kv_cache_spec
        for one in getattr(spec, "kv_cache_specs", {"": spec}).values():
            if isinstance(one, MLAAttentionSpec) or not isinstance(one, FullAttentionSpec | SlidingWindowSpec):
                raise Unsupported(f"a KV group of kind {type(one).__name__}")
        windows.append(spec.sliding_window if isinstance(spec, SlidingWindowSpec) else None)
        sizes.add(spec.block_size)
    if len(sizes) != 1:
        raise Unsupported(f"KV groups of different block sizes: {sorted(sizes)}")
    return Engine(sizes.pop(), tuple(windows), splices)


def block_size(kv_config: Any) -> int:
    """Tokens in a block."""
    return int(kv_config.kv_cache_groups[0].kv_cache_spec.block_size)


def record_bytes(kv_config: Any) -> int:
    """What one block of all layers takes."""
    return sum(group.kv_cache_spec.page_size_bytes * len(group.layer_names) for group in kv_config.kv_cache_groups)


def identity(config: Any, kv_config: Any) -> dict[str, Any]:
    """What KV depends on, but for the layout: model, revision, weights, dtype, block size, rope, vLLM's version."""
    model = config.model_config
    text = model.hf_text_config
    rope = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None)
    return {
        "model": model.model,
        "revision": model.revision,
        "weights": _weights(Path(model.model)),
        "dtype": str(model.dtype),
        "kv_dtype": str(config.cache_config.cache_dtype),
        "quantization": model.quantization,
        "block_size": sorted({group.kv_cache_spec.block_size for group in kv_config.kv_cache_groups}),
        "layers": sorted(name for group in kv_config.kv_cache_groups for name in group.layer_names),
        "rope": json.loads(json.dumps(rope, default=str)),
        "max_model_len": model.max_model_len,
        "vllm": vllm.__version__,
    }


def _weights(folder: Path) -> str:
    """A folder's weights as they lie there: another training run at the same path is another model."""
    if not folder.is_dir():
        return ""
    told = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.iterdir())
        if path.suffix in (".safetensors", ".bin", ".gguf", ".json")
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def subject_of(request: Any, fingerprint: str) -> Subject | None:
    """A request in our words; None if it does not speak to us. BadAsk if what it says makes no sense."""
    ask = parse(request.kv_transfer_params)
    if ask is None:
        return None
    lora = request.lora_request
    adapter = f"{lora.lora_name}@{lora.lora_path}" if lora else ""
    owner = Owner(ask.owner or request.cache_salt or "", adapter, fingerprint)
    return Subject(request.all_token_ids, owner, ask, _plain(request))


def _plain(request: Any) -> bool:
    """Whether a request is text in, text out, with nothing that looks at the KV we would skip."""
    params = request.sampling_params
    return (
        params is not None
        and params.prompt_logprobs is None
        and request.prompt_embeds is None
        and not request.mm_features
        and not request.resumable
    )


def layers_of(config: Any, kv_config: Any, caches: Mapping[str, torch.Tensor]) -> list[Layer]:
    """Every attention layer's cache, in a fixed order. Unsupported if its blocks are not along one dimension."""
    group_of = {name: number for number, group in enumerate(kv_config.kv_cache_groups) for name in group.layer_names}
    modules = config.compilation_config.static_forward_context
    layers = []
    for name in sorted(group_of, key=_in_order):
        kv, module = caches[name], modules[name]
        dims = [dim for dim, size in enumerate(kv.shape) if size == kv_config.num_blocks]
        if not dims:
            raise Unsupported(f"a cache of shape {tuple(kv.shape)} for {kv_config.num_blocks} blocks")
        spec = kv_config.kv_cache_groups[group_of[name]].kv_cache_spec
        if isinstance(inner := getattr(spec, "kv_cache_specs", None), dict):
            spec = inner[name]
        layers.append(Layer(name, group_of[name], kv, dims[0], spec.num_kv_heads, spec.head_size, _door(module, kv)))
    return layers


def _in_order(name: str) -> tuple[int, str]:
    digits = [part for part in name.split(".") if part.isdecimal()]
    return (int(digits[0]) if digits else -1, name)


def _door(module: Any, kv: torch.Tensor) -> Any:
    def write(keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor) -> None:
        module.impl.do_kv_cache_update(module, keys, values, kv, slots)

    return write


def ropes_of(config: Any, layers: Sequence[Layer]) -> list[Rope]:
    """Each layer's own rotation, read off the module that applies it. Unsupported if a layer has none of its own."""
    if config.model_config.uses_mrope:
        raise Unsupported("rotary positions of several dimensions")
    modules = config.compilation_config.static_forward_context
    parents = dict(_parents({id(modules[layer.name]) for layer in layers}))
    tables: dict[int, Rope] = {}
    ropes = []
    for layer in layers:
        rotary = getattr(parents.get(id(modules[layer.name])), "rotary_emb", None)
        if rotary is None or not hasattr(rotary, "_compute_cos_sin_cache"):
            raise Unsupported(f"no rotary embedding beside {layer.name}")
        if id(rotary) not in tables:
            tables[id(rotary)] = Rope.from_table(rotary._compute_cos_sin_cache().float(), rotary.is_neox_style)
        ropes.append(tables[id(rotary)])
    return ropes


def _parents(wanted: set[int]) -> Iterator[tuple[int, Any]]:
    """The modules that hold the wanted ones. The engine lists attention layers only, so all modules are looked at."""
    for thing in gc.get_objects():
        if issubclass(type(thing), torch.nn.Module):  # by type: some objects warn when asked what they are
            for child in thing._modules.values():
                if id(child) in wanted:
                    yield id(child), thing
