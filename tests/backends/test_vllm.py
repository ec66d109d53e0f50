"""A vLLM server is an OpenAI endpoint that says how it is at another place."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.backends import openai, vllm


def test_it_is_asked_for_its_health_where_vllm_tells_it() -> None:
    assert vllm.Plug(name="x", urls=("http://h",)).health_path == "/health"
    assert openai.Plug(name="x", urls=("http://h",)).health_path == "/v1/models"


def test_only_a_vllm_may_have_the_plugin() -> None:
    assert vllm.Plug(name="x", urls=("http://h",)).plugin() is not None
    assert openai.Plug(name="x", urls=("http://h",)).plugin() is None


@pytest.mark.parametrize("secret", ["two words", "line\n", "schlüssel", "\t"])
def test_a_secret_that_no_header_can_carry_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", secret)
    with pytest.raises(ValidationError, match="RETRACE_ENGINE_SECRET holds") as told:
        vllm.Plug(name="x", urls=("http://h",))
    assert secret not in told.value.errors()[0]["msg"]


def test_no_secret_or_an_ordinary_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for secret in ("", "Az09-_+/=~!"):
        monkeypatch.setenv("RETRACE_ENGINE_SECRET", secret)
        assert vllm.Plug(name="x", urls=("http://h",)).plugin()
