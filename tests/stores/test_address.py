"""Where a Redis server is: said once, and never with a password in a file."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.stores._address import Address


def test_an_address_or_the_variable_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_REDIS", "redis://:secret@127.0.0.1:6379/1")
    assert Address(url="redis://127.0.0.1:6379/0").address == "redis://127.0.0.1:6379/0"
    assert Address(url_env="SOME_REDIS").address == "redis://:secret@127.0.0.1:6379/1"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "name the server in `url`"),
        ({"url": "redis://127.0.0.1", "url_env": "SOME_REDIS"}, "name the server in `url`"),
        ({"url_env": "NO_SUCH_REDIS"}, "NO_SUCH_REDIS is empty"),
        ({"url": "redis://:secret@127.0.0.1"}, "must not hold a password"),
        ({"url": "redis://127.0.0.1?password=secret"}, "must not hold a password"),
        ({"url": "127.0.0.1"}, "redis://host:6379/0"),
    ],
)
def test_what_is_wrong_with_one_is_said(said: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Address.model_validate(said)
