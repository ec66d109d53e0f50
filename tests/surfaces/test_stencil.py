"""What was understood of one event holds for those that differ in one text only, and for no others."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.outbox import parsed
from gateway.plug import plugs
from gateway.surfaces import Reading
from gateway.surfaces.sse import Frame
from gateway.surfaces.stencil import Stencil
from gateway.types import Piece
from tests.rig import chat_stream, delta, usage_event
from tests.sight import words
from tests.wires import carried

CHAT = plugs("surfaces")["chat"]()


def payload(event: bytes) -> bytes:
    return event[6:-2]


def read(raw: bytes) -> Reading:
    reading = CHAT.read(orjson.loads(raw))
    assert isinstance(reading, Reading)
    return reading


def stencil(raw: bytes) -> Stencil | None:
    return Stencil.cut(raw, read(raw), read)


BEFORE, _, BEHIND = payload(delta("hello")).partition(b"hello")


def told(raw: bytes) -> str | None:
    """The text that a stencil of an ordinary event reads from other bytes."""
    made = stencil(payload(delta("hello")))
    assert made is not None
    assert (made.choice, made.channel) == (0, "content")
    texts = made.texts([Frame(raw, raw)])
    return texts[0] if texts else None


def test_an_event_like_it_is_read_without_parsing() -> None:
    assert told(payload(delta(" 世界🙂"))) == " 世界🙂"


def test_a_row_of_events_is_read_up_to_the_first_that_does_not_fit() -> None:
    made = stencil(payload(delta("hello")))
    assert made is not None
    row = [delta("a"), delta("b"), delta("c", index=1), delta("d")]
    assert made.texts([Frame(event, payload(event)) for event in row]) == ["a", "b"]
    assert made.texts([Frame(event, payload(event)) for event in row[2:]]) == []
    assert made.texts([Frame(b"", BEFORE + inside + BEHIND) for inside in (b"a", b"\xff", b"c")]) == ["a"]


@settings(max_examples=200)
@given(st.text(max_size=6), st.sampled_from(["content", "reasoning_content"]), st.integers(0, 1))
def test_what_it_says_is_what_parsing_says(text: str, name: str, index: int) -> None:
    other = payload(delta(index=index, **{name: text}))
    read_off = told(other)
    assert read_off is None or read(other).pieces == [Piece(0, "content", read_off)]


@settings(max_examples=300)
@given(st.binary(max_size=12), st.integers(0, 12))
def test_bytes_that_are_no_such_event_do_not_fit(inside: bytes, cut_off: int) -> None:
    raw = BEFORE + inside + BEHIND
    raw = raw[: len(raw) - cut_off]
    read_off = told(raw)
    if read_off is not None:
        assert read(raw).pieces == [Piece(0, "content", read_off)]


@pytest.mark.parametrize(
    "inside",
    [b'x","content":"bomb', b"a\\u0062", b'"', b"\\", b"\n", b"\x00", b"\xff", b"\xed\xa0\x80", b""],
)
def test_a_text_that_only_a_parser_can_read_does_not_fit(inside: bytes) -> None:
    assert told(BEFORE + inside + BEHIND) is None


@pytest.mark.parametrize("text", [":", ",", "content", "index", "delta", "chatcmpl-1", "m", "1", "null"])
def test_a_text_that_stands_elsewhere_in_its_event_too_is_a_text_like_any(text: str) -> None:
    """A colon stands between any two quotes of JSON."""
    made = Stencil.cut(payload(delta(text)), read(payload(delta(text))), lambda raw: CHAT.read(parsed(raw)))
    assert made is None or made.texts([Frame(b"", payload(delta("other")))]) == ["other"]
    events = chat_stream(text, "so", text)
    assert carried(events, words("never")).body == b"".join(events)


def test_an_event_that_is_shorter_than_its_frame_does_not_fit() -> None:
    for raw in (BEFORE[:-1] + BEHIND, BEFORE, BEHIND, b"", BEFORE + BEHIND, BEFORE + b"x" + BEHIND[:-1]):
        assert told(raw) is None


@pytest.mark.parametrize(
    "event",
    [
        delta(""),
        delta(finish="stop"),
        delta("x", finish="stop"),
        delta("x", reasoning_content="y"),
        usage_event(),
        delta('a "quoted" text'),
        delta("line\nbreak"),
        b'data: {"error": {"message": "x"}}\n\n',
        b'data: {"id":"same","choices":[{"index":0,"delta":{"content":"same"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"x","content":"x"}}]}\n\n',
    ],
)
def test_an_event_that_says_more_or_other_than_one_plain_text_makes_none(event: bytes) -> None:
    assert stencil(payload(event)) is None
