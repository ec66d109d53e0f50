"""Addresses of services, and the keys for them, as YAML says them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.addresses import Keyed, http

CHECKED = http("http://host:9000/verify")


@pytest.mark.parametrize("url", ["http://h", "https://h:8443/a/b?c=d", "http://[::1]:8000"])
def test_an_address_is_taken_as_it_is(url: str) -> None:
    assert CHECKED(url) == url


@pytest.mark.parametrize("url", ["host:80", "ftp://h", "http://", "", "/path"])
def test_what_is_none_is_told_with_an_example(url: str) -> None:
    with pytest.raises(ValueError, match=r"no http\(s\) address; write it as http://host:9000/verify"):
        CHECKED(url)


@pytest.mark.parametrize("url", ["http://me:secret@h", "http://me@h"])
def test_a_password_never_stands_in_one(url: str) -> None:
    with pytest.raises(ValueError, match="must not hold a password"):
        CHECKED(url)


def test_a_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Keyed().key is None
    for empty in (None, ""):
        monkeypatch.delenv("A_KEY", raising=False) if empty is None else monkeypatch.setenv("A_KEY", empty)
        with pytest.raises(ValidationError, match="the environment variable A_KEY is empty; export it"):
            Keyed(key_env="A_KEY")
    monkeypatch.setenv("A_KEY", "k")
    assert Keyed(key_env="A_KEY").key == "k"
