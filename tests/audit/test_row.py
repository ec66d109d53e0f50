"""What the line of an exchange says."""

from __future__ import annotations

from typing import Any

import orjson

from gateway.audit import _row, record
from gateway.ledger import Trip
from gateway.types import Action, Attempt, Correction, Exchange, Finding, Outcome, Principal, Refined, Text, Usage
from tests.audit.logs import arrived

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
    line = _row.told(arrived(record.row(made, asked)))
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
        (7, 5),
        {"0": "stop"},
    )
    assert line["captures"] == [{"capture": "c1", "donor": "c0", "mode": "prefix"}]
    for word in (b"secret", b"risk-free", b"Li Wei", b"4%"):
        assert word not in orjson.dumps(line)


def test_a_session_has_a_name_that_is_the_same_each_time_and_its_tenant_s_own() -> None:
    names = []
    for tenant, session in (("a", "s"), ("a", "s"), ("b", "s"), ("a", "t"), ("a", "")):
        made, asked = trip(session=session, principal=Principal(tenant))
        names.append(_row.told(arrived(record.row(made, asked))).get("session", ""))
    assert names[0] == names[1] != ""
    assert len(set(names)) == 4
    assert names[-1] == ""


def test_of_very_many_findings_some_are_listed() -> None:
    made, asked = trip()
    made.draft.findings += [FINDING] * (_row.MOST + 3)
    line = _row.told(arrived(record.row(made, asked)))
    assert (len(line["findings"]), line["unlisted"]) == (_row.MOST, 3)


def test_of_a_quiet_exchange_the_line_is_short() -> None:
    made, asked = trip()
    line = _row.told(arrived(record.row(made, asked)))
    assert (line["verdict"], line["usage"], line["first"]) == ("allow", None, None)
    assert not {"findings", "attempts", "refined", "captures", "parameters", "tried", "session", "finish"} & line.keys()
