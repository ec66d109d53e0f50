"""Input rules that take their time beside the call: what they are asked, and how both end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway import beside, inlet
from gateway.backends import Answer, Capture
from gateway.config import Source, build
from gateway.errors import Refused, Unavailable, UpstreamFault
from gateway.plug import plugs
from gateway.types import Principal
from tests.rig import write_config
from tests.verifier import slow

URL = "http://127.0.0.1:9/verify"


def asked(folder: Path, body: dict[str, Any], *rules: dict[str, Any], surface: str = "chat", masked: Any = None) -> Any:
    """What is asked for a body: rule, role, text, and where that stands."""
    house = build(Source(write_config(folder, ["http://127.0.0.1:1"], list(rules))))
    spoken = plugs("surfaces")[surface]()
    exchange = inlet.admit(spoken, {}, orjson.dumps(body), Principal("acme", "gold"))[0]
    cases = beside.cases(house, spoken, exchange, masked or body, masked is not None)
    assert {case.question.tenant for case in cases} <= {"acme"}
    return [(case.rule.id, case.question.role, case.question.text, case.text and case.text.path) for case in cases]


def chat(*said: tuple[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": role, "content": content} for role, content in said]}


TURNS = chat(("system", "Be kind."), ("user", "你好"), ("assistant", "在"), ("user", "查一下"))


def test_each_text_is_asked_about_that_the_rule_applies_to(tmp_path: Path) -> None:
    every = asked(tmp_path, TURNS, slow(URL, id="every"))
    assert [text for _, _, text, _ in every] == ["Be kind.", "你好", "在", "查一下"]
    of_users = slow(URL, id="users", when={"role": "user"})
    assert asked(tmp_path, TURNS, of_users) == [
        ("users", "user", "你好", ("messages", 1, "content")),
        ("users", "user", "查一下", ("messages", 3, "content")),
    ]
    assert asked(tmp_path, TURNS, slow(URL, id="other", when={"tenant": "others"})) == []
    assert asked(tmp_path, TURNS, slow(URL, side="output")) == []


def test_or_only_about_the_last_one(tmp_path: Path) -> None:
    last = slow(URL, id="last", of={"texts": "last"}, when={"role": "user"})
    assert [text for _, _, text, _ in asked(tmp_path, TURNS, last)] == ["查一下"]


def test_a_message_in_parts_is_one_text(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "一"},
        {"type": "image_url", "image_url": {"url": "u"}},
        {"type": "text", "text": "二"},
    ]
    (one,) = asked(tmp_path, chat(("user", parts)), slow(URL, id="one"))
    assert one == ("one", "user", "一\n二", ("messages", 0, "content"))


def test_what_was_masked_is_not_told_to_a_service(tmp_path: Path) -> None:
    (one,) = asked(tmp_path, chat(("user", "card 4111")), slow(URL, id="one"), masked=chat(("user", "card ***")))
    assert one[2] == "card ***"


@pytest.mark.parametrize(
    ("surface", "body"),
    [
        ("completions", {"model": "m", "prompt": "写一首诗"}),
        ("responses", {"model": "m", "input": "写一首诗"}),
        ("messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "写一首诗"}]}),
    ],
)
def test_every_surface_has_its_texts_asked_about(tmp_path: Path, surface: str, body: dict[str, Any]) -> None:
    assert [text for _, _, text, _ in asked(tmp_path, body, slow(URL), surface=surface)] == ["写一首诗"]


# The call and the hearing.


class Said:
    """An answer that knows whether it was closed."""

    status = 200
    headers: Mapping[str, str] = {}
    capture: Capture | None = None

    def __init__(self) -> None:
        self.closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        yield b""

    async def read(self, limit: int) -> bytes:
        return b""

    def close(self) -> None:
        self.closed = True


class Both:
    """A call and a hearing that end when they are told to."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.call: asyncio.Future[Answer] = loop.create_future()
        self.verdict: asyncio.Future[None] = loop.create_future()
        self.counted: list[UpstreamFault] = []
        self.task = asyncio.ensure_future(beside.beside(self._call, self._hear, Said.close, self.counted.append))  # type: ignore[arg-type]

    async def _call(self) -> Answer:
        return await self.call

    async def _hear(self) -> None:
        await self.verdict

    async def step(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


REFUSED = Refused("[R101] no", status=400, reason="R101", rule="one")
DEAD = UpstreamFault("gone", kind="broken_off")


async def test_the_answer_is_had_when_both_are_through_in_either_order() -> None:
    for first in ("call", "verdict"):
        both, said = Both(), Said()
        endings = {"call": partial(both.call.set_result, said), "verdict": partial(both.verdict.set_result, None)}
        endings.pop(first)()
        await both.step()
        assert not both.task.done()
        next(iter(endings.values()))()
        assert await both.task is said
        assert not said.closed


async def test_a_refusal_ends_a_call_that_is_under_way_before_it_is_told() -> None:
    both = Both()
    await both.step()
    both.verdict.set_exception(REFUSED)
    with pytest.raises(Refused):
        await both.task
    assert both.call.cancelled()
    assert both.counted == []


async def test_a_refusal_closes_an_answer_that_has_come() -> None:
    both, said = Both(), Said()
    both.call.set_result(said)
    await both.step()
    assert not said.closed
    both.verdict.set_exception(REFUSED)
    with pytest.raises(Refused):
        await both.task
    assert said.closed


async def test_a_refusal_is_told_whatever_became_of_the_call_which_is_counted() -> None:
    both = Both()
    both.call.set_exception(DEAD)
    await both.step()
    assert not both.task.done()
    both.verdict.set_exception(REFUSED)
    with pytest.raises(Refused):
        await both.task
    assert both.counted == [DEAD]


@pytest.mark.parametrize("fault", [DEAD, Unavailable("none")])
async def test_a_fault_of_the_call_is_told_once_the_request_may_pass(fault: Exception) -> None:
    both = Both()
    both.call.set_exception(fault)
    both.verdict.set_result(None)
    with pytest.raises(type(fault)):
        await both.task
    assert both.counted == []  # whoever tells it counts it


@pytest.mark.parametrize("heard", [False, True])
async def test_a_client_that_leaves_ends_both(heard: bool) -> None:
    both, said = Both(), Said()
    await both.step()
    if heard:
        both.verdict.set_result(None)
        await both.step()
        both.call.set_result(said)
        await asyncio.sleep(0)  # the call is over, and who waits for it is not yet told
    both.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await both.task
    assert said.closed if heard else (both.call.cancelled() and both.verdict.cancelled())
