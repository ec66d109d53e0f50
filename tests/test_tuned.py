"""tuned.yaml has two writers, and each keeps what is the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import tuned
from gateway.errors import ConfigFault
from gateway.overlay import EMPTY, Brake, Noted, Overlay, Returned
from gateway.terms import Lookup, TunedFile

HAND = Overlay(
    bits=2,
    moved=1764518887.123456,
    codes={"R203": Brake(cause="latency", since=1.5, pause=3600, next=3601.5, tried=4000.25, tries=2)},
    returned={"R101": Returned(at=7.0, pause=60)},
    back=("R101",),
    share=0.25,
    acts=(Noted(at=1764518887.125, what="off", code="R203", why="LD +1.0% (-2.0% to +4.0%, of 90), 很多: 'x'"),),
)


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tuned.yaml"
    assert tuned.read(path) == TunedFile()
    tuned.write_hand(path, HAND)
    assert tuned.read(path).hand == HAND
    assert [file.name for file in tmp_path.iterdir()] == ["tuned.yaml"]


def test_each_writer_keeps_what_is_the_other_s(tmp_path: Path) -> None:
    path = tmp_path / "tuned.yaml"
    tuned.write_lookup(path, Lookup(), "s.jsonl")
    tuned.write_hand(path, HAND)
    tuned.write_lookup(path, Lookup(chunk_bits=9), "t.jsonl")
    assert tuned.read(path) == TunedFile(lookup=Lookup(chunk_bits=9), sample="t.jsonl", hand=HAND)
    tuned.write_hand(path, EMPTY)
    assert tuned.read(path) == TunedFile(lookup=Lookup(chunk_bits=9), sample="t.jsonl")


def test_nothing_to_say_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "tuned.yaml"
    tuned.write_hand(path, HAND)
    tuned.write_hand(path, EMPTY)
    assert not path.exists()


def test_a_broken_file_is_left_as_it_is_and_said(tmp_path: Path) -> None:
    path = tmp_path / "tuned.yaml"
    path.write_text("hand: {bits: many}\n")
    with pytest.raises(ConfigFault, match=r"tuned\.yaml"):
        tuned.write_hand(path, HAND)
    assert path.read_text() == "hand: {bits: many}\n"


def test_a_folder_that_is_not_there_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        tuned.write_hand(tmp_path / "away" / "tuned.yaml", HAND)
    assert list(tmp_path.iterdir()) == []
