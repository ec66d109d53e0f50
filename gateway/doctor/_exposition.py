"""An engine's page of metrics (Prometheus text format), as far as its KV cache goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.symptoms import Look

_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Sample(NamedTuple):
    """One line of the page."""

    name: str
    labels: dict[str, str]
    value: float


def samples(page: str) -> Iterator[Sample]:
    """All lines that can be read."""
    for line in page.splitlines():
        match = None if line.startswith("#") else _SAMPLE.match(line)
        if not match:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        yield Sample(match[1], dict(_LABEL.findall(match[2] or "")), value)


def look(page: str, at: float) -> Look:
    """What vLLM tells of its KV cache and its requests; `used` is None if it is no vLLM. Several engines are summed,
    and the fullest of their caches counts."""
    found = [one for one in samples(page) if one.name.startswith("vllm:")]
    used = [one.value for one in found if one.name == "vllm:kv_cache_usage_perc"]

    def total(*names: str) -> float:
        return sum(one.value for one in found if one.name in names)

    return Look(
        at=at,
        used=max(used) if used else None,
        capacity=_capacity(found),
        running=total("vllm:num_requests_running"),
        waiting=total("vllm:num_requests_waiting"),
        preempted=total("vllm:num_preemptions_total"),
        prompts=(total("vllm:request_prompt_tokens_sum"), total("vllm:request_prompt_tokens_count")),
        answers=(total("vllm:request_generation_tokens_sum"), total("vllm:request_generation_tokens_count")),
    )


def _capacity(found: list[Sample]) -> float | None:
    """Tokens that the cache holds, of all engines together."""
    sizes = [
        float(one.labels["num_gpu_blocks"]) * float(one.labels["block_size"])
        for one in found
        if one.name == "vllm:cache_config_info"
        and one.labels.get("num_gpu_blocks", "").isdigit()
        and one.labels.get("block_size", "").isdigit()
    ]
    return sum(sizes) or None
