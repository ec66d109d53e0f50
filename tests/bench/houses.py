"""The gateway as it is shipped, with other backends and another refine.yaml: what the benches of refining run.

Each runs as `retrace serve` in a process of its own (tests/commands.py), as a user runs it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml

RULES = Path(__file__).parents[2] / "rules"
ALWAYS = {"type": "business", "cases": [{"decision": "force", "why": "always"}]}
"""A tier by which every answer is read once more."""

JSON = {"content-type": "application/json"}
"""The headers of a client."""

Backend = Mapping[str, Any]
Event = dict[str, Any]


def furnished(folder: Path, backends: Sequence[Backend], refine: Mapping[str, Any] | None = None) -> Path:
    """A main file in `folder` with the rules as shipped. Without `refine` no answer is read twice."""
    folder.mkdir(exist_ok=True)
    for name in ("input.yaml", "output.yaml", "reasons.yaml"):
        shutil.copy(RULES / name, folder / name)
    told: dict[str, Any] = {"backends": [*backends], "rules": ["input.yaml", "output.yaml"]}
    if refine is not None:
        _write(folder / "refine.yaml", refine)
        told["refine"] = "refine.yaml"
    return _write(folder / "gateway.yaml", told)


def shipped() -> dict[str, Any]:
    """What rules/refine.yaml says."""
    told: dict[str, Any] = yaml.safe_load((RULES / "refine.yaml").read_text(encoding="utf-8"))
    return told


def scripted(folder: Path, answers: Sequence[Mapping[str, Any]]) -> Backend:
    """A backend that answers from a script; the first answer counts whose `when` stands in the request."""
    _write(folder / "script.yaml", {"answers": [*answers]})
    return {"name": "scripted", "type": "scripted", "file": "script.yaml"}


def _write(path: Path, told: Mapping[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(dict(told), allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


def streamed(pieces: Sequence[str]) -> list[str]:
    """A streamed chat answer as an engine sends it: piece by piece, and one step behind the last its end and [DONE]."""
    said = [_event({"content": piece}) for piece in pieces]
    return [_event({"role": "assistant", "content": ""}), *said, _event({}, "stop") + "\n\ndata: [DONE]"]


def _event(delta: Mapping[str, str], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return orjson.dumps({**head, "choices": [choice]}).decode()


def whole(text: str) -> Event:
    """A chat answer in one piece."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]} | {
        "usage": usage
    }


async def figures(http: aiohttp.ClientSession, url: str) -> dict[str, float]:
    """What /metrics of a gateway says: `name{labels}` -> value."""
    async with http.get(f"{url}/metrics") as page:
        lines = (await page.text()).splitlines()
    pairs = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def total(told: Mapping[str, float], name: str, *labels: str) -> float:
    """The sum of a metric over all that carry these labels (`tier="rules"`)."""
    return sum(
        value
        for metric, value in told.items()
        if metric.partition("{")[0] == name and all(label in metric for label in labels)
    )
