"""What waits for the clerk, and the clerk himself: a real process, which may be killed."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from gateway.audit import _desk, _hire, record
from gateway.audit._desk import Desk
from gateway.audit._letters import Standing
from gateway.audit._log import Bounds
from gateway.audit._row import Fields
from gateway.audit._words import Policy
from gateway.audit.proof import verified
from gateway.ledger import Trip
from gateway.types import Exchange, Principal, Text
from tests.audit.logs import HOUSE, LARGE, USUAL, kinds, lines, name
from tests.audit.test_writer import Counted
from tests.rig import until

STANDING = Standing(Policy("redacted"), HOUSE)
MAIL = "li.wei@example.com"


def trip(number: int, text: str = "hello") -> Trip:
    """An exchange, as it is put."""
    asked = Exchange(name(number), "chat", "m", Principal(), (Text((), "user", text),), True)
    made = Trip(0.0, "chat", 200, exchange=asked)
    made.said = {0: "fine"}
    return made


def told(made: Trip) -> Fields:
    assert made.exchange is not None
    return record.row(made, made.exchange, made.said)


@asynccontextmanager
async def desk(folder: Path, counts: Counted, most: int = 1000, bounds: Bounds = USUAL) -> AsyncIterator[Desk[Trip]]:
    made = Desk(folder, bounds, most, told, counts.note)
    made.start()
    made.stand(STANDING)
    try:
        yield made
    finally:
        await made.stop()


def clerks() -> list[psutil.Process]:
    """The processes that write for us."""
    return [child for child in psutil.Process().children() if "gateway.audit._clerk" in child.cmdline()]


def ids(folder: Path, worker: str = "w0") -> list[str]:
    return [line["id"] for line in lines(folder, worker) if line["kind"] == "exchange"]


async def test_what_is_put_is_written_in_order_and_redacted(tmp_path: Path) -> None:
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        for number in range(5):
            made.put(trip(number, f"I am {MAIL}"))
        made.put({"kind": "act", "what": "off"})
    assert kinds(tmp_path) == ["start", "house", *["exchange"] * 5, "act", "stop"]
    assert ids(tmp_path) == [name(number) for number in range(5)]
    assert {line["asked"][0]["text"] for line in lines(tmp_path) if line["kind"] == "exchange"} == {"I am [***]"}
    assert counts == {"written": 7}
    assert clerks() == []


@pytest.mark.parametrize("fsync", ["line", "batch"])
async def test_it_is_written_without_an_end_as_well(tmp_path: Path, fsync: Any) -> None:
    counts = Counted()
    async with desk(tmp_path, counts, bounds=Bounds(LARGE, 16, fsync, 0.01)) as made:
        made.put(trip(1))
        await until(lambda: counts["written"] == 2, 20)
        made.put(trip(2))
        await until(lambda: counts["written"] == 3, 20)
        assert ids(tmp_path) == [name(1), name(2)]


async def test_what_finds_no_room_is_counted_and_told_by_the_next_line(tmp_path: Path) -> None:
    counts = Counted()
    async with desk(tmp_path, counts, most=4) as made:  # one of them is the configuration's
        for number in range(10):
            made.put(trip(number))
        assert counts == {"lost": 7}
        await until(lambda: counts["written"] == 4, 20)
        made.put(trip(10))
    assert [line["lost"] for line in lines(tmp_path) if "lost" in line] == [7]
    (chain,) = verified(tmp_path)
    assert (chain.lost, chain.broken) == (7, None)


async def test_what_is_with_the_clerk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_desk, "ROOM", 4000)
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        await until(lambda: counts["written"] == 1, 20)
        (clerk,) = clerks()
        clerk.send_signal(signal.SIGSTOP)
        made.put(trip(0, "x" * 4000))
        await until(lambda: made.handed == 1)
        made.put(trip(1))
        assert counts["lost"] == 1
        clerk.send_signal(signal.SIGCONT)
        await until(lambda: counts["written"] == 2, 20)
        made.put(trip(2))
    assert ids(tmp_path) == [name(0), name(2)]


async def test_a_clerk_who_dies_is_followed_by_another(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        made.put(trip(1))
        await until(lambda: counts["written"] == 2, 20)
        (clerk,) = clerks()
        clerk.kill()
        made.put(trip(2))
        await until(lambda: counts["written"] >= 4, 20)
    assert ids(tmp_path) == [name(1), name(2)]
    starts = [line for line in lines(tmp_path) if line["kind"] == "start"]
    assert [line["clean"] for line in starts] == [True, False]
    assert counts["failed"] == 1
    assert "the process that writes the audit log is gone" in caplog.text
    assert all(chain.broken is None for chain in verified(tmp_path))


async def test_what_a_dead_clerk_did_not_say_to_be_written_is_written_again(tmp_path: Path) -> None:
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        await until(lambda: counts["written"] == 1, 20)
        (clerk,) = clerks()
        clerk.send_signal(signal.SIGSTOP)
        for number in range(3):
            made.put(trip(number, f"I am {MAIL}"))
        await until(lambda: made.handed == 3, 20)
        clerk.kill()
        await until(lambda: counts["written"] == 5, 20)
    assert ids(tmp_path) == [name(0), name(1), name(2)]
    assert MAIL not in str(lines(tmp_path))
    assert [line.get("again") for line in lines(tmp_path) if line["kind"] == "start"] == [None, 3]
    assert "lost" not in counts


async def test_a_clerk_does_not_hear_what_is_meant_for_the_gateway(tmp_path: Path) -> None:
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        await until(lambda: counts["written"] == 1, 20)
        (clerk,) = clerks()
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            clerk.send_signal(sent)
        made.put(trip(1))
    assert kinds(tmp_path) == ["start", "house", "exchange", "stop"]
    assert "failed" not in counts


async def test_what_nobody_can_write_is_lost_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hire, "COMMAND", (str(tmp_path / "nobody"),))
    counts = Counted()
    with caplog.at_level(logging.ERROR):
        async with desk(tmp_path, counts) as made:
            made.put(trip(1))
            await until(lambda: counts["failed"] >= 1, 20)
    assert counts["lost"] == 2
    assert "can't be started" in caplog.text


async def test_what_a_disk_refuses_to_the_end_is_lost_counted_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "log").write_text("in the way")
    counts = Counted()
    with caplog.at_level(logging.ERROR):
        async with desk(tmp_path / "log", counts) as made:
            made.put(trip(1))
            await until(lambda: counts["failed"] >= 1, 20)
    assert (counts["lost"], counts["written"]) == (2, 0)
    assert "can't be written" in caplog.text


async def test_what_can_t_be_handed_over_is_given_up_and_the_rest_goes_on(tmp_path: Path) -> None:
    counts = Counted()
    async with desk(tmp_path, counts) as made:
        made.put(trip(1))
        made.put({"kind": "odd", "what": lambda: None})
        made.put(trip(2))
        await until(lambda: counts["lost"] == 1, 20)
        made.put(trip(3))
    assert [line["lost"] for line in lines(tmp_path) if "lost" in line] == [1]
    assert ids(tmp_path) == [name(1), name(2), name(3)]
    assert counts["written"] == 4


@pytest.mark.long
async def test_when_the_gateway_is_killed_the_clerk_writes_what_he_was_given(tmp_path: Path) -> None:
    script = f"""
import asyncio
from pathlib import Path
from tests.audit.test_desk import STANDING, USUAL, Counted, Desk, told, trip
async def main():
    counts = Counted()
    desk = Desk(Path({str(tmp_path)!r}), USUAL, 1000, told, counts.note)
    desk.start()
    desk.stand(STANDING)
    while not counts["written"]:
        await asyncio.sleep(0.01)
    desk.put(trip(1))
    while not counts["written"] > 1:
        await asyncio.sleep(0.01)
    desk.put(trip(2))
    desk._hand_over()
    await asyncio.sleep(0)
    print("handed", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert program.stdout is not None
    assert await program.stdout.readline() == b"handed\n"
    (clerk,) = psutil.Process(program.pid).children()
    program.kill()
    await program.wait()
    await until(lambda: not clerk.is_running() or clerk.status() == psutil.STATUS_ZOMBIE, 20)
    assert ids(tmp_path) == [name(1), name(2)]
    assert kinds(tmp_path)[-1] == "exchange"
