"""A surface whose upstream hears and says chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.plug import plugs
from gateway.surfaces import Continuation, Outward
from gateway.surfaces._messages_out import MessagesTeller
from gateway.surfaces._translated import Translated
from gateway.types import Exchange
from tests.surfaces.clients import chunk, completion, exchange

CHAT = plugs("surfaces")["chat"]()


class Short(Translated):
    """`{"say": ...}` in."""

    name = "short"
    paths = ("/v1/short",)

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": body["say"]}]}

    def outward(self, exchange: Exchange, body: Mapping[str, Any]) -> Outward:
        return MessagesTeller(exchange, True)


def test_what_goes_upstream_is_chat_and_a_stream_is_asked_for_its_usage() -> None:
    one, body = Short(), {"say": "hi", "cache_salt": "x"}
    asked = {"messages": [{"role": "user", "content": "hi"}]}
    assert one.upstream_path == "/v1/chat/completions"
    assert one.upstream_body(exchange("short", stream=False), body) == asked
    assert one.upstream_body(exchange("short"), body) == {**asked, "stream_options": {"include_usage": True}}


def test_what_comes_back_is_read_as_chat_s() -> None:
    data = completion(content="好")
    assert Short().read(data) == CHAT.read(data)
    assert Short().canned(exchange("short"), "no")[0]["choices"] == CHAT.canned(exchange("short"), "no")[0]["choices"]


def test_a_body_that_goes_upstream_is_understood_as_chat_s() -> None:
    sent = Short().upstream_body(exchange("short"), {"say": "好"})
    assert Short().asked(sent).texts == CHAT.admit(sent).texts
    assert [text.text for text in Short().asked(sent).texts] == ["好"]
    assert CHAT.asked(sent) == CHAT.admit(sent)


def test_a_second_question_goes_where_the_first_went() -> None:
    asking = Short().review({"model": "m", "messages": []}, "so", "true?")
    assert asking.path == "/v1/chat/completions"
    assert [message["content"] for message in asking.body["messages"]] == ["so", "true?"]


def test_an_answer_goes_on_where_it_began() -> None:
    asking = Short().resume({"model": "m", "messages": [{"role": "user", "content": "hi"}]}, Continuation("so far"))
    assert asking.path == "/v1/chat/completions"
    assert asking.body["messages"][-1] == {"role": "assistant", "content": "so far"}
    assert Short().assembled([chunk(content="so"), chunk("stop")])["choices"][0]["message"]["content"] == "so"


def test_a_surface_that_speaks_as_its_upstream_translates_nothing() -> None:
    assert (CHAT.upstream_path, CHAT.outward(exchange("chat"), {})) == ("", None)
    assert CHAT.their_error(500, {"error": "x"}) == {"error": "x"}
