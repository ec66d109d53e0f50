"""One repeat as it streams in."""

from __future__ import annotations

import pytest

from gateway.errors import UpstreamFault
from gateway.surfaces.chat import Plug as Chat
from gateway.surfaces.completions import Plug as Completions
from gateway.types import Usage
from gateway.watch import _side
from gateway.watch._side import Listener
from tests.rig import chat_stream, delta, event, text_stream


def heard(*events: bytes) -> Listener:
    """A second passes before each event."""
    listener = Listener(Chat(), 10.0)
    for number, one in enumerate(events, 1):
        listener.feed(one, 10.0 + number)
    return listener


def test_text_times_and_cost() -> None:
    side = heard(*chat_stream("It ", "is so."))
    told = side.side(20.0)
    assert (told.text, told.first, told.total, told.ended) == ("It is so.", 2, 10, True)
    assert told.usage == Usage(7, 5)
    assert told.usage.cached is None


def test_the_head_of_a_stream_is_no_first_token() -> None:
    assert heard(delta("", role="assistant")).side(14.0).first == 4
    assert heard(delta("", role="assistant"), delta("a")).side(14.0).first == 2


def test_a_stream_cut_anywhere_is_the_same() -> None:
    raw = b"".join(text_stream("a", "b"))
    listener = Listener(Completions(), 0.0)
    for place in range(len(raw)):
        listener.feed(raw[place : place + 1], 1.0)
    assert listener.side(2.0).text == "ab"


def test_one_that_is_torn_has_not_ended() -> None:
    assert not heard(delta("a")).side(12.0).ended


def test_what_was_cached_is_told() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 64}}
    assert heard(event([], usage=usage)).side(11.0).usage.cached == 64


@pytest.mark.parametrize("raw", [b"data: {\n\n", b'data: {"error": {"message": "no"}}\n\n'])
def test_garbage_and_errors_are_faults(raw: bytes) -> None:
    with pytest.raises(UpstreamFault):
        heard(raw)


def test_an_answer_without_end_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_side, "LONGEST", 10)
    with pytest.raises(UpstreamFault, match="end"):
        heard(delta("12345"), delta("123456"))
