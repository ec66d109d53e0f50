"""Access logs: the combined format and JSON, and only requests that generate."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.assess import _nginx
from gateway.assess._line import NOTHING, Line
from tests.assess.samples import combined, day, nginx

ONE, REJECTED = day()[1], day()[0]


def test_the_combined_format_tells_time_status_and_what_was_sent() -> None:
    line = _nginx.read(combined(ONE), None)
    assert line == Line(at=ONE.at, rejected=False, said=len(ONE.answer) + 200)
    refused = _nginx.read(combined(REJECTED), None)
    assert refused is not None
    assert refused.rejected
    longer = _nginx.read(combined(ONE) + b" request_length=5000", None)
    assert longer is not None
    assert longer.asked == 5000


def test_variables_as_json_tell_the_request_s_length_too() -> None:
    line = _nginx.read(b"", nginx(ONE))
    assert line == Line(at=ONE.at, rejected=False, asked=len(ONE.prompt) + 300, said=len(ONE.answer) + 200)
    local = nginx(ONE) | {"time_local": "14/Nov/2023:22:13:20 +0000"}
    del local["time_iso8601"]
    told = _nginx.read(b"", local)
    assert told is not None
    assert told.at == 1_700_000_000.0


@pytest.mark.parametrize("path", ["/metrics", "/v1/models", "/v1/embeddings"])
def test_what_generates_nothing_is_on_no_request(path: str) -> None:
    assert _nginx.read(b"", nginx(ONE) | {"request": f"GET {path} HTTP/1.1"}) is NOTHING


@pytest.mark.parametrize("told", [{}, {"status": 200}, {"status": 200, "request": "POST /v1/completions"}])
def test_anything_else_is_of_another_format(told: dict[str, Any]) -> None:
    assert _nginx.read(b"", told) is None
    assert _nginx.read(b"just words", None) is None
