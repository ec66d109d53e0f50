"""A log of any format and size becomes lines; what is wrong with it is counted and named."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import orjson
import pytest

from gateway.assess import log
from gateway.assess._line import Line
from gateway.assess.log import opened
from gateway.assess.tally import Tally
from gateway.errors import ConfigFault
from tests.anything import table
from tests.assess.samples import SHAPES, combined, day, lines, write

DAY = day(60)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz"])
def test_the_format_is_guessed_and_every_line_understood(tmp_path: Path, shape: str, name: str) -> None:
    told = opened(write(tmp_path / name, lines(DAY, shape)))
    found = list(told)
    assert told.format.name == shape
    assert (told.read, told.bad, len(found)) == (60, 0, 60)
    assert sum(bool(line.rejected) for line in found) == 12
    told.close()


def test_the_combined_format_is_guessed_too(tmp_path: Path) -> None:
    told = opened(write(tmp_path / "access.log", [combined(one) for one in DAY]))
    assert (told.format.name, len(list(told))) == ("nginx", 60)
    told.close()


def test_bad_lines_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    good = list(lines(DAY, "bodies"))
    told = opened(write(tmp_path / "log", [good[0], b"{", b"", b'{"x": 1}', *good[1:4], b"words", b"[1]"]))
    assert len(list(told)) == 4
    assert [bad.number for bad in told.named] == [2, 4, 8, 9]
    assert told.named[0].why.startswith("is not JSON")
    assert (told.bad, told.read) == (4, 9)
    told.close()


def test_only_so_many_bad_lines_are_named(tmp_path: Path) -> None:
    told = opened(write(tmp_path / "log", [next(lines(DAY, "bodies")), *[b"{"] * 50]))
    assert len(list(told)) == 1
    assert (told.bad, len(told.named)) == (50, log.NAMED)
    told.close()


def test_a_line_that_is_far_too_long_is_passed_over_whole(tmp_path: Path) -> None:
    good = list(lines(DAY, "bodies"))
    told = opened(write(tmp_path / "log", [good[0], b'{"x": "' + b"y" * (2 * log.LONGEST) + b'"}', good[1]]))
    assert len(list(told)) == 2
    assert [(bad.number, "longer" in bad.why) for bad in told.named] == [(2, True)]
    told.close()


def test_an_archive_that_breaks_off_gives_what_stands_before_it(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    raw = gzip.compress(b"\n".join(lines(day(2000), "bodies")), compresslevel=1)
    path.write_bytes(raw[: len(raw) // 2])
    told = opened(path)
    assert len(list(told)) > log.BY
    assert told.bad == 1
    assert "breaks off" in told.named[0].why
    told.close()


@pytest.mark.parametrize(
    ("raw", "words"), [(b"", "empty"), (b"\n\n", "empty"), (b"some words\nand more\n", "no format that is understood")]
)
def test_what_is_no_log_is_said_with_the_fix(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(raw)
    with pytest.raises(ConfigFault) as caught:
        opened(path)
    (complaint,) = caught.value.complaints
    assert words in complaint.problem
    assert "litellm" in complaint.fix


def test_a_log_that_is_not_there_and_a_format_that_is_none_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="can't be read"):
        opened(tmp_path / "none")
    path = write(tmp_path / "log", lines(DAY, "bodies"))
    with pytest.raises(ConfigFault, match="no format"):
        opened(path, "xml")
    told = opened(path, "nginx")
    assert told.format.name == "nginx"
    told.close()


_WORDS: tuple[str, ...] = (
    "messages",
    "prompt",
    "content",
    "text",
    "role",
    "request",
    "response",
    "body",
    "choices",
    "message",
    "usage",
)
_WORDS += (
    "finish_reason",
    "error",
    "code",
    "call_type",
    "startTime",
    "status",
    "metadata",
    "verdict",
    "surface",
    "said",
)
_WORDS += ("asked", "refined", "attempts", "request_length", "status_fields", "guardrail_information", "tenant", "at")


@pytest.mark.long
def test_whatever_a_line_holds_it_is_a_request_or_it_is_not() -> None:
    chance, tally = random.Random(7), Tally()
    for _ in range(5000):
        row = table(chance, _WORDS)
        found = [log._read(format, orjson.dumps(row)) for format in log.FORMATS]
        assert all(line is None or isinstance(line, Line) for line in found), row
        for line in filter(None, found):
            tally.add(line)
    figures = tally.figures()
    assert 0 < figures.rejected < figures.judged < figures.requests
