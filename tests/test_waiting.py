"""What waits in a relay."""

from __future__ import annotations

import pytest

from gateway.anchors import Cut
from gateway.surfaces.sse import Frame
from gateway.types import Attempt
from gateway.waiting import Channel, Run, Told, attempted
from tests.anchors.sight import kind
from tests.sight import lanes, words

TEXTS = ["one ", "bo", "at ", "bo", "mb ", "end "]


def run(action: str) -> tuple[Channel, Run]:
    channel = Channel(0, "content", lanes(words("bomb", action=action)))
    frames = [Frame(text.encode(), b"") for text in TEXTS]
    return channel, Run(channel, frames, TEXTS)


def test_events_of_a_run_leave_as_far_as_their_text_may() -> None:
    channel, waiting = run("tag")
    assert waiting.leaving() == []
    channel.judge(final=False)
    assert waiting.leaving() == [text.encode() for text in TEXTS]
    assert waiting.over


def test_a_run_leaves_in_parts() -> None:
    channel = Channel(0, "content", lanes(words("bomb")))
    waiting = Run(channel, [Frame(b"1", b""), Frame(b"2", b"")], ["fine ", "bo"])
    channel.judge(final=False)
    assert waiting.leaving() == [b"1"]
    assert not waiting.over
    channel.parts.append("at ")
    channel.judge(final=False)
    assert waiting.leaving() == [b"2"]


def test_a_run_that_a_rule_has_touched_is_taken_apart() -> None:
    for action in ("mask", "block"):
        channel, waiting = run(action)
        channel.judge(final=True)
        assert waiting.leaving() is None
        apart = list(waiting.singly())[::-1]
        assert [event.frame.raw.decode() for event in apart] == TEXTS
        assert [event.marks[0].start for event in apart] == [0, 4, 6, 9, 11, 14]
        assert all(event.ready for event in apart)


def test_a_channel_that_goes_on_knows_its_last_words() -> None:
    channel = Channel(0, "content", lanes(words("bomb", action="mask")))
    channel.parts.append("a bo")
    channel.judge(final=True)
    channel.reopen(lanes(words("bomb", action="mask")))
    start = channel.end
    channel.parts.append("mb ")
    channel.judge(final=True)
    assert channel.window.render(start, "mb ") == "*** "


def test_a_call_that_goes_on_is_a_call_still() -> None:
    channel = Channel(0, "tool_calls.0.function.arguments", lanes(words("bomb")))
    channel.judge(final=True)
    channel.reopen(lanes(words("bomb")))
    channel.parts.append('{"a": "bo')
    channel.judge(final=False)
    assert channel.window.frontier == 0


def heard(channel: Channel, *texts: str) -> str:
    """What is read of a channel that says this to its end."""
    for number, text in enumerate(texts, 1):
        channel.parts.append(text)
        channel.judge(final=number == len(texts))
    assert channel.told is not None
    return channel.told.text


def test_what_is_read_of_a_channel_is_what_leaves() -> None:
    for action, read in (("tag", "一个 bomb 在此"), ("mask", "一个 *** 在此")):
        channel = Channel(0, "content", lanes(words("bomb", action=action)), Told())
        assert heard(channel, "一个 b", "om", "b 在此") == read


def test_what_may_not_leave_yet_stands_behind_as_it_came() -> None:
    channel = Channel(0, "content", lanes(words("kill you", action="mask")), Told())
    channel.parts.append("one. kill")
    channel.judge(final=False)
    assert channel.told is not None
    assert channel.told.text == "one. kill"
    assert heard(channel, " you") == "one. ***"


def test_what_is_read_goes_on_where_the_channel_does() -> None:
    channel = Channel(0, "content", lanes(words("bomb", action="mask")), Told())
    assert heard(channel, "一个 bo") == "一个 bo"
    channel.reopen(lanes(words("bomb", action="mask")))
    assert heard(channel, "mb ", "bomb") == "一个 bo*** ***"


def test_of_a_channel_that_nobody_asks_for_nothing_is_kept() -> None:
    channel = Channel(0, "content", lanes())
    channel.parts.append("text")
    channel.judge(final=True)
    assert channel.told is None


# What is cut back.

REWIND = words("bomb", action="rewind", name="rewinds")


def said(channel: Channel, *texts: str) -> Channel:
    for text in texts:
        channel.take(text)
    channel.judge(final=False)
    return channel


def test_a_channel_that_is_cut_back_counts_what_stands_and_what_is_lost() -> None:
    channel = said(Channel(0, "content", lanes(REWIND), Told(), [kind("word")]), "one", " two", " bomb", " more")
    assert channel.cut() == Cut(7, "word")
    assert (channel.stands, channel.lost, channel.end, channel.open) == (2, 2, 7, False)
    assert channel.told is not None
    assert channel.told.text == "one two"
    channel.count_anew()
    channel.reopen(lanes(REWIND))
    said(channel, " three", " bomb ")
    assert channel.cut().kind == "word"
    assert (channel.stands, channel.lost, channel.told.text) == (1, 1, "one two three")


def test_what_was_said_before_a_pause_stands_when_it_is_cut_back_behind_that() -> None:
    channel = said(Channel(0, "content", lanes(REWIND), Told(), [kind("sentence")]), "One.", " Two")
    channel.judge(final=True)
    channel.reopen(lanes(REWIND))
    said(channel, " three.", " Four", " bomb ")
    channel.cut()
    assert channel.told is not None
    assert channel.told.text == "One. Two three."
    assert (channel.stands, channel.lost) == (3, 2)


def test_of_a_call_that_is_cut_back_nothing_stands() -> None:
    channel = said(Channel(0, "tool_calls.0.function.arguments", lanes(REWIND), held=True), '{"a": ', '"bomb"}')
    channel.judge(final=True)
    assert channel.cut() == Cut(0, "call")
    assert (channel.stands, channel.lost, channel.end) == (0, 2, 0)


def test_what_nobody_holds_back_can_not_be_cut() -> None:
    with pytest.raises(AssertionError):
        Channel(0, "reasoning", lanes(REWIND)).cut()


def test_an_attempt_tells_what_has_become_of_all_that_a_choice_said() -> None:
    answer = said(Channel(1, "content", lanes(REWIND), Told(), [kind("word")]), "one", " two", " bomb", " more")
    thought = said(Channel(1, "reasoning", lanes()), "hm", "hm", "hm")
    call = said(Channel(1, "tool_calls.0.function.arguments", lanes(), held=True), "{")
    finding = answer.window.halted
    assert finding is not None
    for channel in (answer, call):
        channel.cut()
    made = attempted(finding, "word", [answer, thought, call], "content")
    assert made == Attempt(1, finding, "word", kept=2, wasted=3, beside=3)
    assert made.stands == 5
    assert made.wasting(4).wasted == 7
    assert [channel.stands for channel in (answer, thought, call)] == [0, 0, 0]
