"""What was read once is not read again: for whom, within what, and until somebody says that it was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.refine.matter import CONTEXT
from tests.refine.rigs import ANSWER, RATE, ZH_ANSWER, ZH_RATE, both, broken, reads, refining, says
from tests.refine.talk import CACHE, ask, counted, tenants, turns, wrong
from tests.rig import answers, completion, regex, write_config

TALKS = [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)]
SYSTEM = {"role": "system", "content": "The offer of May: 4.75 percent. 五月的产品说明书。"}
JUNE = {"role": "system", "content": "The offer of June: 5.75 percent. 六月的产品说明书。"}
QUESTION = "What is the rate? 利率是多少？"


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def picture(url: str) -> dict[str, Any]:
    parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": QUESTION}]
    return {"role": "user", "content": parts}


@pytest.mark.parametrize("delivery", ["live", "hold"])
@pytest.mark.parametrize(("answer", "rate"), TALKS)
async def test_the_same_answer_to_the_same_question_is_known(
    tmp_path: Path, answer: str, rate: dict[str, str], delivery: str
) -> None:
    script = both(says(answer, False), reads(rate))
    async with refining(tmp_path, script, cache=CACHE, delivery=delivery) as (running, readings):
        first, second = [await ask(running, SYSTEM, QUESTION) for _ in range(2)]
        told = await running.metrics()
        assert await counted(running, "corrected", "known") == 1
    assert first.text == second.text != answer
    assert first.outcome == second.outcome == "corrected"
    assert first.entry == second.entry != ""
    assert len(readings()) == 1
    assert told['retrace_refine_tokens_total{kind="prompt",tenant="default"}'] == 70
    assert told['retrace_refine_cache_total{result="exact"}'] == 1


async def test_that_nothing_is_wrong_is_known_too(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ZH_ANSWER, False), reads()), cache=CACHE) as (running, readings):
        first, second = [await ask(running) for _ in range(2)]
        assert await counted(running, "fine", "known") == 1
    assert (first.text, second.text) == (ZH_ANSWER, ZH_ANSWER)
    assert first.outcome == second.outcome == "fine"
    assert len(readings()) == 1


OTHERS: dict[str, tuple[tuple[Any, ...], Mapping[str, Any]]] = {
    "another document": ((JUNE, QUESTION), {}),
    "no document": ((QUESTION,), {}),
    "another question": ((SYSTEM, "When is it paid? 何时付息？"), {}),
    "more of a conversation": ((SYSTEM, "Hello.", {"role": "assistant", "content": "Yes?"}, QUESTION), {}),
    "the document said by somebody else": (({**SYSTEM, "role": "user"}, QUESTION), {}),
    "another model": ((SYSTEM, QUESTION), {"model": "other"}),
    "a tool": ((SYSTEM, QUESTION), {"tools": [tool("rates")]}),
}


@pytest.mark.parametrize("other", OTHERS)
async def test_what_it_was_checked_by_belongs_to_it(tmp_path: Path, other: str) -> None:
    messages, fields = OTHERS[other]
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), cache=CACHE) as (running, readings):
        await ask(running, SYSTEM, QUESTION)
        await ask(running, *messages, **fields)
        assert len(readings()) == 2
        await ask(running, *messages, **fields)
        assert len(readings()) == 2


@pytest.mark.parametrize(
    "same", [{}, {"temperature": 0.1}, {"max_tokens": 99, "user": "u"}, {"seed": 7, "stop": ["x"]}]
)
async def test_how_it_was_asked_for_does_not(tmp_path: Path, same: dict[str, Any]) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), cache=CACHE) as (running, readings):
        await ask(running, SYSTEM, QUESTION)
        await ask(running, SYSTEM, QUESTION, **same)
    assert len(readings()) == 1


async def test_all_of_a_long_document_counts(tmp_path: Path) -> None:
    """Also what stands so far in front that nobody looks at it for anything else."""
    rest = "无关。" * (CONTEXT // 3 + 1)
    long = [{"role": "system", "content": f"{rate} percent. {rest}"} for rate in ("4.75", "5.75")]
    guards = {"request_tokens": 1 << 20}
    script = both(says(ANSWER, False), reads(RATE))
    async with refining(tmp_path, script, cache=CACHE, guards=guards) as (running, readings):
        for document in long:
            assert (await ask(running, document, QUESTION)).outcome == "corrected"
    assert len(readings()) == 2


async def test_another_picture_is_another_question(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), cache=CACHE) as (running, readings):
        for name in ("may", "june", "may"):
            await ask(running, picture(f"https://pictures.example/{name}.png"))
    assert len(readings()) == 2


async def test_another_answer_is_read(tmp_path: Path) -> None:
    script = both(turns(says(ANSWER, False), says(ANSWER.replace("March", "May"), False)), reads(RATE))
    async with refining(tmp_path, script, cache=CACHE) as (running, readings):
        first, second = [await ask(running) for _ in range(2)]
    assert first.entry != second.entry
    assert len(readings()) == 2


@pytest.mark.parametrize("reading", [broken(), broken(404), answers(completion("I would rather not say."))])
async def test_a_reading_that_failed_is_not_remembered(tmp_path: Path, reading: Any) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), turns(reading, reads(RATE))), cache=CACHE) as (running, _):
        first, second = [await ask(running) for _ in range(2)]
    assert (first.outcome, first.entry) == ("degraded", "")
    assert second.outcome == "corrected"


async def test_without_a_cache_each_is_read_and_none_has_a_name(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), cache=None) as (running, readings):
        told = [await ask(running) for _ in range(2)]
        assert (await wrong(running, {"entry": "00" * 16}))[0] == 404
    assert {one.entry for one in told} == {""}
    assert len(readings()) == 2


async def test_rules_judge_what_is_known_as_they_are_now(tmp_path: Path) -> None:
    """What a new rule blocks is not put into an answer because an old one did not."""
    script = both(says(ANSWER, False), reads({**RATE, "fixed": "a secret rate"}))
    async with refining(tmp_path, script, cache=CACHE) as (running, readings):
        assert (await ask(running)).outcome == "corrected"
        (backend,) = yaml.safe_load((tmp_path / "gateway.yaml").read_text())["backends"]
        write_config(tmp_path, backend["urls"], [regex("secret")], refine="refine.yaml")
        await running.server.steward.reload(running.server._apply)
        assert (await ask(running)).text == ANSWER
        assert await counted(running, "kept", "blocked") == 1
    assert len(readings()) == 1


# What somebody says was wrong.


@pytest.mark.parametrize(("answer", "rate"), TALKS)
async def test_what_was_wrong_is_forgotten_and_read_anew(tmp_path: Path, answer: str, rate: dict[str, str]) -> None:
    script = both(says(answer, False), turns(reads(rate), reads()))
    async with refining(tmp_path, script, cache=CACHE) as (running, readings):
        first = await ask(running)
        assert await wrong(running, {"entry": first.entry}) == (200, {"forgotten": first.entry})
        second, third = [await ask(running) for _ in range(2)]
        told = await running.metrics()
    assert [one.outcome for one in (first, second, third)] == ["corrected", "fine", "fine"]
    assert len(readings()) == 2
    assert told['retrace_refine_cache_total{result="wrong"}'] == 1
    assert told['retrace_requests_total{status="200",stream="false",surface="own"}'] == 1


async def test_what_is_unknown_can_t_be_wrong(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), cache=CACHE) as (running, _):
        entry = (await ask(running)).entry
        for unknown in ("", "00" * 16, entry[:-1], f"{entry}-x", f"{entry}-{entry}-00", "没有", "\u0000", "x" * 10_000):
            status, told = await wrong(running, {"entry": unknown})
            assert (status, told["error"]["code"], told["error"]["param"]) == (404, "not_found", "entry")
        assert (await wrong(running, {"entry": entry}))[0] == 200
        assert (await wrong(running, {"entry": entry}))[0] == 404


@pytest.mark.parametrize(
    "body", [b"", b"entry", b"[]", b"{}", b"null", b'"x"', b'{"entry": 5}', b'{"entry": null}', b'{"entry": "\xff"}']
)
async def test_what_makes_no_sense_is_a_bad_request(tmp_path: Path, body: bytes) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads()), cache=CACHE) as (running, _):
        status, told = await wrong(running, body)
    assert status == 400
    assert told["error"]["type"] == "invalid_request_error"


async def test_it_is_said_by_post_and_by_nothing_else(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads()), cache=CACHE) as (running, _):
        for path in ("/retrace/v1/refine/wrong", "/retrace/v1/refine/wrong/"):
            async with running.http.get(f"{running.url}{path}") as response:
                assert response.status == 404


# Tenants.


@pytest.mark.parametrize(("answer", "rate"), TALKS)
async def test_nothing_is_known_across_tenants(tmp_path: Path, answer: str, rate: dict[str, str]) -> None:
    async with tenants(tmp_path, both(says(answer, False), reads(rate))) as (running, readings):
        told = [await ask(running, SYSTEM, QUESTION, who=who) for who in ("one", "two", "one", "two")]
    assert {one.text for one in told} == {told[0].text}
    assert told[0].entry == told[2].entry != told[1].entry == told[3].entry
    assert len(readings()) == 2


async def test_no_tenant_can_call_another_s_wrong(tmp_path: Path) -> None:
    async with tenants(tmp_path, both(says(ANSWER, False), reads(RATE))) as (running, readings):
        entry = (await ask(running, who="one")).entry
        assert (await wrong(running, {"entry": entry}, "two"))[0] == 404
        assert (await wrong(running, {"entry": entry}))[0] == 401
        await ask(running, who="one")
        assert len(readings()) == 1
        assert (await wrong(running, {"entry": entry}, "one"))[0] == 200
        await ask(running, who="one")
        assert len(readings()) == 2


# One that is nearly the same.


async def test_a_question_in_other_words_is_known_as_alike_until_it_is_wrong(tmp_path: Path) -> None:
    asked = ("What is the annual rate of this deposit?", "what is the annual rate of this deposit")
    script = both(says(ANSWER, False), reads(RATE))
    async with refining(tmp_path, script, cache={"near": True, "radius": 7}) as (running, readings):
        first, near = [await ask(running, question) for question in asked]
        assert await counted(running, "corrected", "alike") == 1
        assert near.text == first.text
        assert near.entry not in ("", first.entry)
        assert (await wrong(running, {"entry": near.entry}))[0] == 200
        await ask(running, asked[1])
    assert len(readings()) == 2
