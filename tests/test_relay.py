"""The relay, at the level of bytes: what the upstream sends, and what the client gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.rules import Rule
from gateway.types import Usage
from tests.relayed import BLOCK, MASK, ends_well, finishes, wires
from tests.rig import DONE, chat_stream, delta, event, payloads, said, text_delta, usage_event
from tests.sight import made, regex, words
from tests.wires import carried, cut, exchange


@pytest.mark.parametrize("rules", [[], [MASK], [BLOCK], [regex("炸.{0,9}x", "mask"), words("bomb", action="tag")]])
@settings(max_examples=60, deadline=None)
@given(wire=wires(), data=st.data())
def test_the_client_gets_the_same_bytes_for_any_cut(rules: list[Rule], wire: bytes, data: st.DataObject) -> None:
    asked = exchange(choices=2)
    whole = carried([wire], *rules, asked=asked)
    places = data.draw(st.one_of(st.just(range(len(wire))), st.sets(st.integers(0, len(wire)), max_size=9)))
    got = carried(cut(wire, places), *rules, asked=asked)
    assert got.body == whole.body
    assert str(got.fault) == str(whole.fault)
    assert got.draft.finish == whole.draft.finish
    assert got.draft.halted.keys() == whole.draft.halted.keys()


@pytest.mark.long
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_single_cut_of_a_masked_stream_gives_the_same_bytes(end: bytes) -> None:
    wire = b"".join([b": hello\n\n", *chat_stream("你好 bo", "mb 🙂")]).replace(b"\n", end)
    whole = carried([wire], MASK).body
    assert said(whole) == "你好 *** 🙂"
    assert {carried(cut(wire, [at]), MASK).body for at in range(len(wire))} == {whole}


# What is let alone.


def test_untouched_events_go_on_as_the_bytes_they_came_as() -> None:
    odd = b'data: {"choices": [ {"index":0, "delta":{"content":"caf\\u00e9 \\/ ok"} } ], "extra":1.0}\n\n'
    events = [odd, *chat_stream("fine", " and well. ")]
    assert carried(events, BLOCK).body == b"".join(events)


def test_of_a_masked_stream_only_the_masked_events_are_written_anew() -> None:
    events = chat_stream("one ", "two bomb ", "three ")
    got = carried(events, MASK).body
    kept = [one for one in events if b"bomb" not in one]
    assert all(one in got for one in kept)
    assert said(got) == "one two *** three "


def test_the_words_before_a_held_one_have_left_already() -> None:
    assert said(carried([delta("fine so far. "), delta("a b")], MASK).pieces[0]) == "fine so far. "


def test_comments_names_and_ids_of_the_upstream_stay_behind() -> None:
    wire = b": hi\n\nevent: x\nid: 3\nretry: 9\n" + delta("ok", finish="stop") + DONE
    assert carried([wire], BLOCK).body == delta("ok", finish="stop") + DONE


def test_an_event_of_several_lines_is_one() -> None:
    wire = b'data: {"choices": [{"index": 0,\ndata:"delta": {"content": "bomb"}, "finish_reason": "stop"}]}\n\n' + DONE
    assert said(carried([wire], MASK).body) == "***"


def test_an_event_without_data_is_none() -> None:
    assert ends_well(carried([b"data: \n\ndata:\n\ndata\n\n", *chat_stream("ok")], BLOCK))


def test_events_that_are_json_only_together_are_none() -> None:
    parts = [b'data: {"choices":[]},{"choices":[]}\n\n', b'data: {"choices":[\n\n', b"data: ]}\n\n"]
    at_once, apart = carried([b"".join(parts)], BLOCK), carried(parts, BLOCK)
    assert at_once.fault is not None
    assert at_once.body == apart.body


# Masking and blocking.


def test_a_word_is_masked_across_events() -> None:
    got = carried(chat_stream("a b", ".o", ".m.", "b is ", "bad"), MASK)
    assert said(got.body) == "a *** is bad"
    assert finishes(got.body) == {0: ["stop"]}
    assert ends_well(got)


def test_a_blocked_answer_ends_before_the_word_with_content_filter() -> None:
    got = carried(chat_stream("a good ", "bo", "mb, and more", " and more"), BLOCK)
    assert said(got.body) == "a good "
    assert finishes(got.body) == {0: ["content_filter"]}
    assert got.draft.finish == {0: "content_filter"}
    assert ends_well(got)


def test_of_the_event_where_the_word_begins_the_rest_still_leaves() -> None:
    assert said(carried(chat_stream("good bomb bad"), BLOCK).body) == "good "


def test_a_word_in_the_last_event_is_blocked_too() -> None:
    got = carried([delta("a "), delta("bomb", finish="stop"), DONE], BLOCK)
    assert (said(got.body), finishes(got.body)) == ("a ", {0: ["content_filter"]})


def test_an_answer_too_short_ends_with_content_filter() -> None:
    got = carried(chat_stream("a ", "b"), made({"type": "length", "min_chars": 9}, name="short"))
    assert (said(got.body), finishes(got.body)) == ("a b", {0: ["content_filter"]})


def test_once_every_choice_is_blocked_the_upstream_is_not_read_any_further() -> None:
    def pieces() -> Any:
        yield delta("bomb ")
        pytest.fail("the relay reads on")

    assert ends_well(carried(pieces(), BLOCK))


def test_the_client_is_told_the_reason_only_if_it_asked() -> None:
    told = {"verdict": "block", "reason": "R101", "rule": "block"}
    asking = carried(chat_stream("bomb"), BLOCK, asked=exchange(explain=True)).body
    assert [c["retrace"] for data in payloads(asking)[:-1] for c in data["choices"] if "retrace" in c] == [told]
    assert b"retrace" not in carried(chat_stream("bomb"), BLOCK).body


def test_what_was_found_and_done_is_booked() -> None:
    got = carried(chat_stream("bomb ", "x"), MASK)
    assert [(f.rule, f.start, f.end) for f in got.draft.findings] == [("mask", 0, 4)]
    assert got.draft.usage == Usage(7, 5)
    assert got.draft.finish == {0: "stop"}


def test_held_characters_are_counted() -> None:
    got = carried([delta("ok "), delta("kill "), delta("time "), delta(finish="stop"), DONE], words("kill you"))
    assert got.held == len("kill ")


def test_what_follows_a_block_in_the_same_delivery_is_not_said_either() -> None:
    """Content ends in a block as reasoning takes over, and goes on: all of it comes at once."""
    events = [
        delta("a bo"),
        delta("mb, "),
        delta(reasoning_content="hm"),
        delta("and more"),
        delta(finish="stop"),
        DONE,
    ]
    got = carried([b"".join(events)], BLOCK)
    assert said(got.body) == "a "
    assert finishes(got.body) == {0: ["content_filter"]}
    assert got.body == carried(events, BLOCK).body


def test_nothing_is_told_behind_the_end_of_the_last_choice() -> None:
    events = [delta("bomb "), delta(" fine"), delta(finish="stop"), usage_event(), DONE]
    assert carried([b"".join(events)], BLOCK).body == carried(events, BLOCK).body


# Several choices, several channels.


def test_each_choice_is_judged_by_itself() -> None:
    events = [
        delta("a bo"),
        delta("a bo", index=1),
        delta("mb ", index=1),
        delta("at "),
        delta("x", index=1),
        delta("y"),
    ]
    ends = [delta(finish="stop"), delta(finish="stop", index=1), usage_event(), DONE]
    got = carried([*events, *ends], BLOCK, asked=exchange(choices=2))
    assert said(got.body, 0) == "a boat y"
    assert said(got.body, 1) == "a "
    assert finishes(got.body) == {0: ["stop"], 1: ["content_filter"]}
    assert ends_well(got)


def test_two_choices_in_one_event_are_two() -> None:
    both = [
        {"index": index, "delta": {"content": text}, "logprobs": None, "finish_reason": "stop"}
        for index, text in enumerate(["fine", "bomb"])
    ]
    got = carried([event(both), DONE], BLOCK, asked=exchange(choices=2))
    assert (said(got.body, 0), said(got.body, 1)) == ("fine", "")
    assert finishes(got.body) == {0: ["stop"], 1: ["content_filter"]}


@pytest.mark.parametrize("apart", [False, True])
def test_the_usage_is_told_also_when_one_of_two_choices_was_blocked(apart: bool) -> None:
    events = [delta("bomb "), delta("fine", index=1), delta(finish="stop", index=1), usage_event(), DONE]
    got = carried(events if apart else [b"".join(events)], BLOCK, asked=exchange(choices=2))
    assert usage_event() in got.body


def test_reasoning_and_content_are_texts_of_their_own() -> None:
    events = [delta(reasoning_content="think bo"), delta("mb is no word here"), delta(finish="stop"), DONE]
    assert carried(events, BLOCK).body == b"".join(events)
    blocked = carried([delta(reasoning_content="a bomb "), delta("never said"), DONE], BLOCK).body
    assert said(blocked, name="reasoning_content") == "a "
    assert said(blocked) == ""


def test_a_text_that_another_interrupts_goes_on_where_it_was() -> None:
    """Content, reasoning, content again: the word over the pause is found, and what comes waits for nothing."""
    events = [delta("a bo"), delta(reasoning_content="hm"), delta("mb is bad"), delta(finish="stop"), DONE]
    masked = carried(events, MASK).body
    assert said(masked) == "a bo*** is bad"
    assert said(masked, name="reasoning_content") == "hm"
    blocked = carried(events, BLOCK).body
    assert said(blocked) == "a bo"
    assert finishes(blocked) == {0: ["content_filter"]}


def test_when_another_text_begins_the_one_before_does_not_make_it_wait() -> None:
    got = carried([delta(reasoning_content="a bo"), delta("good. "), delta("x")], BLOCK)
    assert said(got.pieces[0] + got.pieces[1], name="reasoning_content") == "a bo"


def test_a_field_nobody_has_heard_of_is_judged_too() -> None:
    events = [delta(annotation="a bo"), delta(annotation="mb!"), delta(deep={"list": [{"words": "炸弹"}]}), DONE]
    masked = carried([*events[:-1], delta(finish="stop"), DONE], MASK).body
    assert said(masked, name="annotation") == "a ***!"
    assert "炸弹".encode() not in masked


def test_completions_are_judged_like_chats() -> None:
    events = [text_delta("a bo"), text_delta("mb!"), text_delta(finish="stop"), DONE]
    got = carried(events, MASK, asked=exchange(surface="completions")).body
    assert "".join(data["choices"][0]["text"] for data in payloads(got)[:-1]) == "a ***!"


# How it ends.


def test_an_error_of_the_upstream_is_passed_on_and_not_called_done() -> None:
    error = b'data: {"error": {"message": "out of memory"}}\n\n'
    got = carried([delta("ok "), error], BLOCK)
    assert got.fault is None
    assert got.body == delta("ok ") + error


def test_a_stream_that_stops_early_is_a_fault_and_not_called_done() -> None:
    got = carried([delta("ok "), delta("b")], BLOCK)
    assert got.fault is not None
    assert got.fault.kind == "broken_off"
    assert said(got.body) == "ok b"
    assert DONE not in got.body


def test_a_stream_that_lacks_only_its_done_is_given_one() -> None:
    got = carried([delta("ok", finish="stop").rstrip(b"\n")], BLOCK)
    assert got.body == delta("ok", finish="stop") + DONE


@pytest.mark.parametrize(
    "bad",
    [
        b"data: {oops\n\n",
        b"data: [1]\n\n",
        b'data: {"choices": {"index": 0}}\n\n',
        b'data: {"choices": [3]}\n\n',
        b'data: {"choices": [{"index": "x"}]}\n\n',
    ],
)
def test_garbage_is_a_fault_and_never_passed_on(bad: bytes) -> None:
    got = carried([delta("ok "), bad, delta("more")], BLOCK)
    assert got.fault is not None
    assert got.fault.kind == "garbage"
    assert bad not in got.body
    assert b"more" not in got.body


def test_what_comes_behind_done_is_not_heard() -> None:
    assert carried([*chat_stream("ok"), delta("bomb")], BLOCK).body == b"".join(chat_stream("ok"))


def every(*texts: str) -> Sequence[bytes]:
    return [delta(text) for text in texts]


def test_masked_events_keep_all_their_other_fields() -> None:
    (one,) = every("bomb")
    got = payloads(carried([one, delta(finish="stop"), DONE], MASK).body)[0]
    expected = orjson.loads(one[6:])
    expected["choices"][0]["delta"]["content"] = "***"
    assert got == expected
