"""Which headers cross the house."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from gateway import headers


def test_only_what_is_named_goes_upstream() -> None:
    sent = {
        "authorization": "Bearer secret",
        "x-api-key": "secret",
        "cookie": "secret",
        "host": "here",
        "content-type": "application/json",
        "traceparent": "00-1",
        "x-request-id": "mine",
        "x-retrace-explain": "1",
    }
    assert headers.upstream(sent, "rt-1") == {
        "content-type": "application/json",
        "traceparent": "00-1",
        "x-request-id": "mine",
    }


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "é", "a\n", 'a"', "a/b"])
def test_a_request_id_that_no_log_can_hold_is_replaced(given: str) -> None:
    assert headers.upstream({"x-request-id": given}, "rt-1")["x-request-id"] == "rt-1"


def test_a_request_without_an_id_is_given_one() -> None:
    assert headers.upstream({}, "rt-1") == {"x-request-id": "rt-1"}


def test_what_the_upstream_says_of_its_connection_and_its_secrets_stays_behind() -> None:
    theirs = {
        "Content-Length": "9",
        "content-encoding": "gzip",
        "Transfer-Encoding": "chunked",
        "Set-Cookie": "secret",
        "Connection": "close, X-Hop",
        "connection": "close, X-Hop",
        "x-hop": "1",
        "Server": "uvicorn",
        "x-retrace-verdict": "allow",
        "X-Retrace-Id": "theirs",
        "x-ratelimit": "5",
    }
    told = headers.downstream(theirs, {"x-request-id": "mine"}, "rt-1")
    assert told == {"x-ratelimit": "5", "x-retrace-id": "rt-1", "x-request-id": "mine"}


def test_a_hop_is_left_behind_however_its_header_is_spelled() -> None:
    theirs = CIMultiDict({"Connection": "X-Hop", "x-HOP": "1"})
    assert headers.downstream(theirs, {}, "rt-1") == {"x-retrace-id": "rt-1", "x-request-id": "rt-1"}


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ({"authorization": "Bearer k"}, "k"),
        ({"authorization": "bearer  k "}, "k"),
        ({"x-api-key": "k"}, "k"),
        ({"authorization": "Basic abc", "x-api-key": "k"}, "k"),
        ({"authorization": "Basic abc"}, None),
        ({"authorization": "Bearer"}, None),
        ({"authorization": ""}, None),
        ({}, None),
    ],
)
def test_a_key_is_read_from_where_sdks_put_it(sent: dict[str, str], key: str | None) -> None:
    assert headers.bearer(sent) == key


def test_names_of_exchanges_are_never_the_same() -> None:
    assert len({headers.new_id() for _ in range(1000)}) == 1000
    assert headers.upstream({"x-request-id": headers.new_id()}, "other")["x-request-id"] != "other"
