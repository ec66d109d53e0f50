"""`type: external`: what a service is asked, what its answers mean, and that it is never waited for too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from gateway.breaker import FAULTS
from gateway.probes import ProbeFault, Question, Sighting
from gateway.probes.external import LONGEST, External, Plug
from gateway.types import Side
from tests.rig import Script, answers, raw_answer, silent, upstream
from tests.verifier import FLAG, PASS, verdicts

ZH = "年利率是百分之五。"


def question(text: str = ZH) -> Question:
    return Question("rt-1", Side.INPUT, text, "user", "acme", "qwen")


@asynccontextmanager
async def probe(
    url: str, key: str | None = None, now: list[float] | None = None, **fields: Any
) -> AsyncIterator[External]:
    clock = now or [0.0]
    made = External(Plug(url=url, **{"timeout_ms": 2000, **fields}), key, lambda: clock[0])
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def kind(made: External, text: str = ZH) -> str:
    with pytest.raises(ProbeFault) as caught:
        await made.ask(question(text))
    return caught.value.kind


async def test_it_is_asked_with_all_that_matters_and_with_our_key() -> None:
    async with upstream(verdicts(lambda _: PASS)) as (url, up), probe(f"{url}/v?a=1", key="k") as made:
        assert await made.ask(question()) == Sighting()
    (seen,) = up.seen
    assert (seen.method, seen.path, seen.headers["authorization"]) == ("POST", "/v?a=1", "Bearer k")
    told = {"id": "rt-1", "side": "input", "text": ZH, "role": "user", "tenant": "acme", "model": "qwen"}
    assert seen.json == told


@pytest.mark.parametrize(
    ("said", "sighting"),
    [
        (PASS, Sighting()),
        ({**PASS, "spans": [[0, 1]], "more": 1}, Sighting()),
        (FLAG, Sighting(((0, len(ZH)),))),
        ({**FLAG, "spans": [[4, 8], [0, 3]], "reason": "R203"}, Sighting(((4, 8), (0, 3)), "R203")),
        ({**FLAG, "spans": [[9, 9]], "reason": None}, Sighting(((9, 9),))),
    ],
)
async def test_what_its_answers_mean(said: Mapping[str, Any], sighting: Sighting) -> None:
    async with upstream(verdicts(lambda _: said)) as (url, _), probe(url) as made:
        assert await made.ask(question()) == sighting


GARBAGE = (
    b"",
    b"ok",
    b"[]",
    b'{"verdict": "maybe"}',
    b'{"spans": [[0, 1]]}',
    b'{"verdict": "flag", "spans": [[0, 10]]}',
    b'{"verdict": "flag", "spans": [[-1, 2]]}',
    b'{"verdict": "flag", "spans": [[3, 2]]}',
    b'{"verdict": "flag", "spans": "all"}',
    b'{"verdict": "flag", "reason": 7}',
    b'{"verdict": "pass", "x": "' + b"x" * LONGEST + b'"}',
)


@pytest.mark.parametrize("body", GARBAGE, ids=[body[:24].decode() for body in GARBAGE])
async def test_what_was_not_agreed_is_a_fault(body: bytes) -> None:
    async with upstream(answers(body)) as (url, _), probe(url) as made:
        assert await kind(made) == "garbage"


@pytest.mark.parametrize("status", [202, 302, 400, 401, 404, 500, 503])
async def test_any_other_status_is_a_fault_and_a_redirect_is_not_followed(status: int) -> None:
    moved = answers(orjson.dumps(PASS), status, {"location": "/elsewhere"})
    async with upstream(moved) as (url, up), probe(url) as made:
        assert await kind(made) == f"status_{status}"
        assert len(up.seen) == 1


async def test_who_is_not_there_and_who_hangs_up() -> None:
    async with probe("http://127.0.0.1:9/verify") as made:
        assert await kind(made) == "unreachable"
    async with upstream(raw_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")) as (url, _), probe(url) as made:
        assert await kind(made) == "unreachable"


@pytest.mark.parametrize("script", [silent, raw_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", hang=True)])
async def test_it_has_its_time_and_no_more_and_then_hears_that_nobody_waits(script: Script) -> None:
    async with upstream(script) as (url, up), probe(url, timeout_ms=30) as made:
        assert await kind(made) == "slow"
        async with asyncio.timeout(2):
            await up.seen[0].closed.wait()


async def test_no_more_questions_than_agreed_are_on_their_way() -> None:
    most = 0

    async def script(seen: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal most
        most = max(most, up.open)
        await verdicts(lambda _: PASS, 0.01)(seen, writer)

    async with upstream(script) as (url, up), probe(url, at_most=2) as made:
        assert await asyncio.gather(*(made.ask(question()) for _ in range(7))) == [Sighting()] * 7
    assert most == 2


async def test_who_waits_too_long_for_a_place_says_so_and_blames_nobody() -> None:
    async with upstream(silent) as (url, _), probe(url, at_most=1, timeout_ms=300) as made:
        told = await asyncio.gather(*(kind(made) for _ in range(2 * FAULTS)))
        assert sorted(told) == ["busy"] * (2 * FAULTS - 1) + ["slow"]
        assert await kind(made) == "slow"


async def test_who_got_a_place_too_late_to_be_answered_blames_nobody() -> None:
    async def script(seen: Any, writer: asyncio.StreamWriter) -> None:
        await (verdicts(lambda _: PASS, 0.5) if len(up.seen) == 1 else silent)(seen, writer)

    async with upstream(script) as (url, up), probe(url, at_most=1, timeout_ms=800) as made:
        first, *late = await asyncio.gather(made.ask(question()), *(kind(made) for _ in range(FAULTS)))
        assert (first, late) == (Sighting(), ["busy"] * FAULTS)
        assert len(up.seen) == 2  # one of the late ones still had some of its time


async def test_after_several_faults_it_is_left_alone_and_then_tried_again() -> None:
    now, decide = [0.0], [b"garbage"]

    async def script(seen: Any, writer: asyncio.StreamWriter) -> None:
        await answers(decide[0])(seen, writer)

    async with upstream(script) as (url, up), probe(url, now=now) as made:
        assert [await kind(made) for _ in range(FAULTS + 2)] == ["garbage"] * FAULTS + ["open"] * 2
        assert len(up.seen) == FAULTS
        decide[0], now[0] = orjson.dumps(PASS), 60.0
        assert await made.ask(question()) == Sighting()
        assert await made.ask(question()) == Sighting()


async def test_a_text_that_it_refuses_tells_nothing_of_the_next() -> None:
    async with upstream(answers(b"{}", 413)) as (url, _), probe(url) as made:
        assert [await kind(made) for _ in range(FAULTS + 1)] == ["status_413"] * (FAULTS + 1)


@pytest.mark.parametrize("url", ["ftp://h/x", "verify", "http://", "http://me:secret@h/x"])
def test_an_address_that_is_none_or_holds_a_password_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match=r"address"):
        Plug(url=url)


def test_a_key_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERIFY_KEY", raising=False)
    with pytest.raises(ValidationError, match="VERIFY_KEY is empty"):
        Plug(url="http://h/x", key_env="VERIFY_KEY")
    monkeypatch.setenv("VERIFY_KEY", "k")
    assert Plug(url="http://h/x", key_env="VERIFY_KEY").connect()
