"""The gateway's figures by the names for generative AI: what is counted, for whom, and that labels stay few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.answering import says
from tests.dialects import SURFACES, before
from tests.rig import Running, answers, completion, gateway, raw_answer, regex, upstream


def labels(operation: str = "chat", model: str = "m") -> str:
    """As they stand on the page, by their names."""
    told = f'gen_ai_operation_name="{operation}",gen_ai_provider_name="vllm"'
    return f'{told},gen_ai_request_model="{model}"'


async def counted(running: Running) -> dict[str, float]:
    """All counts and sums of these figures that are not 0."""
    told = await running.metrics()
    kinds = ("_count{", "_sum{")
    return {
        name: value for name, value in told.items() if "gen_ai_" in name and any(k in name for k in kinds) and value
    }


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("surface", SURFACES)
async def test_each_surface_is_counted_once_by_its_operation(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("all ", "fine"), backend={"models": ["m"]}) as (sdks, _):
        await sdks.ask(surface, stream)
        told = await counted(sdks.running)
    whom = labels("text_completion" if surface == "completions" else "chat")
    assert told[f'gen_ai_server_request_duration_seconds_count{{error_type="",{whom}}}'] == 1
    assert told.get(f"gen_ai_server_time_to_first_token_seconds_count{{{whom}}}") == (1 if stream else None)
    assert told[f'gen_ai_client_token_usage_sum{{{whom},gen_ai_token_type="input"}}'] == 7
    assert told[f'gen_ai_client_token_usage_sum{{{whom},gen_ai_token_type="output"}}'] == 5


async def test_a_model_that_the_configuration_does_not_name_is_one_of_others(tmp_path: Path) -> None:
    """However many names clients make up, or a pattern lets through."""
    async with (
        upstream(answers(completion("fine"))) as (url, _),
        gateway(tmp_path, [url], [], backend={"models": ["m", "made-up-*"]}) as running,
    ):
        for n in range(40):
            await running.chat(model=f"made-up-{n}")
        await running.chat()
        told = await counted(running)
    names = {name for name in told if name.startswith("gen_ai_server_request_duration_seconds_count")}
    start = 'gen_ai_server_request_duration_seconds_count{error_type="",'
    assert names == {f"{start}{labels(model='other')}}}", f"{start}{labels()}}}"}
    assert told[f"{start}{labels(model='other')}}}"] == 40


async def test_what_fails_says_how_and_what_asked_nobody_is_not_counted(tmp_path: Path) -> None:
    async with (
        upstream(raw_answer(b"")) as (url, _),
        gateway(tmp_path, [url], [regex("bomb", side="input")], backend={"models": ["m"]}) as running,
    ):
        await running.chat("a bomb")
        await running.http.get(f"{running.url}/v1/nothing")
        await running.http.post(f"{running.url}/v1/chat/completions", data=b"{")
        assert await counted(running) == {}
        await running.chat()
        told = await counted(running)
    assert told[f'gen_ai_server_request_duration_seconds_count{{error_type="502",{labels()}}}'] == 1
    assert not any("token" in name for name in told)


async def test_buckets_are_those_of_the_conventions(tmp_path: Path) -> None:
    async with before(tmp_path, says("fine")) as (sdks, _):
        await sdks.ask("chat", True)
        told = await sdks.running.metrics()
    assert _bounds(told, "gen_ai_client_token_usage")[:4] == [1, 4, 16, 64]
    assert _bounds(told, "gen_ai_client_token_usage")[-1] == 67_108_864
    assert _bounds(told, "gen_ai_server_request_duration_seconds") == [0.01 * 2**n for n in range(14)]
    assert _bounds(told, "gen_ai_server_time_to_first_token_seconds")[::15] == [0.001, 10.0]


def _bounds(told: dict[str, Any], name: str) -> list[float]:
    found = {one.split('le="')[1].split('"')[0] for one in told if one.startswith(f"{name}_bucket{{")}
    return sorted(float(bound) for bound in found if bound != "+Inf")
