"""The hand: what was decided is in force at once, in the file, in other processes, until a person takes it back."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway import tuned
from gateway.config import House, Source, build
from gateway.metrics import Metrics
from gateway.overlay import EMPTY
from gateway.terms import Lookup
from gateway.watch.hand import Hand
from tests.rig import write_config
from tests.watch.readings import code, looks, reading

BAD = {"R101": code(cs=0.5), "R201": code(cs=0.5)}


class Notes:
    """What the audit and the series hear."""

    def __init__(self) -> None:
        self.noted: list[Mapping[str, Any]] = []
        self.forgotten: list[str] = []

    def note(self, kind: str, told: Mapping[str, Any]) -> None:
        self.noted.append({"kind": kind, **told})


def configured(folder: Path, mode: str = "act", **control: Any) -> Path:
    (folder / "watch.yaml").write_text(yaml.safe_dump({"control": {"mode": mode, **control}}))
    return write_config(folder, ["http://127.0.0.1:9"], [], watch="watch.yaml")


def house(folder: Path) -> House:
    return build(Source(folder / "gateway.yaml"))


async def made(folder: Path, notes: Notes | None = None) -> Hand:
    notes = notes or Notes()
    hand = Hand(Metrics(), notes.note, notes.forgotten.append)
    await hand.apply(house(folder))
    return hand


async def falls(hand: Hand, start: float = 0.0) -> None:
    """Consistency is bad for as long as it takes."""
    for at in looks(start, 3):
        await hand.act(reading(at, cs=0.5, codes=BAD))


def count(hand: Hand, **labels: str) -> float:
    return hand._metrics.registry.get_sample_value("retrace_acts_total", labels) or 0.0


def held(hand: Hand, what: str) -> float | None:
    return hand._metrics.registry.get_sample_value("retrace_hand", {"what": what})


async def test_an_act_is_in_force_at_once_kept_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    configured(tmp_path)
    notes = Notes()
    hand, plain = await made(tmp_path, notes), house(tmp_path)
    assert hand.house(plain) is plain
    with caplog.at_level(logging.WARNING):
        await falls(hand)
    assert hand.house(plain).terms.policy("R101").mode == "none"
    assert hand.house(plain) is hand.house(plain)
    assert plain.terms.policy("R101").mode == "prefix"
    assert tuned.read(tmp_path / "tuned.yaml").hand == hand.overlay
    assert "controller (done) nothing is injected any more: CS 0.500" in caplog.text
    assert (notes.noted[0]["kind"], notes.noted[0]["act"], notes.noted[0]["how"]) == ("act", "fallback", "done")
    assert notes.forgotten == [""]
    assert count(hand, act="fallback", code="", how="done") == 1
    assert (held(hand, "fallback"), held(hand, "codes_off"), held(hand, "loosened")) == (1, 2, 0)


async def test_a_loosened_search_is_in_force(tmp_path: Path) -> None:
    configured(tmp_path)
    hand = await made(tmp_path)
    for at in looks(0, 5):
        await hand.act(reading(at, chr_=0.05))
    assert hand.house(house(tmp_path)).terms.lookup == Lookup(chunk_bits=6)
    assert held(hand, "loosened") == 2


async def test_observing_it_only_says_what_it_would_do(tmp_path: Path) -> None:
    configured(tmp_path, "observe")
    notes = Notes()
    hand, plain = await made(tmp_path, notes), house(tmp_path)
    await falls(hand)
    assert hand.house(plain) is plain
    assert not (tmp_path / "tuned.yaml").exists()
    assert [(told["act"], told["how"]) for told in notes.noted] == [("fallback", "proposed")]
    assert (count(hand, act="fallback", code="", how="proposed"), notes.forgotten) == (1, [])
    assert held(hand, "fallback") == 0


async def test_off_or_without_the_file_nothing_is_looked_at(tmp_path: Path) -> None:
    configured(tmp_path, "off")
    hand = await made(tmp_path)
    await falls(hand)
    write_config(tmp_path, ["http://127.0.0.1:9"], [])
    await hand.apply(house(tmp_path))
    await falls(hand, 600)
    assert (hand.overlay, sorted(hand._path.parent.glob("tuned*"))) == (EMPTY, [])


async def test_one_process_leads_and_the_others_follow_the_file(tmp_path: Path) -> None:
    configured(tmp_path)
    leader, follower = await made(tmp_path), await made(tmp_path)
    await falls(leader)
    await falls(follower)
    assert (leader.status()["leads"], follower.status()["leads"]) == (True, False)
    assert follower.overlay == EMPTY
    await follower.apply(house(tmp_path))  # as the hot reload does
    assert follower.overlay == leader.overlay
    await leader.stop()
    await follower.act(reading(600, cs=None, codes={}))
    assert follower.status()["leads"]
    for at in looks(3 * 60 + 3600, 30):
        await follower.act(reading(at, codes={"R101": code(), "R201": code()}))
    assert tuned.read(tmp_path / "tuned.yaml").hand == follower.overlay
    assert follower.overlay.idle


async def test_who_removes_the_file_takes_all_back(tmp_path: Path) -> None:
    configured(tmp_path)
    notes = Notes()
    hand = await made(tmp_path, notes)
    await falls(hand)
    (tmp_path / "tuned.yaml").unlink()
    await hand.apply(house(tmp_path))
    assert (hand.overlay, held(hand, "fallback")) == (EMPTY, 0)
    assert count(hand, act="reset", code="", how="done") == 1
    await hand.act(reading(1000))
    assert not (tmp_path / "tuned.yaml").exists()


async def test_all_is_taken_back_also_between_two_acts(tmp_path: Path) -> None:
    """The file is removed, and before the reload has told of it the controller writes."""
    configured(tmp_path)
    hand = await made(tmp_path)
    await falls(hand)
    (tmp_path / "tuned.yaml").unlink()
    await hand.act(reading(180 + 3600, cs=None, codes={}))  # codes are to be tried
    assert hand.overlay == EMPTY
    assert not (tmp_path / "tuned.yaml").exists()


async def test_a_reload_that_read_the_file_before_it_was_written_changes_nothing(tmp_path: Path) -> None:
    configured(tmp_path)
    old = house(tmp_path)
    hand = await made(tmp_path)
    await falls(hand)
    await hand.apply(old)
    assert hand.overlay.fallback is not None


async def test_what_can_not_be_written_holds_all_the_same_and_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configured(tmp_path)
    hand = await made(tmp_path)
    (tmp_path / "tuned.yaml").mkdir()  # no file can take its place
    await falls(hand)
    assert hand.overlay.fallback is not None
    assert count(hand, act="keep", code="", how="failed") >= 1
    assert "holds in this process alone" in caplog.text
    assert not hand.status()["kept"]
    (tmp_path / "tuned.yaml").rmdir()
    await hand.apply(house(tmp_path))  # another file has changed
    assert hand.overlay.fallback is not None
    await hand.act(reading(600, cs=None, codes={}))
    assert tuned.read(tmp_path / "tuned.yaml").hand == hand.overlay
    assert hand.status()["kept"]


async def test_nothing_is_in_force_while_it_may_not_act(tmp_path: Path) -> None:
    configured(tmp_path)
    hand = await made(tmp_path)
    await falls(hand)
    configured(tmp_path, "observe")
    await hand.apply(house(tmp_path))
    assert (hand.overlay, hand.house(house(tmp_path)).terms.overlay) == (EMPTY, EMPTY)
    configured(tmp_path)
    await hand.apply(house(tmp_path))
    assert hand.overlay.fallback is not None


async def test_what_is_tried_is_known_to_who_measures(tmp_path: Path) -> None:
    configured(tmp_path)
    hand = await made(tmp_path)
    await falls(hand)
    assert hand.tried == frozenset()
    await hand.act(reading(180 + 3600, cs=None, codes={}))
    assert hand.tried == {"R101", "R201"}
