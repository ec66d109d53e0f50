"""What is taken in of a chat answer, whichever format it goes on in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.surfaces._outward import Piece, Teller, Tokens, ToolCall, event, told
from tests.surfaces.clients import USED, call, chunk, completion, exchange


class Plain(Teller):
    """The simplest format."""

    def opening(self) -> list[bytes]:
        return [b"<"]

    def tell(self, piece: Piece) -> list[bytes]:
        return [f"{piece.kind}:{piece.text};".encode()]

    def closing(self) -> list[bytes]:
        return [b">"]

    def fault(self, fault: Exception) -> bytes:
        return b"!" if self.end() else b"?"

    def composed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"said": list(self.hear(data))}


def plain() -> Plain:
    return Plain(exchange("plain"))


def heard(*chunks: dict[str, Any]) -> Plain:
    one = plain()
    for data in chunks:
        list(one.hear(data))
    return one


def test_a_stream_begins_once_and_ends_once() -> None:
    one = plain()
    out = [*one.events(chunk(content="a")), *one.events(chunk(content="b")), *one.finish(), *one.finish()]
    assert b"".join([*out, *one.events(chunk(content="c"))]) == b"<text:a;text:b;>"


def test_a_stream_without_any_event_still_begins() -> None:
    assert plain().finish() == [b"<", b">"]


@pytest.mark.parametrize(("first", "last"), [([], b"?"), ([chunk(content="a")], b"!")])
def test_an_error_of_the_upstream_is_a_fault_after_which_nothing_comes(
    first: list[dict[str, Any]], last: bytes
) -> None:
    one = plain()
    for data in first:
        one.events(data)
    assert one.events({"error": {"message": "x"}}) == [last]
    assert one.finish() == []


def test_the_parts_of_calls_are_put_together_whatever_their_order() -> None:
    one = heard(
        chunk(tool_calls=[call(1, "", "g", "c1"), call(0, '{"a"', "f", "c0")]),
        chunk(tool_calls=[call(1, "{", "g")]),
        chunk(tool_calls=[call(0, ": 1}"), call(1, "}")]),
    )
    assert one.calls == [ToolCall("c0", "f", '{"a": 1}'), ToolCall("c1", "g", "{}")]


def test_a_call_without_an_id_gets_one_that_stays_the_same() -> None:
    one = heard(chunk(tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]))
    assert [found.id for found in one.calls] == ["call_0_1"]
    assert one.calls == one.calls


@pytest.mark.parametrize("calls", ["x", [3], [{"function": "x"}], [{"function": {"name": 3, "arguments": None}}], None])
def test_calls_that_are_none_do_no_harm(calls: Any) -> None:
    assert all(not found.arguments for found in heard(chunk(tool_calls=calls)).calls)


def test_other_choices_are_not_heard() -> None:
    data = chunk(content="a")
    data["choices"].insert(0, {"index": 1, "delta": {"content": "b"}})
    assert list(plain().hear(data)) == [Piece("text", "a", [])]


def test_reasoning_that_comes_under_two_names_is_heard_once() -> None:
    both = completion(reasoning="想", reasoning_content="想", content=[{"type": "text", "text": "好"}], refusal="不")
    assert [(piece.kind, piece.text) for piece in plain().hear(both)] == [
        ("reasoning", "想"),
        ("text", "好"),
        ("refusal", "不"),
    ]


def test_usage_is_the_last_that_was_told() -> None:
    assert plain().tokens is None
    assert heard(chunk(usage={"prompt_tokens": 1, "completion_tokens": 1}), USED).tokens == Tokens(20, 5, 8, 2)
    odd = {"prompt_tokens": -1, "completion_tokens": "x", "prompt_tokens_details": None}
    assert heard(chunk(usage=odd)).tokens == Tokens(0, 0, None, None)


def test_the_model_is_the_one_that_was_asked_for() -> None:
    assert heard({**chunk(content="a"), "model": "/weights/m"}).model == "m"
    nameless = Plain(exchange("plain")._replace(model=""))
    list(nameless.hear(chunk(content="a")))
    assert nameless.model == "m"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "不行"}}, "不行"),
        ({"error": "plain"}, "plain"),
        ({"message": "flat"}, "flat"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": 1}]}, ""),
        ({"error": None}, ""),
    ],
)
def test_what_an_error_body_says_is_found(body: dict[str, Any], words: str) -> None:
    assert told(body) == words


def test_an_event_has_its_name_before_its_data() -> None:
    assert event("say", {"text": "好\n"}) == 'event: say\ndata: {"text":"好\\n"}\n\n'.encode()
