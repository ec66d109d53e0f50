"""The second reading: what is asked, and in which form an endpoint takes it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from gateway.errors import UpstreamFault
from gateway.refine.ask import LEAST, Errand, Manner, Reader, Sent, allowed, asked, tokens
from gateway.refine.reply import Reply
from gateway.surfaces import Asking, chat, completions
from gateway.types import Correction, Usage

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "What is the rate?"}],
    "temperature": 0.7,
    "stream": True,
}
CHAT = Errand("shop", "m", chat.Plug(), BODY, "It is 4.75%.", "en", "finance")
PLAIN = Errand("shop", "m", completions.Plug(), {"model": "m", "prompt": "The rate?"}, "4.75%.", "en")
MANNER = Manner(None, None, "auto", 2, 64)
RATE = Correction("4.75%", "5.75%", "the offer")


def reply(text: str, **usage: Any) -> bytes:
    return orjson.dumps({"choices": [{"message": {"content": text}}], "usage": usage})


GOOD = reply(orjson.dumps({"corrections": [RATE._asdict()]}).decode(), prompt_tokens=90, completion_tokens=20)


class Endpoint:
    """Takes what it takes, and says what it does not."""

    def __init__(self, *refuses: str, says: str | None = None, status: int = 200, body: bytes = GOOD) -> None:
        self.refuses, self.says, self.status, self.body = refuses, says, status, body
        self.asked: list[tuple[str, Asking, str | None]] = []

    async def __call__(self, tenant: str, asking: Asking, backend: str | None) -> Sent:
        self.asked.append((tenant, asking, backend))
        for name in self.refuses:
            if name in asking.body:
                return Sent("up", 400, (self.says or f"`{name}` is not known here").encode())
        return Sent("up", self.status, self.body)


def test_the_conversation_stays_in_front() -> None:
    asking = asked(CHAT, MANNER, frozenset())
    assert asking.path == "/v1/chat/completions"
    assert asking.body["messages"][:1] == BODY["messages"]
    assert asking.body["messages"][1] == {"role": "assistant", "content": "It is 4.75%."}
    assert asking.body["messages"][2]["role"] == "user"
    assert asking.body["temperature"] == 0
    assert asking.body["stream"] is False
    assert asked(PLAIN, MANNER, frozenset()).body["prompt"].startswith("The rate?4.75%.\n\n")


def test_tools_stay_since_they_stand_before_the_answer_and_are_not_called() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    errand = CHAT._replace(body={**BODY, "tools": tools, "tool_choice": "auto", "n": 3, "stop": ["x"]})
    body = asked(errand, MANNER, frozenset()).body
    assert (body["tools"], body["tool_choice"]) == (tools, "none")
    assert not body.keys() & {"n", "stop"}


def test_another_model_can_be_named() -> None:
    assert asked(CHAT, MANNER._replace(model="checker"), frozenset()).body["model"] == "checker"


async def test_json_by_a_schema_and_a_low_priority_are_asked_for_first() -> None:
    endpoint = Endpoint()
    reading = await Reader(endpoint).read(CHAT, MANNER._replace(backend="other"))
    ((tenant, asking, backend),) = endpoint.asked
    assert (tenant, backend) == ("shop", "other")
    assert asking.body["response_format"]["json_schema"]["schema"]["required"] == ["corrections"]
    assert asking.body["priority"] > 0
    assert reading.reply.corrections == (RATE,)
    assert reading.usage == Usage(90, 20)


@pytest.mark.parametrize(
    ("refuses", "tries"), [(("priority",), 2), (("response_format",), 2), (("priority", "response_format"), 3)]
)
async def test_what_an_endpoint_refuses_is_left_out_from_then_on(refuses: tuple[str, ...], tries: int) -> None:
    endpoint = Endpoint(*refuses)
    reader = Reader(endpoint)
    await reader.read(CHAT, MANNER)
    assert len(endpoint.asked) == tries
    await reader.read(CHAT, MANNER)
    assert len(endpoint.asked) == tries + 1
    last = endpoint.asked[-1][1]
    assert not last.body.keys() & set(refuses)
    assert ("[corrected]" in last.body["messages"][-1]["content"]) is ("response_format" in refuses)


async def test_an_endpoint_that_does_not_say_what_it_refuses_is_asked_plainly() -> None:
    endpoint = Endpoint("response_format", says="Bad request")
    assert (await Reader(endpoint).read(CHAT, MANNER)).reply.corrections == (RATE,)
    assert len(endpoint.asked) == 2


async def test_who_wants_json_alone_gets_it_or_a_fault() -> None:
    with pytest.raises(UpstreamFault, match="400"):
        await Reader(Endpoint("response_format")).read(CHAT, MANNER._replace(form="json"))


@pytest.mark.parametrize("status", [400, 404, 429, 500])
async def test_other_refusals_are_faults(status: int) -> None:
    with pytest.raises(UpstreamFault, match=str(status)):
        await Reader(Endpoint(status=status, body=b"no")).read(CHAT, MANNER)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', b'{"choices": [3]}']
)
async def test_what_is_no_answer_is_a_fault(body: bytes) -> None:
    with pytest.raises(UpstreamFault, match="no answer"):
        await Reader(Endpoint(body=body)).read(CHAT, MANNER)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "x", "prompt_tokens_details": 3}]
)
async def test_an_answer_may_tell_no_usage_or_nonsense(usage: Any) -> None:
    body = orjson.dumps({"choices": [{"message": {"content": None}}], "usage": usage})
    reading = await Reader(Endpoint(body=body)).read(CHAT, MANNER)
    assert (reading.usage, reading.cached, reading.reply.readable) == (Usage(), 0, False)


async def test_what_the_engine_had_in_its_cache_is_told() -> None:
    body = reply("[no correction]", prompt_tokens=90, completion_tokens=3, prompt_tokens_details={"cached_tokens": 80})
    assert (await Reader(Endpoint(body=body)).read(CHAT, MANNER)).cached == 80


@pytest.mark.parametrize(
    ("answer", "share", "room"),
    [
        ("x" * 4000, 0.5, 500),
        ("x" * 4000, 0.1, 100),
        ("x" * 4000, 9, 1024),
        ("x" * 40, 0.5, LEAST),
        ("字" * 800, 0.5, 300),
    ],
)
def test_a_reply_has_room_in_proportion_to_the_answer(answer: str, share: float, room: int) -> None:
    errand, manner = CHAT._replace(answer=answer), MANNER._replace(tokens=1024, share=share)
    assert allowed(errand, manner) == room
    assert asked(errand, manner, frozenset()).body["max_tokens"] == room
    assert tokens(errand, manner) - tokens(errand, manner._replace(tokens=0)) == room


def test_a_reply_has_never_more_room_than_the_file_says() -> None:
    assert allowed(CHAT._replace(answer="x" * 4000), MANNER) == MANNER.tokens


async def test_a_reply_in_words_ends_where_nothing_is_wrong() -> None:
    endpoint = Endpoint(body=reply("[n"))
    reading = await Reader(endpoint).read(CHAT, MANNER._replace(form="text"))
    assert endpoint.asked[0][1].body["stop"] == ["o correction]"]
    assert reading.reply == Reply()
    assert "stop" not in asked(CHAT, MANNER, frozenset()).body


def test_a_reading_s_size_is_known_before_it_is_asked() -> None:
    small = tokens(CHAT, MANNER)
    assert small > 64
    assert tokens(CHAT._replace(answer="x" * 4000), MANNER) - small == pytest.approx(1000, abs=20)
