"""What is written down of an exchange: enough to answer questions, and no word of it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.ledger import Trip
from tests.refine.rigs import (
    ANSWER,
    NEVER,
    RATE,
    ZH_ANSWER,
    ZH_RATE,
    both,
    broken,
    hangs,
    reads,
    refining,
    says,
)
from tests.refine.talk import ask
from tests.rig import (
    CHAT,
    PROMPT,
    answers,
    chat_stream,
    completion,
    gateway,
    post,
    quiet,
    raw_answer,
    regex,
    silent,
    stream_head,
    streams,
    until,
    upstream,
    wire,
)

SECRET = "correct-horse-battery"
RULES = [
    regex("bomb", side="input"),
    regex(SECRET[:12], action="mask", id="mask"),
    regex("quiet", action="monitor", id="mon"),
]


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [orjson.loads(record.message) for record in caplog.records if record.name == "gateway.ledger"]


async def test_a_record_says_who_what_and_how_it_ended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with upstream(answers(completion(f"a {SECRET}"))) as (url, _), gateway(tmp_path, [url], RULES) as running:
        response = await running.chat(f"the {SECRET}")
        await response.read()
        await quiet(running)
    (record,) = records(caplog)
    assert record.pop("seconds") >= 0
    assert record == {
        "id": response.headers["x-retrace-id"],
        "surface": "chat",
        "tenant": "default",
        "model": "m",
        "stream": False,
        "status": 200,
        "verdict": "mask",
        "findings": [["mask", "R101", "mask"]],
        "finish": {"0": "stop"},
        "refined": {},
        "usage": [7, 5],
    }


async def test_no_text_and_no_key_is_in_any_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    headers = {"authorization": f"Bearer {SECRET}", "x-api-key": SECRET}
    scripts = [
        answers(completion(SECRET)),
        streams(chat_stream(SECRET)),
        streams([SECRET.encode()]),
        answers(SECRET.encode(), 500),
    ]
    for script in scripts:
        async with upstream(script) as (url, _), gateway(tmp_path, [url], RULES) as running:
            for text in (f"the {SECRET}", f"a bomb and {SECRET}"):
                for stream in (True, False):
                    await (await running.chat(text, headers, stream=stream, user=SECRET)).read()
            await quiet(running)
    assert records(caplog)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_only_what_a_rule_saw_is_logged_unless_all_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    caplog.set_level(level, "gateway.ledger")
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], RULES) as running:
        await running.ask("/v1/chat/completions", CHAT)
        await (await running.chat("a bomb")).read()
        await (await running.http.post(f"{running.url}/nowhere")).read()
        await quiet(running)
    assert [record["status"] for record in records(caplog)] == ([400] if level == logging.INFO else [200, 400])


async def test_a_client_that_left_and_an_upstream_that_died_are_booked_as_such(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with upstream(silent) as (url, up), gateway(tmp_path, [url], RULES, backend={"retries": 0}) as running:
        async with wire(running) as (_, writer):
            writer.write(post(CHAT))
            await until(lambda: up.calls)
        await quiet(running)
        up.script = raw_answer(b"")
        await (await running.chat()).read()
        up.script = raw_answer(stream_head(), b"5\r\n")
        await (await running.chat(stream=True)).read()
        await quiet(running)
    assert [(record["status"], record["usage"]) for record in records(caplog)] == [
        (499, None),
        (502, None),
        (502, None),
    ]


async def test_a_halted_choice_is_booked_as_the_wire_says(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    rules = [regex("deadly")]
    for script, stream in (
        (streams(chat_stream("a deadly ", "word")), True),
        (answers(completion("a deadly word")), False),
    ):
        async with upstream(script) as (url, _), gateway(tmp_path, [url], rules) as running:
            await running.ask("/v1/chat/completions", {**CHAT, "stream": stream})
            await quiet(running)
    for record in records(caplog):
        assert record["verdict"] == "block"
        assert record["finish"] == {"0": "content_filter"}
        assert record["findings"] == [["output.regex", "R101", "block"]]
    assert len(records(caplog)) == 2
    assert PROMPT


REFINED: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "corrected": (reads(RATE, ZH_RATE), {}, ["corrected", "business:always", 1]),
    "fine": (reads(), {}, ["fine", "business:always", 0]),
    "kept": (reads({**RATE, "quote": "没有这句"}), {}, ["kept", "no_edit", 0]),
    "failed": (broken(), {}, ["degraded", "failed", 0]),
    "slow": (hangs(), {"guards": {"seconds": 0.05}}, ["degraded", "slow", 0]),
    "untouched": (reads(RATE), {"tiers": [NEVER]}, ["untouched", "business:never", 0]),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", REFINED)
async def test_a_record_says_what_a_second_reading_came_to(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, stream: bool
) -> None:
    caplog.set_level(logging.INFO, "gateway.ledger")
    reading, file, told = REFINED[how]
    for number, answer in enumerate((ANSWER, ZH_ANSWER)):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with refining(folder, both(says(answer, stream), reading), **file) as (running, _):
            await ask(running, stream=stream)
            await quiet(running)
    if how == "untouched":  # nobody has to hear of it
        assert records(caplog) == []
        return
    assert [record["refined"] for record in records(caplog)] == [{"0": told}] * 2
    assert [record["usage"] for record in records(caplog)] == [[7, 5]] * 2
    assert ANSWER[4:20] not in caplog.text
    assert RATE["evidence"] not in caplog.text


async def test_what_was_not_touched_is_told_if_all_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with refining(tmp_path, both(says("Yes.", False), reads())) as (running, _):
        await ask(running)
        await quiet(running)
    (record,) = records(caplog)
    assert record["refined"] == {"0": ["untouched", "short", 0]}


async def test_no_word_of_a_second_reading_is_in_any_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer = f"{ANSWER} The password is {SECRET}."
    file: dict[str, Any] = {"queue": {"type": "file", "path": "queue.jsonl"}, "guards": {"seconds": 0.1}}
    for number, reading in enumerate((reads({**RATE, "fixed": SECRET, "evidence": SECRET}), broken(), hangs())):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with refining(folder, both(says(answer, False), reading), **file) as (running, _):
            await ask(running, f"the {SECRET}")
    assert len(records(caplog)) == 3
    assert SECRET not in caplog.text


def test_what_tells_what_was_said_is_asked_once_and_only_if_somebody_wants_to_know() -> None:
    asked = []

    def tell() -> dict[int, str]:
        asked.append(1)
        return {0: "fine"}

    trip = Trip(0.0)
    assert not trip.heard
    trip.said = tell
    assert trip.heard
    assert asked == []
    assert [trip.said, trip.said] == [{0: "fine"}] * 2
    assert asked == [1]
