"""The living docket: nobody waits for it, and what is lost is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from gateway.refine.docket import Docket, DocketSpec, FileDocket, RedisDocket
from tests.refine.entries import Shelf, entry, ids, until, until_listed

SPEC: TypeAdapter[FileDocket | RedisDocket] = TypeAdapter(Annotated[DocketSpec, Field(discriminator="type")])


async def test_what_is_added_is_written_in_order() -> None:
    shelf, heard = Shelf(), list[str]()
    docket = Docket(shelf, heard.append)
    docket.add(entry("before"))
    await docket.start()
    for n in range(100):
        docket.add(entry(f"x-{n}"))
    await docket.stop()
    assert shelf.written == ["before", *(f"x-{n}" for n in range(100))]
    assert heard == []
    assert shelf.closed


async def test_while_the_queue_is_away_entries_wait_and_then_go_out() -> None:
    shelf, heard = Shelf(), list[str]()
    docket = Docket(shelf, heard.append)
    await docket.start()
    shelf.fault = "unreachable"
    docket.add(entry("a"))
    docket.add(entry("b"))
    await until(lambda: shelf.tries >= 2)
    assert len(docket) == 2
    assert not docket.up
    shelf.fault = ""
    await until(lambda: shelf.written == ["a", "b"])
    assert docket.up
    assert set(heard) == {"unreachable"}
    await docket.stop()


async def test_of_too_many_the_oldest_are_given_up_and_counted() -> None:
    shelf, heard = Shelf(), list[str]()
    docket = Docket(shelf, heard.append, most=5)
    for n in range(12):
        docket.add(entry(f"x-{n}"))
    assert (len(docket), heard) == (5, ["displaced"] * 7)
    await docket.start()
    await docket.stop()
    assert shelf.written == [f"x-{n}" for n in range(7, 12)]


async def test_bytes_are_bounded_too() -> None:
    shelf, heard = Shelf(), list[str]()
    docket = Docket(shelf, heard.append, size=1500)
    for n in range(12):
        docket.add(entry(f"x-{n}"))
    assert 1 <= len(docket) < 12
    assert len(docket) + len(heard) == 12
    docket = Docket(shelf, heard.append, size=10)
    docket.add(entry("too large"))
    assert len(docket) == 0


async def test_what_is_not_written_when_all_ends_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.refine._docket._PATIENCE", 0.05)
    shelf, heard = Shelf(), list[str]()
    shelf.fault = "full"
    docket = Docket(shelf, heard.append)
    await docket.start()
    docket.add(entry("a"))
    docket.add(entry("b"))
    await docket.stop()
    assert Counter(heard)["lost"] == 2
    assert shelf.closed


async def test_what_the_queue_gave_up_is_counted() -> None:
    shelf, heard = Shelf(), list[str]()
    shelf.dropped = 3
    docket = Docket(shelf, heard.append)
    await docket.start()
    docket.add(entry("a"))
    await docket.stop()
    assert heard == ["dropped"] * 3


async def test_a_file_is_named_relative_to_the_configuration(tmp_path: Path) -> None:
    spec = SPEC.validate_python({"type": "file", "path": "queue/docket.jsonl"})
    docket = spec.connect(tmp_path, lambda _: None)
    await docket.start()
    docket.add(entry("a"))
    assert await until_listed(spec.reviewing(tmp_path).pending, 1) == ["a"]
    await docket.stop()
    assert (tmp_path / "queue" / "docket.jsonl").exists()
    assert ids(await spec.reviewing(tmp_path).take(5, "王")) == ["a"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"type": "file"}, "path"),
        ({"type": "kafka"}, "tag"),
        ({"type": "file", "path": "a", "most": 0}, "most"),
        ({"type": "file", "path": "a", "stream": "s"}, "stream"),
        ({"type": "redis"}, "url_env"),
        ({"type": "redis", "url": "redis://a", "url_env": "B"}, "url_env"),
        ({"type": "redis", "url": "http://a"}, "redis://host:6379/0"),
        ({"type": "redis", "url": "redis://:secret@a"}, "password"),
        ({"type": "redis", "url_env": "NO_SUCH_VARIABLE_HERE"}, "empty"),
        ({"type": "redis", "url": "redis://a", "stream": "a b"}, "stream"),
    ],
)
def test_what_makes_no_queue_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as told:
        SPEC.validate_python(fields)
    assert said in str(told.value)
    assert "secret" not in str(told.value).partition("[type=")[0]


def test_an_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_ADDRESS", "redis://:secret@127.0.0.1:1/0")
    spec = RedisDocket(url_env="QUEUE_ADDRESS")
    assert spec.address.endswith("@127.0.0.1:1/0")
    assert "secret" not in repr(spec)
