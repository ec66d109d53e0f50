"""What YAML says of an endpoint."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.backends.openai import Plug


@pytest.mark.parametrize("url", ["http://h:8000", "http://h:8000/", "http://h:8000/v1", "http://h:8000/v1/"])
def test_an_address_may_end_as_sdks_write_it(url: str) -> None:
    assert Plug(name="x", urls=(url,)).urls == ("http://h:8000",)


@pytest.mark.parametrize("url", ["h:8000", "ftp://h", "", "http://", "http://user:word@h"])
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValidationError) as told:
        Plug(name="x", urls=(url,))
    assert "word@" not in str(told.value.errors(include_input=False))


def test_a_key_comes_from_the_environment_or_the_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="RETRACE_TEST_KEY is empty"):
        Plug(name="x", urls=("http://h",), key_env="RETRACE_TEST_KEY")
    monkeypatch.setenv("RETRACE_TEST_KEY", "sk-1")
    assert Plug(name="x", urls=("http://h",), key_env="RETRACE_TEST_KEY").key_env == "RETRACE_TEST_KEY"
