"""Server-sent events, in whatever pieces they come."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import UpstreamFault
from gateway.surfaces.sse import DONE, DONE_FRAME, KEEP_ALIVE, LONGEST_EVENT, Decoder, Frame, frame
from tests.wires import cut

LINES = st.lists(
    st.sampled_from(
        [
            b"",
            b"",
            b"data: a",
            b"data: {}",
            b"data:b",
            b"data",
            b"data:",
            b"data: ",
            b"data:  c",
            "data: 炸🙂".encode(),
            b": ping",
            b":",
            b"event: x",
            b"id: 1",
            b"retry: 10",
            b"dataset: x",
            b"odd",
            b"\xef\xbb\xbfdata: late",
        ]
    ),
    max_size=12,
)


def decoded(*chunks: bytes) -> list[Frame]:
    decoder = Decoder()
    return [one for chunk in chunks for one in decoder.feed(chunk)] + decoder.flush()


def standard(lines: list[bytes]) -> list[bytes]:
    """The payloads that the WHATWG's own steps find in these lines, and in what is left at the end."""
    found, data = [], b""
    lines = [line.removeprefix(b"\xef\xbb\xbf") if not number else line for number, line in enumerate(lines)]
    for line in [*lines, b""]:
        name, colon, value = line.partition(b":")
        if not line:
            if data:
                found.append(data[:-1])
            data = b""
        elif name == b"data" or (line == b"data" and not colon):
            data += value.removeprefix(b" ") + b"\n"
    return [one for one in found if one]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@settings(max_examples=100, deadline=None)
@given(lines=LINES, data=st.data())
def test_any_cut_of_any_stream_is_read_as_the_standard_says(
    end: bytes, lines: list[bytes], data: st.DataObject
) -> None:
    wire = end.join([*lines, b""])
    places = data.draw(st.one_of(st.just(range(len(wire))), st.sets(st.integers(0, len(wire)), max_size=6)))
    assert [one.data for one in decoded(*cut(wire, places))] == standard(lines)


def test_an_event_comes_out_as_soon_as_it_is_whole() -> None:
    decoder = Decoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == [Frame(b"data: a\n\n", b"a")]
    assert decoder.flush() == [Frame(b"data: b\n\n", b"b")]


def test_a_plain_event_keeps_its_very_bytes() -> None:
    assert decoded(b'data: {"a": 1} \n\n') == [Frame(b'data: {"a": 1} \n\n', b'{"a": 1} ')]


@pytest.mark.parametrize(
    ("wire", "raw"),
    [
        (b"data:a\n\n", b"data: a\n\n"),
        (b"data: a\r\n\r\n", b"data: a\n\n"),
        (b"event: x\ndata: a\nid: 1\n\n", b"data: a\n\n"),
        (b"data: a\ndata: b\n\n", b"data: a\ndata: b\n\n"),
    ],
)
def test_what_goes_on_is_data_alone_in_plain_form(wire: bytes, raw: bytes) -> None:
    assert [one.raw for one in decoded(wire)] == [raw]


@given(LINES)
def test_what_goes_on_is_read_again_as_the_same(lines: list[bytes]) -> None:
    once = decoded(b"\n".join([*lines, b""]))
    assert decoded(b"".join(one.raw for one in once)) == once


def test_a_mark_at_the_very_beginning_is_no_text() -> None:
    for places in ([], [1], [2], [1, 2], [3]):
        assert [one.data for one in decoded(*cut(b"\xef\xbb\xbfdata: a\n\n", places))] == [b"a"]


@pytest.mark.parametrize("wire", [b"data: \n\n", b"data:\n\n", b"data\n\n", b": x\n\n", b"event: x\n\n", b"\n\n\n\n"])
def test_an_event_without_data_is_none(wire: bytes) -> None:
    assert decoded(wire) == []


def test_an_event_without_end_is_a_fault() -> None:
    decoder = Decoder()
    for _ in range(LONGEST_EVENT >> 20):
        decoder.feed(b"x" * ((1 << 20) - 1))
    with pytest.raises(UpstreamFault) as caught:
        decoder.feed(b"x" * (1 << 20))
    assert caught.value.kind == "framing"


def test_the_gateway_s_own_frames_are_read_as_they_are_meant() -> None:
    assert decoded(frame(b"{}")) == [Frame(b"data: {}\n\n", b"{}")]
    assert [one.data for one in decoded(DONE_FRAME)] == [DONE]
    assert decoded(KEEP_ALIVE * 3) == []
