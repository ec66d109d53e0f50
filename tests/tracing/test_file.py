"""What gateway.yaml says of traces."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.tracing.file import ENDPOINTS, Tracing, headers


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINTS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://h:4318", "http://h:4318/v1/traces"),
        ("http://h:4318/", "http://h:4318/v1/traces"),
        ("https://h/otlp/v1/traces", "https://h/otlp/v1/traces"),
    ],
)
def test_an_address_without_a_path_is_given_one(endpoint: str, url: str) -> None:
    assert Tracing(endpoint=endpoint).url == url


@pytest.mark.parametrize(
    ("names", "url"),
    [
        ({ENDPOINTS[1]: "http://base:4318"}, "http://base:4318/v1/traces"),
        ({ENDPOINTS[1]: "http://base:4318/otlp/"}, "http://base:4318/otlp/v1/traces"),
        ({ENDPOINTS[0]: "http://whole/x"}, "http://whole/x"),
        ({ENDPOINTS[0]: "http://whole/x", ENDPOINTS[1]: "http://base"}, "http://whole/x"),
    ],
)
def test_the_environment_s_usual_names_are_heard(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, str], url: str
) -> None:
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert Tracing().url == url
    assert Tracing(endpoint="http://ours:1").url == "http://ours:1/v1/traces"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "set `endpoint`"),
        ({"endpoint": "host:4318"}, "no http"),
        ({"endpoint": "grpc://host:4317"}, "no http"),
        ({"endpoint": "http://u:secret@host"}, "headers_env"),
        ({"endpoint": "http://h", "headers_env": "NOT_SET_ANYWHERE"}, "export it"),
        ({"endpoint": "http://h", "sample": 1.5}, "less than or equal"),
        ({"endpoint": "http://h", "per_second": 0}, "greater than"),
        ({"endpoint": "http://h", "queue": 0}, "greater than"),
        ({"endpoint": "http://h", "endpiont": "x"}, "not permitted"),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says) as caught:
        Tracing.model_validate(fields)
    assert "secret" not in caught.value.errors(include_input=False, include_url=False)[0]["msg"]


def test_headers_come_from_the_environment_and_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACE_HEADERS", "authorization=Bearer%20tok,x-team = a ")
    spec = Tracing(endpoint="http://h", headers_env="TRACE_HEADERS")
    assert spec.headers == {"authorization": "Bearer tok", "x-team": "a"}
    assert "tok" not in repr(spec)
    monkeypatch.setenv("TRACE_HEADERS", "Bearer tok")
    with pytest.raises(ValidationError, match="name=value"):
        Tracing(endpoint="http://h", headers_env="TRACE_HEADERS")


@pytest.mark.parametrize("told", ["a", "=b", "a b=c", "a=b,", "a=%0d%0aInjected: x", "a=é"])
def test_what_are_no_headers_is_none(told: str) -> None:
    assert headers(told) is None


def test_without_headers_of_its_own_the_exporter_takes_its_usual_ones() -> None:
    assert Tracing(endpoint="http://h").headers is None
