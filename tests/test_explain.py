"""The decision path that a client is told if it asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway import explain
from gateway.audit.story import told as story_of
from gateway.ledger import Trip
from gateway.plug import plugs
from gateway.types import Action, Attempt, Correction, Draft, Finding, Outcome, Refined
from tests.answering import in_turn, says
from tests.dialects import SURFACES, before, refused
from tests.plugin import REPORT, engine, in_front
from tests.refine.rigs import ANSWER, RATE, both, reads, refining
from tests.rig import answers, delta, payloads, regex, streams, until
from tests.wires import exchange

ASKS = {"x-retrace-explain": "1"}
surfaces = pytest.mark.parametrize("surface", SURFACES)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])

TAG = Finding("in.tag", "R101", Action.TAG, 0, 3)
CUT = Finding("out.cut", "R205", Action.REWIND, 4, 9)


def trip(draft: Draft) -> Trip:
    return Trip(0.0, draft=draft, exchange=exchange()._replace(id="rt-1"), revision="rev")


def test_a_quiet_exchange_tells_where_it_is_reported() -> None:
    assert explain.path(trip(Draft())) == {
        "verdict": "allow",
        "reasons": [],
        "rules": [],
        "revision": "rev",
        "report": "rt-1",
    }


def test_all_of_the_path_is_told() -> None:
    draft = Draft([TAG, CUT, CUT], asked=1)
    draft.attempts += [Attempt(0, CUT, "word", 3, 2, 1), Attempt(1, CUT, "call", 0, 1)]
    draft.refined[0] = Refined(Outcome.CORRECTED, "rules", (Correction("4%", "5%", "see"),), entry="e1")
    made = trip(draft)
    made.captures.append({"capture": "c1", "donor": "c0", "mode": "prefix"})
    path = explain.path(made, 0)
    assert (path["verdict"], path["reasons"]) == ("rewind", ["R101", "R205"])
    assert [(one["rule"], one["side"]) for one in path["rules"]] == [("in.tag", "input"), ("out.cut", "output")]
    assert path["attempts"] == [{"reason": "R205", "rule": "out.cut", "anchor": "word", "kept": 4, "wasted": 2}]
    assert path["refined"]["corrections"] == [{"quote": "4%", "fixed": "5%", "evidence": "see"}]
    assert (path["refined"]["outcome"], path["refined"]["entry"]) == ("corrected", "e1")
    assert path["reuse"] == {"capture": "c1", "donor": "c0", "mode": "prefix"}
    assert [one["anchor"] for one in explain.path(made)["attempts"]] == ["word", "call"]
    assert "refined" not in explain.path(made, 1)


def test_what_ended_one_choice_is_not_said_of_another() -> None:
    stop = Finding("out.stop", "R101", Action.BLOCK, 4, 9)
    draft = Draft([TAG, stop], asked=1, halted={1: stop})
    assert explain.path(trip(draft), 0)["verdict"] == "tag"
    halted = explain.path(trip(draft), 1)
    assert (halted["verdict"], halted["reason"], halted["rule"]) == ("block", "R101", "out.stop")
    assert explain.path(trip(draft))["verdict"] == "block"


def test_what_is_told_is_bounded() -> None:
    draft = Draft([Finding(f"r{n}", "R101", Action.TAG, 0, 1) for n in range(100)])
    draft.attempts += [Attempt(0, CUT, "word", 1, 1)] * 100
    path = explain.path(trip(draft), 0)
    assert (len(path["rules"]), len(path["attempts"])) == (explain.MOST, explain.MOST)


def test_what_a_client_reads_of_an_answer_in_one_piece() -> None:
    body = {"choices": [{"index": n, "message": {"content": words}} for n, words in enumerate(("one", "two"))]}
    assert explain.said(plugs("surfaces")["chat"](), orjson.dumps(body)) == {0: "one", 1: "two"}


@streamed
@surfaces
async def test_a_quiet_answer_tells_its_path_and_its_report(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("all ", "is well"), audit={}) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers=ASKS)
        assert told.text == "all is well"
        assert (told.note["verdict"], told.note["reasons"], told.note["rules"]) == ("allow", [], [])
        assert told.note["report"] == sdks.head["x-retrace-id"]
        assert told.note["revision"] == sdks.running.server.steward.house.revision
        assert (await sdks.ask(surface, stream)).note is None
    story = story_of(tmp_path / "audit", told.note["report"])
    assert story is not None
    assert story.exchange["said"] == {"0": "all is well"}


@streamed
@surfaces
async def test_a_masked_answer_tells_which_rule_it_was(tmp_path: Path, surface: str, stream: bool) -> None:
    rules = [regex("private", id="mask", action="mask"), regex("hi", id="in", side="input", action="tag")]
    async with before(tmp_path, says("a pri", "vate thing"), rules) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers=ASKS)
    assert (told.text, told.note["verdict"]) == ("a *** thing", "mask")
    assert [(one["rule"], one["action"], one["side"]) for one in told.note["rules"]] == [
        ("in", "tag", "input"),
        ("mask", "mask", "output"),
    ]


@streamed
@surfaces
async def test_an_answer_that_was_cut_back_tells_all_of_it(tmp_path: Path, surface: str, stream: bool) -> None:
    script = in_turn(says("The", " fund", " pays", " a", " guaranteed", " return."), says(" return ", "that varies."))
    async with before(tmp_path, script, [regex("guaranteed", action="rewind")]) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers=ASKS)
    assert told.note["verdict"] == "rewind"
    assert [one["anchor"] for one in told.note["attempts"]] == ["word"]
    assert told.note["report"] == sdks.head["x-retrace-id"]


@streamed
@surfaces
async def test_words_in_the_model_s_stead_tell_their_rule(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("x"), [regex("bad", side="input", respond="answer")]) as (sdks, _):
        told = await sdks.ask(surface, stream, "bad", extra_headers=ASKS)
    assert (told.text, told.note["verdict"]) == ("Not this.", "block")
    assert [one["rule"] for one in told.note["rules"]] == ["input.regex"]


@streamed
@surfaces
async def test_a_refusal_tells_its_path_beside_its_reason(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("x"), [regex("bad", side="input")]) as (sdks, _):
        with refused() as told:
            await sdks.ask(surface, stream, "bad", extra_headers=ASKS)
    note = told[0].said["retrace"]
    assert (note["reason"], note["rule"], note["verdict"]) == ("R101", "input.regex", "block")
    assert note["report"] == sdks.head["x-retrace-id"]


async def test_a_stream_that_fails_tells_the_way_it_had_come(tmp_path: Path) -> None:
    broken = streams([delta("a tagged "), delta("word")])
    async with before(tmp_path, broken, [regex("tagged", action="tag")]) as (sdks, _):
        body = await (await sdks.running.chat(headers=ASKS, stream=True)).read()
    error = next(data["error"] for data in payloads(body) if "error" in data)
    assert [one["rule"] for one in error["retrace"]["rules"]] == ["output.regex"]
    assert error["retrace"]["report"].startswith("rt-")


@streamed
@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_an_answer_that_was_read_once_more_tells_it_once(tmp_path: Path, delivery: str, stream: bool) -> None:
    script = both(says(ANSWER), reads(RATE))
    async with (
        refining(tmp_path, script, delivery=delivery) as (running, _),
        await running.chat(stream=stream, headers=ASKS) as response,
    ):
        body = await response.read()
    datas = payloads(body)[:-1] if stream else [orjson.loads(body)]
    (note,) = [choice["retrace"] for data in datas for choice in data["choices"] if "retrace" in choice]
    assert note["refined"]["corrections"] == [RATE]
    assert (note["verdict"], note["report"]) == ("allow", response.headers["x-retrace-id"])


@streamed
async def test_what_was_offered_for_reuse_is_told(tmp_path: Path, stream: bool) -> None:
    long = "The rules of the house are these. " * 120
    async with (
        engine(says("a bad word")) as (url, up, plugin),
        in_front(tmp_path, [url], [regex("bad word")]) as running,
    ):
        await (await running.chat(long)).read()
        await until(lambda: plugin.heard)
        up.script = says("fine")
        plugin.report = {**REPORT, "injected_tokens": 256, "mode": "prefix"}
        body = await (await running.chat(f"{long}And now?", ASKS, stream=stream)).read()
    datas: list[Any] = payloads(body)[:-1] if stream else [orjson.loads(body)]
    (note,) = [choice["retrace"] for data in datas for choice in data["choices"] if "retrace" in choice]
    assert note["reuse"]["donor"] == plugin.heard[0].capture
    assert note["reuse"]["mode"] == "prefix"


async def test_of_an_upstream_s_error_there_is_nothing_to_explain(tmp_path: Path) -> None:
    async with before(tmp_path, answers(b'{"error": {"message": "no", "type": "x"}}', 422)) as (sdks, _):
        response = await sdks.running.chat(headers=ASKS)
        assert response.status == 422
        assert "retrace" not in await response.text()


async def test_a_choice_that_ended_another_way_is_told_by_itself(tmp_path: Path) -> None:
    events = [
        delta("a bomb ", 0),
        delta("fine ", 1),
        delta("word", 0),
        *(delta(finish="stop", index=n) for n in range(2)),
    ]
    async with before(tmp_path, streams(events), [regex("bomb")]) as (sdks, _):
        body = await (await sdks.running.chat(headers=ASKS, stream=True, n=2)).read()
    notes = {c["index"]: c["retrace"] for data in payloads(body)[:-1] for c in data["choices"] if "retrace" in c}
    assert {n: note["verdict"] for n, note in notes.items()} == {0: "block", 1: "allow"}
