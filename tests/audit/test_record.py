"""What is handed over of an exchange, and what lines say of a report and of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.audit import record
from gateway.audit._row import Row
from gateway.config import House, Source, build
from gateway.ledger import Trip
from gateway.types import Action, Attempt, Draft, Exchange, Finding, Outcome, Principal, Refined, Reuse, Text, Usage
from tests.audit.logs import arrived
from tests.rig import regex, rule, write_config

FINDING = Finding("out.promise", "R205", Action.REWIND, 4, 13, text="risk-free")
TEXTS = (Text(("messages", 0, "content"), "user", "hi"),)
ASKED = Exchange("rt-1", "chat", "m", Principal("acme", "gold"), TEXTS, True, session="Li Wei")


def trip(**fields: Any) -> Trip:
    return Trip(0.0, "chat", 200, exchange=ASKED, at=1.5, revision="rev", backend="up", **fields)


def handed(made: Trip, said: Mapping[int, str] | None = None, left_out: int = 0, judged: bool = False) -> Row:
    """An exchange as it arrives."""
    return arrived(record.row(made, ASKED, said, left_out, judged))


def test_an_exchange_is_handed_over_as_it_went() -> None:
    made = trip(
        draft=Draft(usage=Usage(7, 5), finish={0: "stop"}), captures=[{"capture": "c1"}], tried=("R101",), seconds=0.5
    )
    row = handed(made, {0: "ho"}, 2, judged=True)
    assert (row.at, row.exchange, row.backend, row.status, row.revision) == (1.5, ASKED, "up", 200, "rev")
    assert (row.seconds, row.first, row.usage, row.tried) == (0.5, None, Usage(7, 5), ["R101"])
    assert (row.finish, row.captures, row.judged) == ({0: "stop"}, [{"capture": "c1"}], True)
    assert (row.said, row.left_out) == ({0: "ho"}, 2)


def test_without_words_none_are_handed_over() -> None:
    row = handed(trip())
    assert (row.exchange, row.said) == (ASKED._replace(texts=()), None)


@pytest.mark.parametrize(
    ("draft", "quiet"),
    [
        (Draft(usage=Usage(7, 5), finish={0: "stop"}), True),
        (Draft([FINDING]), False),
        (Draft(attempts=[Attempt(0, FINDING, "word", 1, 1)]), False),
        (Draft(refined={0: Refined(Outcome.FINE)}), False),
    ],
)
def test_the_draft_goes_along_if_anything_was_found(draft: Draft, quiet: bool) -> None:
    row = handed(trip(draft=draft), judged=True)
    assert (row.draft, row.judged) == ((None, True) if quiet else (draft, False))


def test_what_makes_an_answer_come_out_as_it_did_is_told() -> None:
    asked = {"model": "m", "temperature": 0.2, "seed": 7, "max_tokens": None, "messages": ["words"], "user": "Li"}
    assert handed(trip(asked=asked)).parameters == {"temperature": 0.2, "seed": 7}


def test_an_engine_s_report_is_told_whole() -> None:
    told = Reuse("rt-1", "c1", "http://e", "kept", "R205", donor="c0", mode="prefix", injected=256)
    assert record.reuse(told) == {"kind": "reuse", **told._asdict()}


def house(folder: Path, *rules: dict[str, Any]) -> House:
    return build(Source(write_config(folder, ["http://127.0.0.1:1"], list(rules))))


def test_a_configuration_tells_its_versions(tmp_path: Path) -> None:
    line = record.house(house(tmp_path, regex("bad", about="No bad words.")))
    assert line["files"].keys() >= {"gateway.yaml", "rules.yaml", "reasons.yaml"}
    assert all(len(value) == 64 for value in line["files"].values())
    (told,) = line["rules"].values()
    assert (told["reason"], told["action"], told["about"]) == ("R101", "block", "No bad words.")
    assert line["reasons"]["R101"]["message"]["zh"] == "此内容不可。"
    assert line["policies"]["R101"]["mode"] == "prefix"
    orjson.dumps(line)


def test_a_rule_s_version_changes_with_what_it_looks_for_and_not_with_what_is_said_of_it(tmp_path: Path) -> None:
    def version(check: dict[str, Any], **fields: Any) -> str:
        (told,) = record.house(house(tmp_path, rule(check, id="a", **fields)))["rules"].values()
        return str(told["version"])

    one = version({"type": "regex", "pattern": "bad"})
    assert one == version({"type": "regex", "pattern": "bad"}, about="words")
    assert one != version({"type": "regex", "pattern": "worse"})
    assert one != version({"type": "regex", "pattern": "bad"}, action="tag")


def test_a_version_is_the_same_in_whatever_order_things_stand() -> None:
    assert record.digest({"a": {3, 1, 2}, "b": "x"}) == record.digest({"b": "x", "a": {2, 3, 1}})
