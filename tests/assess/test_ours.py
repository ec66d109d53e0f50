"""The gateway's own lines: as it really writes them, and what stands between them."""

from __future__ import annotations

import logging
from pathlib import Path

import orjson
import pytest

from gateway.assess import _ours
from gateway.assess._line import NOTHING
from tests.assess.samples import day, retrace
from tests.rig import answers, completion, gateway, regex, upstream


async def test_what_a_gateway_logs_is_understood(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with (
        upstream(answers(completion("a bomb"))) as (url, _),
        gateway(tmp_path, [url], [regex("bomb")]) as running,
        await running.chat("hello") as response,
    ):
        await response.read()
    (told,) = [record.getMessage() for record in caplog.records if record.name == "gateway.ledger"]
    stamped = f"2023-11-14 22:13:20,500 INFO {told}".encode()
    line = _ours.read(stamped, None)
    assert line is not None
    assert (line.rejected, line.prompt, line.completion, line.at) == (True, 7, 5, 1_700_000_000.5)
    bare = _ours.read(told.encode(), orjson.loads(told))
    assert bare is not None
    assert (bare.rejected, bare.at) == (True, None)


def test_a_line_of_the_audit_log_tells_words_cuts_and_the_second_reading() -> None:
    told = retrace(day()[1]) | {"refined": {"0": {"outcome": "corrected"}}}
    line = _ours.read(b"", told)
    assert line is not None
    assert (line.rejected, line.way, line.answer) == (False, "corrected", day()[1].answer)
    assert line.question == day()[1].prompt
    assert line.asked == len(day()[1].prompt)
    cut = _ours.read(b"", told | {"attempts": [{"rule": "r"}]})
    assert cut is not None
    assert cut.rejected
    hashed = _ours.read(b"", told | {"asked": [{"role": "user", "text": {"hmac": "x"}}], "said": {"0": {"hmac": "x"}}})
    assert hashed is not None
    assert (hashed.body, hashed.answer) == (None, "")


@pytest.mark.parametrize(
    "raw",
    [
        b"2023-11-14 22:13:20,500 WARNING configuration abc is in force: 3 rules",
        orjson.dumps({"seq": 1, "prev": "0" * 64, "kind": "start"}),
    ],
)
def test_other_lines_of_ours_are_on_no_request(raw: bytes) -> None:
    told = orjson.loads(raw) if raw.startswith(b"{") else None
    assert _ours.read(raw, told) is NOTHING


@pytest.mark.parametrize("raw", [b"hello", b'x {"a": 1', b"1 2 3 4 5"])
def test_anything_else_is_of_another_format(raw: bytes) -> None:
    assert _ours.read(raw, None) is None
