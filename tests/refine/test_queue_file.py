"""The queue in a file, with gateways and reviewers at it together."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import orjson
import pytest

from gateway.refine._entry import pack
from gateway.refine._lines import append
from gateway.refine._queue_file import Bounds, FileReviewing, FileSink, done, pending, take
from tests.refine.entries import ONE, SOON, entry, ids

WIDE = Bounds(1000, 1 << 20)


def fill(path: Path, count: int, first: int = 0) -> None:
    asyncio.run(FileSink(path, WIDE).write([pack(entry(f"x-{n}")) for n in range(first, first + count)]))


def test_what_was_added_waits_until_somebody_deals_with_it(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    assert pending(path) == take(path, 5, "王") == ((), 0)
    fill(path, 3)
    assert ids(pending(path)) == ["x-0", "x-1", "x-2"]
    assert ids(pending(path, 1)) == ["x-0"]
    assert done(path, "x-1", "wrong", "利率是4%", "王")
    assert not done(path, "x-1", "right")
    assert not done(path, "x-9", "right")
    assert ids(pending(path)) == ["x-0", "x-2"]
    assert pending(path).waiting[0].entry.answer == ONE.answer


def test_two_reviewers_never_take_the_same(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 4)
    assert ids(take(path, 2, "王", now=100)) == ["x-0", "x-1"]
    assert ids(take(path, 5, "Li", now=101)) == ["x-2", "x-3"]
    assert ids(take(path, 5, "Zoe", now=102)) == []
    assert [(one.reviewer, one.since) for one in pending(path).waiting] == [("王", 100)] * 2 + [("Li", 101)] * 2


def test_a_reviewer_sees_first_what_is_his(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 4)
    take(path, 2, "王", now=100)
    done(path, "x-0", "right")
    assert ids(take(path, 2, "王", now=200)) == ["x-1", "x-2"]
    assert [one.since for one in take(path, 9, "王", now=300).waiting] == [100, 200, 300]


def test_what_was_left_lying_may_be_taken_by_another(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 2)
    take(path, 1, "王", now=100, lease=50)
    assert ids(take(path, 2, "Li", now=149, lease=50)) == ["x-1"]
    assert ids(take(path, 2, "Li", now=150, lease=50)) == ["x-1", "x-0"]
    assert ids(take(path, 2, "王", now=151, lease=50)) == []


def test_a_line_torn_by_a_crash_is_told_and_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 1)
    path.write_bytes(path.read_bytes() + pack(ONE)[:40])
    assert (ids(pending(path)), pending(path).unread) == (["x-0"], 1)
    fill(path, 1, first=1)
    assert (ids(take(path, 5, "王")), pending(path).unread) == (["x-0", "x-1"], 1)


def test_a_torn_mark_takes_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 2)
    take(path, 1, "王", now=100)
    marks = tmp_path / "docket.jsonl.marks"
    marks.write_bytes(marks.read_bytes() + b'["x-1","Li"')
    assert [one.reviewer for one in pending(path).waiting] == ["王", ""]
    assert done(path, "x-1", "right")
    assert ids(pending(path)) == ["x-0"]


def test_an_entry_that_was_written_twice_is_one(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 1)
    fill(path, 1)
    assert ids(pending(path)) == ["x-0"]


def test_a_full_queue_first_gives_up_what_is_dealt_with(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    sink = FileSink(path, Bounds(10, 1 << 20))
    assert asyncio.run(sink.write([pack(entry(f"x-{n}")) for n in range(10)])) == 0
    for n in range(3):
        done(path, f"x-{n}", "wrong", "不对", "王", now=5.0)
    take(path, 1, "Li", now=7.0)
    assert asyncio.run(sink.write([pack(entry("new"))])) == 0
    assert ids(pending(path)) == [*(f"x-{n}" for n in range(3, 10)), "new"]
    assert pending(path).waiting[0].reviewer == "Li"
    kept = [orjson.loads(line) for line in (tmp_path / "docket.jsonl.done").read_bytes().splitlines()]
    assert [(one["entry"]["id"], one["mark"]["verdict"]) for one in kept] == [(f"x-{n}", "wrong") for n in range(3)]
    assert kept[0]["mark"] == {"ticket": "x-0", "reviewer": "王", "time": 5.0, "verdict": "wrong", "note": "不对"}
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_then_the_oldest_and_tells_how_many(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    sink = FileSink(path, Bounds(10, 1 << 20))
    lost = [asyncio.run(sink.write([pack(entry(f"x-{n}"))])) for n in range(30)]
    left = ids(pending(path))
    assert sum(lost) + len(left) == 30
    assert 9 <= len(left) <= 10
    assert left[-1] == "x-29"


def test_bytes_are_bounded_like_entries(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    sink = FileSink(path, Bounds(1000, 4000))
    lost = [asyncio.run(sink.write([pack(entry(f"x-{n}"))])) for n in range(40)]
    assert path.stat().st_size <= 4000
    assert sum(lost) + len(ids(pending(path))) == 40


def test_what_is_dealt_with_is_bounded_too(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    sink = FileSink(path, Bounds(5, 2000))
    for n in range(60):
        asyncio.run(sink.write([pack(entry(f"x-{n}"))]))
        done(path, f"x-{n}", "right")
    assert {file.name for file in tmp_path.iterdir()} == {
        *("docket.jsonl", "docket.jsonl.marks", "docket.jsonl.lock", "docket.jsonl.done", "docket.jsonl.done.1")
    }
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 12_000


def test_two_gateways_at_one_file_count_alike(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    one, other = FileSink(path, Bounds(10, 1 << 20)), FileSink(path, Bounds(10, 1 << 20))
    lost = [asyncio.run((one, other)[n % 2].write([pack(entry(f"x-{n}"))])) for n in range(25)]
    assert sum(lost) + len(ids(pending(path))) == 25


def test_a_foreign_line_is_given_up_when_the_queue_is_tidied(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    append(path, [b"no entry"])
    assert pending(path).unread == 1
    assert asyncio.run(FileSink(path, Bounds(1, 1 << 20)).write([pack(ONE)])) >= 1
    assert pending(path).unread == 0


def test_reviewers_and_a_gateway_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    dealt: list[str] = []
    end = time.monotonic() + SOON

    def review(name: str) -> None:
        while len(dealt) < 60 and time.monotonic() < end:
            dealt.extend(one.ticket for one in take(path, 3, name).waiting if done(path, one.ticket, "right"))
            time.sleep(0.001)

    reviewers = [threading.Thread(target=review, args=(name,), daemon=True) for name in ("王", "Li")]
    for reviewer in reviewers:
        reviewer.start()
    sink = FileSink(path, Bounds(20, 1 << 20))
    lost = 0
    for n in range(60):
        lost += asyncio.run(sink.write([pack(entry(f"x-{n}"))]))
        while len(pending(path).waiting) > 10 and time.monotonic() < end:
            time.sleep(0.001)
    for reviewer in reviewers:
        reviewer.join(SOON)
    assert lost == 0
    assert sorted(dealt) == sorted(f"x-{n}" for n in range(60))


async def test_a_tool_may_wait_for_it(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    await FileSink(path, WIDE).write([pack(ONE)])
    reviewing = FileReviewing(path)
    assert ids(await reviewing.take(1, "王")) == ["x-1"]
    assert (await reviewing.pending()).waiting[0].reviewer == "王"
    assert await reviewing.done("x-1", "unclear")
    assert await reviewing.pending() == ((), 0)


def test_a_verdict_that_is_none_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "docket.jsonl"
    fill(path, 1)
    with pytest.raises(ValueError, match="verdict"):
        done(path, "x-0", "perhaps")
    with pytest.raises(ValueError, match="name"):
        take(path, 1, "")
    assert ids(pending(path)) == ["x-0"]
