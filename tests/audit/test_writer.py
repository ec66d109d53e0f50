"""The thread that writes: nobody waits for it, and nothing is lost without a word."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.audit._log import Bounds
from gateway.audit._writer import BATCH, Record, Writer
from gateway.audit.proof import verified
from tests.audit.logs import HOUSE, LARGE, USUAL, exchange, kinds, lines


class Counted(Counter[str]):
    """What becomes of lines."""

    def note(self, event: str, count: int) -> None:
        self[event] += count


def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


@pytest.mark.parametrize("fsync", ["line", "batch", "rotate"])
def test_what_was_put_before_it_is_written_in_order(tmp_path: Path, fsync: Any) -> None:
    counts = Counted()
    writer = Writer(tmp_path, Bounds(LARGE, 16, fsync, 0.001), counts.note)
    writer.start()
    for number in range(BATCH + 50 if fsync != "line" else 20):
        writer.put([Record(exchange(number))])
    writer.stop()
    told = [line["id"] for line in lines(tmp_path) if line["kind"] == "exchange"]
    assert told == [exchange(number)["id"] for number in range(len(told))]
    assert counts == {"written": len(told)}
    assert len(told) >= 20
    assert kinds(tmp_path)[-1] == "stop"


def test_what_was_lost_before_is_told_by_the_next_line(tmp_path: Path) -> None:
    writer = Writer(tmp_path, USUAL, Counted().note)
    writer.start()
    writer.put([Record(exchange(0)), Record(exchange(1))], lost=7)
    writer.stop()
    told = [line for line in lines(tmp_path) if line["kind"] == "exchange"]
    assert [line.get("lost") for line in told] == [7, None]
    (chain,) = verified(tmp_path)
    assert (chain.lost, chain.broken) == (7, None)


def test_what_comes_together_is_written_together(tmp_path: Path) -> None:
    said: list[int] = []
    writer = Writer(tmp_path, USUAL, lambda _event, count: said.append(count))
    writer.put([Record(exchange(number)) for number in range(BATCH + 50)])
    writer.start()
    writer.stop()
    assert said == [BATCH, 50]


def test_an_end_that_is_none_is_left_as_a_break(tmp_path: Path) -> None:
    for number in range(2):
        writer = Writer(tmp_path, USUAL, Counted().note)
        writer.start()
        writer.put([Record(exchange(number))])
        writer.stop(ended=False)
    assert kinds(tmp_path) == ["start", "exchange", "start", "exchange"]
    assert [line["clean"] for line in lines(tmp_path) if line["kind"] == "start"] == [True, False]


def test_a_disk_that_refuses_is_tried_again_until_it_takes_what_waits(tmp_path: Path) -> None:
    counts = Counted()
    (tmp_path / "log").write_text("in the way")
    writer = Writer(tmp_path / "log", USUAL, counts.note)
    writer.start()
    writer.put([Record(exchange(1))])
    until(lambda: counts["failed"] >= 1)
    writer.put([Record(exchange(2))])
    (tmp_path / "log").unlink()
    until(lambda: counts["written"] == 2)
    writer.stop()
    assert kinds(tmp_path / "log") == ["start", "exchange", "exchange", "stop"]
    assert counts["lost"] == 0


def test_what_a_disk_refuses_to_the_end_is_lost_and_counted(tmp_path: Path) -> None:
    counts = Counted()
    (tmp_path / "log").write_text("in the way")
    writer = Writer(tmp_path / "log", USUAL, counts.note)
    writer.start()
    for number in range(4):
        writer.put([Record(exchange(number))])
    until(lambda: counts["failed"] >= 1)
    writer.stop()
    assert counts["lost"] == 4
    assert counts["written"] == 0


def test_what_takes_its_time_is_asked_in_the_thread(tmp_path: Path) -> None:
    asked: list[str] = []

    def more() -> Mapping[str, Any]:
        asked.append(threading.current_thread().name)
        return {"said": {"0": "words"}}

    writer = Writer(tmp_path, USUAL, Counted().note)
    writer.start()
    writer.put([Record(exchange(1), more)])
    writer.stop()
    assert asked == ["audit"]
    assert lines(tmp_path)[1]["said"] == {"0": "words"}


def test_words_that_can_t_be_written_down_cost_nothing_but_themselves(tmp_path: Path) -> None:
    def broken() -> Mapping[str, Any]:
        raise MemoryError("too large a set of rules")

    counts = Counted()
    writer = Writer(tmp_path, USUAL, counts.note)
    writer.start()
    writer.put([Record(exchange(1), broken)])
    writer.put([Record(exchange(2))])
    writer.stop()
    assert [line.get("words") for line in lines(tmp_path)[1:3]] == ["failed", None]
    assert counts == {"written": 2, "failed": 1}


def test_what_can_t_be_json_is_given_up_and_the_rest_goes_on(tmp_path: Path) -> None:
    counts = Counted()
    writer = Writer(tmp_path, USUAL, counts.note)
    writer.start()
    writer.put([Record(exchange(1))])
    writer.put([Record({"kind": "odd", "what": object()})])
    writer.put([Record(exchange(2))])
    writer.stop()
    assert kinds(tmp_path) == ["start", "exchange", "exchange", "stop"]
    assert (counts["written"], counts["lost"]) == (2, 1)


def test_what_sticks_stands_in_each_file(tmp_path: Path) -> None:
    writer = Writer(tmp_path, Bounds(3000, 100, "line", 0.001), Counted().note)
    writer.start()
    writer.put([Record(HOUSE, sticks=True)])
    for number in range(20):
        writer.put([Record(exchange(number))])
    writer.stop()
    files = sorted(tmp_path.glob("*.jsonl"))
    assert len(files) > 2
    assert all(b'"kind":"house"' in path.read_bytes() for path in files)


def test_two_writers_of_one_folder_have_a_chain_each(tmp_path: Path) -> None:
    writers = [Writer(tmp_path, USUAL, Counted().note) for _ in range(2)]
    for number, writer in enumerate(writers):
        writer.start()
        writer.put([Record(exchange(number))])
        until(lambda name=f"w{number}": list(tmp_path.glob(f"{name}-*")))  # type: ignore[misc]
    for writer in writers:
        writer.stop()
    assert [chain.worker for chain in verified(tmp_path)] == ["w0", "w1"]
