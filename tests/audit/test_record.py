"""What lines say of an exchange, a report, a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from gateway.audit import record
from gateway.config import House, Source, build
from gateway.ledger import Trip
from gateway.types import (
    Action,
    Attempt,
    Correction,
    Exchange,
    Finding,
    Outcome,
    Principal,
    Refined,
    Reuse,
    Text,
    Usage,
)
from tests.rig import regex, rule, write_config

FINDING = Finding("out.promise", "R205", Action.REWIND, 4, 13, text="risk-free")


def trip(**fields: Any) -> tuple[Trip, Exchange]:
    asked = Exchange("rt-1", "chat", "m", Principal("acme", "gold"), (Text(("x",), "user", "secret words"),), True)
    made = Trip(0.0, "chat", 200, exchange=asked._replace(**fields), at=1_700_000_000.12345, revision="rev")
    assert made.exchange is not None
    return made, made.exchange


def test_the_path_of_an_exchange_is_told_without_its_words() -> None:
    made, asked = trip(session="Li Wei")
    draft = made.draft
    draft.findings += [Finding("in.tag", "R101", Action.TAG, 0, 3, text="secret"), FINDING]
    draft.asked = 1
    draft.attempts.append(Attempt(0, FINDING, "sentence", 9, 4))
    draft.usage, draft.finish = Usage(7, 5), {0: "stop"}
    draft.refined[0] = Refined(Outcome.CORRECTED, "rules", (Correction("4%", "5%", "see"),), Usage(3, 2))
    made.captures.append({"capture": "c1", "donor": "c0", "mode": "prefix"})
    line = record.exchange(made, asked, 0.5)
    assert (line["at"], line["kind"], line["id"], line["tenant"], line["tier"]) == (
        1_700_000_000.123,
        "exchange",
        "rt-1",
        "acme",
        "gold",
    )
    assert [(one["rule"], one["side"]) for one in line["findings"]] == [("in.tag", "input"), ("out.promise", "output")]
    assert line["attempts"] == [
        {"choice": 0, "rule": "out.promise", "reason": "R205", "anchor": "sentence", "kept": 9, "wasted": 4}
    ]
    assert line["refined"] == {"0": {"outcome": "corrected", "why": "rules", "corrections": 1, "usage": [3, 2]}}
    assert (line["verdict"], line["revision"], line["usage"], line["finish"]) == (
        "rewind",
        "rev",
        [7, 5],
        {"0": "stop"},
    )
    assert line["captures"] == [{"capture": "c1", "donor": "c0", "mode": "prefix"}]
    for word in (b"secret", b"risk-free", b"Li Wei", b"4%"):
        assert word not in orjson.dumps(line)


def test_a_session_has_a_name_that_is_the_same_each_time_and_its_tenant_s_own() -> None:
    names = []
    for tenant, session in (("a", "s"), ("a", "s"), ("b", "s"), ("a", "t"), ("a", "")):
        made, asked = trip(session=session, principal=Principal(tenant))
        names.append(record.exchange(made, asked, 0.0).get("session", ""))
    assert names[0] == names[1] != ""
    assert len(set(names)) == 4
    assert names[-1] == ""


def test_what_makes_an_answer_come_out_as_it_did_is_told() -> None:
    made, asked = trip()
    made.asked = {"model": "m", "temperature": 0.2, "seed": 7, "max_tokens": None, "messages": ["words"], "user": "Li"}
    assert record.exchange(made, asked, 0.0)["parameters"] == {"temperature": 0.2, "seed": 7}


def test_of_very_many_findings_some_are_listed() -> None:
    made, asked = trip()
    made.draft.findings += [FINDING] * (record.MOST + 3)
    line = record.exchange(made, asked, 0.0)
    assert (len(line["findings"]), line["unlisted"]) == (record.MOST, 3)


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


def test_texts_are_weighed() -> None:
    assert record.sizes(["abc", "字"]) == 16
