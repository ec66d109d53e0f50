"""The sketch of a request: what two requests share is what their prompts share, and never a tenant or a model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import context
from gateway.context import question, sketch, whose
from gateway.donors import alike
from gateway.stores import WIDTH, Sketch

MESSAGE = st.sampled_from(["a", "b", "hello", "你好", "x" * 3000]).map(lambda text: {"role": "user", "content": text})
CHAT = st.lists(MESSAGE, min_size=1, max_size=6)
WHOSE = st.tuples(st.sampled_from("tu"), st.sampled_from("mn"))
LONG = " ".join(f"clause {number} of the settlement rules" for number in range(200))


def chat(messages: Sequence[Any], salt: str = "t", model: str = "m", **more: Any) -> Sketch:
    return sketch(whose(salt, model), {"messages": list(messages), **more})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def digests(made: Sketch) -> set[bytes]:
    both = made.chunks + made.prefix
    return {both[at : at + WIDTH] for at in range(0, len(both), WIDTH)}


@given(CHAT, CHAT)
def test_two_requests_begin_alike_as_far_as_their_messages_do(
    one: list[dict[str, str]], other: list[dict[str, str]]
) -> None:
    same = list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    shared = chat([message for message, _ in same])
    first, second = chat(one), chat(other)
    assert alike(first, second) == alike(second, first) == len(shared.sizes)
    assert first.prefix[: len(shared.prefix)] == shared.prefix


@given(CHAT, WHOSE, WHOSE)
def test_nothing_is_shared_between_tenants_or_models(
    messages: list[dict[str, str]], one: tuple[str, str], other: tuple[str, str]
) -> None:
    first, second = digests(chat(messages, *one)), digests(chat(messages, *other))
    assert (first == second) is (one == other)
    assert bool(first & second) is (one == other)


def test_a_tenant_s_salt_can_t_run_into_the_model_s_name() -> None:
    assert whose("a", "bc") != whose("ab", "c")
    assert whose('a", "b', "c") != whose("a", 'b", "c')


def test_the_order_of_a_message_s_fields_does_not_matter_and_each_field_does() -> None:
    one = chat([user("hi")])
    assert one == chat([{"content": "hi", "role": "user"}])
    for other in ({"role": "system", "content": "hi"}, {"role": "user", "content": "hi", "name": "x"}):
        assert alike(one, chat([other])) == 0
        assert chat([other]).chunks == one.chunks  # the same text, though


@pytest.mark.parametrize("name", ["tools", "functions", "documents", "chat_template", "chat_template_kwargs"])
def test_what_stands_before_the_messages_counts_too(name: str) -> None:
    def more(value: object) -> dict[str, Any]:
        return {name: value}

    plain, other = chat([user("hi")]), chat([user("hi")], **more([{"x": 1}]))
    assert alike(plain, other) == 0
    assert sum(other.sizes) > sum(plain.sizes)
    assert chat([user("hi")], **more(None)) == plain


def test_a_document_is_known_again_wherever_it_stands() -> None:
    one = chat([{"role": "system", "content": "be kind"}, user(LONG)])
    other = chat([{"role": "system", "content": "be brief"}, user("Read this: " + LONG), user("and?")])
    assert alike(one, other) == 0
    shared = digests(one) & digests(other)
    assert len(shared) >= len(one.sizes) - 3


@given(st.text(max_size=6000))
def test_sizes_are_the_bytes_of_the_text(text: str) -> None:
    made = sketch(b"t", {"prompt": text})
    assert sum(made.sizes) == len(text.encode(errors="surrogatepass"))
    assert len(made.chunks) == len(made.prefix) == WIDTH * len(made.sizes)


def test_one_prompt_in_a_list_is_the_prompt() -> None:
    assert sketch(b"t", {"prompt": [LONG]}) == sketch(b"t", {"prompt": LONG})
    assert sketch(b"t", {"prompt": ""}) == Sketch(b"t", b"", b"", ())
    assert sketch(b"t", {}) == Sketch(b"t", b"", b"", ())


def test_parts_and_odd_messages_have_a_place_too() -> None:
    parts = {
        "role": "user",
        "content": [{"type": "text", "text": LONG}, {"type": "image_url", "image_url": {"url": "u"}}],
    }
    assert chat([parts]).sizes
    assert alike(chat([parts]), chat([parts, user("and?")])) == len(chat([parts]).sizes)
    for odd in ({"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, {}, "text", None, 7):
        assert chat([odd]).sizes
        assert alike(chat([odd]), chat([user("x")])) == 0


def test_what_is_remembered_of_one_request_is_bounded() -> None:
    made = sketch(b"t", {"prompt": "clause after clause, " * 100_000})
    assert len(made.sizes) == context.MOST_CHUNKS
    many = chat([user(str(number)) for number in range(2 * context.MOST_CHUNKS)])
    assert len(many.sizes) == context.MOST_CHUNKS


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"prompt": "x" * 9000 + "end"}, "x" * (context.QUESTION - 3) + "end"),
        ({"messages": [user("first"), {"role": "assistant", "content": "so"}, user("last"), {"role": "tool"}]}, "last"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}, {"url": 1}]}]},
            "a\nb",
        ),
        ({"messages": [{"role": "system", "content": "s"}]}, ""),
        ({"messages": []}, ""),
        ({}, ""),
    ],
)
def test_the_question_is_what_was_said_last(body: Mapping[str, Any], asked: str) -> None:
    assert question(body) == asked


def test_the_sketch_holds_no_text() -> None:
    made = chat([user("a very secret word")])
    assert b"secret" not in orjson.dumps([value.hex() if isinstance(value, bytes) else value for value in made])
