"""A vLLM server is an OpenAI endpoint that says how it is at another place."""

from __future__ import annotations

from gateway.backends import openai, vllm


def test_it_is_asked_for_its_health_where_vllm_tells_it() -> None:
    assert vllm.Plug(name="x", urls=("http://h",)).health_path == "/health"
    assert openai.Plug(name="x", urls=("http://h",)).health_path == "/v1/models"
