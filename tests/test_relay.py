"""The relay, at the level of bytes: what the upstream sends, and what the client gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gateway.relay
from gateway.errors import UpstreamFault
from gateway.outbox import Ending, Hold
from gateway.plug import plugs
from gateway.relay import Manner, Relay
from gateway.rules import Rule
from gateway.surfaces import sse
from gateway.types import Draft, Exchange, Usage
from tests.rig import DONE, chat_stream, completion, delta, event, payloads, said, text_delta, usage_event
from tests.sight import lanes, made, regex, words
from tests.wires import Carried, carried, cut, exchange

MASK = words("bomb", "炸弹", action="mask", name="mask")
BLOCK = words("bomb", "炸弹", name="block")
PIECES = ("a bo", "mb, b.o.", "m.b or 炸", "弹。", "", "b\u200bom", "b 🙂 e\u0301", "x")


def call(arguments: str | None = None, index: int = 0, **function: Any) -> dict[str, Any]:
    """A tool call's part, as a delta's fields."""
    said = function if arguments is None else {**function, "arguments": arguments}
    return {"tool_calls": [{"index": index, "function": said}]}


def called(body: bytes, index: int = 0, choice: int = 0) -> str:
    """The arguments that a client puts together."""
    return "".join(
        part["function"].get("arguments") or ""
        for data in payloads(body)
        if isinstance(data, dict)
        for of in data["choices"]
        if of["index"] == choice
        for part in of["delta"].get("tool_calls", ())
        if part["index"] == index
    )


def finishes(body: bytes) -> dict[int, list[str]]:
    """The finish reasons each choice was given."""
    told: dict[int, list[str]] = {}
    for data in payloads(body):
        for choice in data["choices"] if isinstance(data, dict) else ():
            if choice["finish_reason"]:
                told.setdefault(choice["index"], []).append(choice["finish_reason"])
    return told


def ends_well(got: Carried) -> bool:
    return got.fault is None and got.body.endswith(DONE) and got.body.count(DONE) == 1


# Any cut.


ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
BETWEEN = st.sampled_from([b"", b"", b": ping", b"event: message", b"id: 7", b"retry: 100", b":"])


@st.composite
def wires(draw: st.DrawFn) -> bytes:
    """A stream in any of the dresses that the standard allows, one line end throughout."""
    events: list[bytes] = [delta("", role="assistant")]
    for _ in range(draw(st.integers(0, 7))):
        kind = draw(st.sampled_from(["text", "text", "text", "reason", "call", "other", "usage", "odd"]))
        text = draw(st.sampled_from(PIECES))
        events.append(
            {
                "text": delta(text),
                "reason": delta(reasoning_content=text),
                "call": delta(**call(orjson.dumps(text).decode()[1:-1])),
                "other": delta(text, index=1),
                "usage": usage_event(),
                "odd": event([]),
            }[kind]
        )
    ending = draw(st.sampled_from([[0], [0, 1], []]))
    events += [delta(draw(st.sampled_from([None, "x"])), index=index, finish="stop") for index in ending]
    events += draw(st.sampled_from([[DONE], [usage_event(), DONE], []]))
    end = draw(ENDS)
    lines: list[bytes] = []
    for one in events:
        lines += [line for line in (draw(BETWEEN),) if line]
        payload = one.removeprefix(b"data: ").strip()
        lines += [draw(st.sampled_from([b"data: ", b"data: ", b"data:"])) + payload, b""]
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + end.join([*lines, b""])


@pytest.mark.parametrize("rules", [[], [MASK], [BLOCK], [regex("炸.{0,9}x", "mask"), words("bomb", action="tag")]])
@settings(max_examples=100, deadline=None)
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


# Tool calls.


@pytest.mark.parametrize(
    "arguments",
    [
        '{"do": "bomb"}',
        '{"do": "\\u0062omb"}',
        '{"do": "\\u7206\\u70b8 \\u70b8\\u5f39"}',
        '{"do": "\\u70b8\\u5f39"}',
        '{"\\u70b8\\u5f39": 1}',
        '{"bomb": true}',
        '["x", {"y": ["炸弹"]}]',
        '"bomb"',
        '{"do": "bo\\u006db", "do": "fine"}',
        '{"do": "fine", "do": "bo\\u006db"}',
        '{"do": "bo\\u006db',
        '{"do": "炸弹',
        "not json: bomb",
        '{"do": "b\\u200bomb"}',
        '{"do": "x\\nbomb"}',
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_no_word_hides_in_a_tool_call(arguments: str, size: int) -> None:
    parts = [delta(**call(arguments[at : at + size])) for at in range(0, len(arguments), size)]
    got = carried([delta(**call(name="go")), *parts, delta(finish="tool_calls"), DONE], BLOCK)
    assert called(got.body) == ""
    assert finishes(got.body) == {0: ["content_filter"]}


@pytest.mark.parametrize("arguments", ['{"a": 1}', '{"a":"caf\\u00e9"}', '{"a": 1, "a": 2}', '{"a": ', "", "[1.0]"])
def test_a_tool_call_without_a_finding_goes_on_as_it_came(arguments: str) -> None:
    events = [delta(**call(name="go")), delta(**call(arguments)), delta(finish="tool_calls"), DONE]
    assert carried(events, BLOCK, MASK.model_copy(update={"id": "m"})).body == b"".join(events)


def test_masked_arguments_are_still_json() -> None:
    events = [delta(**call(part)) for part in ('{"to": "a bo', '\\u006db", "n": 1', "}")]
    got = carried([*events, delta(finish="tool_calls"), DONE], MASK)
    assert orjson.loads(called(got.body)) == {"to": "a ***", "n": 1}
    assert finishes(got.body) == {0: ["tool_calls"]}


@pytest.mark.parametrize(
    "arguments", ['{"card": 4111111111111111}', '{"a@b.io": 1}', '{"a": {"x@y.com": {"z": "b@c.io"}}}', '{"a": "a@b.io']
)
def test_what_is_masked_in_a_call_is_gone_wherever_it_stood(arguments: str) -> None:
    rule = made({"type": "pii"}, "mask", name="pii")
    got = carried([delta(**call(arguments)), delta(finish="tool_calls"), DONE], rule)
    assert got.draft.findings
    for secret in (b"4111111111111111", b"a@b.io", b"x@y.com", b"b@c.io"):
        assert secret not in got.body


def test_a_call_waits_until_it_is_whole_and_the_talk_does_not() -> None:
    got = carried(
        [delta("I will. "), delta(**call('{"a": ')), delta(**call("1}")), delta(finish="tool_calls"), DONE], BLOCK
    )
    assert said(got.pieces[0]) == "I will. "
    (with_call,) = [piece for piece in got.pieces if b"arguments" in piece]
    assert finishes(with_call) == {0: ["tool_calls"]}


def test_two_calls_are_judged_each() -> None:
    events = [
        delta(**call('{"a": "bo', 0)),
        delta(**call('mb"}', 1)),
        delta(**call('at"}', 0)),
        delta(finish="tool_calls"),
        DONE,
    ]
    assert carried(events, BLOCK).body == b"".join(events)


def test_a_call_that_goes_on_behind_its_end_is_judged_no_less() -> None:
    events = [delta(**call('{"a": ')), delta(finish="tool_calls"), delta(**call('"bo\\u006db"}')), DONE]
    assert rb"bo\\u006db" not in carried(events, BLOCK).body


def test_a_call_of_very_many_texts_is_judged() -> None:
    arguments = orjson.dumps({"a": ["x"] * 20_000 + ["bomb"]}).decode()
    assert called(carried([delta(**call(arguments)), delta(finish="tool_calls"), DONE], BLOCK).body) == ""


# What else stands in events.


def spelled(text: str) -> dict[str, Any]:
    return {"content": [{"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": []}]}


def with_logprobs(text: str, finish: str | None = None) -> bytes:
    return event([{"index": 0, "delta": {"content": text}, "logprobs": spelled(text), "finish_reason": finish}])


@pytest.mark.parametrize("rule", [MASK, BLOCK])
def test_what_spells_the_text_goes_with_it_and_only_with_it(rule: Rule) -> None:
    got = carried([with_logprobs("fine "), with_logprobs("bomb"), with_logprobs("!", "stop"), DONE], rule).body
    first, second = payloads(got)[:2]
    assert first["choices"][0]["logprobs"] == spelled("fine ")
    assert second["choices"][0]["logprobs"] is None
    assert b'"bomb"' not in got


@pytest.mark.parametrize(("wanted", "told"), [(True, True), (False, False)])
def test_usage_is_told_if_it_was_asked_for(wanted: bool, told: bool) -> None:
    got = carried(chat_stream("ok"), asked=exchange(wants_usage=wanted))
    assert (b"prompt_tokens" in got.body) is told
    assert got.draft.usage == Usage(7, 5)


def test_usage_beside_a_text_is_taken_out_alone_if_it_was_not_asked_for() -> None:
    told = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
    both = event([{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}], usage=told)
    got = carried([both, DONE], asked=exchange(wants_usage=False)).body
    assert said(got) == "ok"
    assert b"usage" not in got


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter", "odd"])
def test_the_upstream_s_own_finish_reason_is_kept(reason: str) -> None:
    got = carried([delta("a bomb"), delta(finish=reason), DONE], MASK)
    assert finishes(got.body) == {0: [reason]}
    assert got.draft.finish == {0: reason}


def test_an_event_without_choices_keeps_its_place() -> None:
    events = [event([]), delta("ok. "), event([], note="x"), delta(finish="stop"), DONE]
    assert carried(events, BLOCK).body == b"".join(events)


def test_order_is_kept_also_behind_a_held_text() -> None:
    events = [delta("kill "), event([], note="x"), delta("time"), delta(finish="stop"), DONE]
    assert carried(events, words("kill you")).body == b"".join(events)


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


# Answers in one piece.


def whole(raw: bytes, *rules: Rule, draft: Draft | None = None) -> bytes:
    """The way of an answer that comes in one piece."""
    return gateway.relay.whole(
        plugs("surfaces")["chat"](), exchange(), draft or Draft(), lambda role: lanes(*rules, role=role), raw
    )


def message(raw: bytes) -> tuple[str, str]:
    choice = orjson.loads(raw)["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


def test_a_whole_answer_without_a_finding_is_the_very_bytes() -> None:
    raw = b' {"choices": [{"index":0, "message":{"content":"caf\\u00e9"}, "finish_reason":"stop"}]}\n'
    assert whole(raw, BLOCK) == raw


def test_a_whole_answer_is_masked() -> None:
    assert message(whole(completion("a b.o.m.b!"), MASK)) == ("a ***!", "stop")


def test_a_whole_answer_is_cut_where_it_is_blocked() -> None:
    assert message(whole(completion("a bomb!"), BLOCK)) == ("a ", "content_filter")


def test_a_call_in_a_whole_answer_is_judged() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": '{"do": "bo\\u006db"}'}}
    raw = whole(completion("fine", tool_calls=[call]), MASK)
    assert orjson.loads(raw)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"do":"***"}'


def test_a_whole_answer_s_usage_is_booked() -> None:
    draft = Draft()
    whole(completion("fine"), draft=draft)
    assert draft.usage == Usage(7, 5)
    assert draft.finish == {0: "stop"}


@pytest.mark.parametrize("raw", [b"", b"oops", b"[]", b'"x"', b'{"choices": [1]}', b'{"a": \xff}', b'{"choices": "x"}'])
def test_a_whole_answer_that_is_none_is_a_fault(raw: bytes) -> None:
    with pytest.raises(UpstreamFault) as caught:
        whole(raw, BLOCK)
    assert caught.value.kind == "garbage"


@pytest.mark.parametrize("text", ["a bomb", "fine", "a bo", "炸 弹", "bombastic", "b.o.m.b", "", "x" * 300 + " bomb"])
@pytest.mark.parametrize("rule", [MASK, BLOCK, words("bomb", action="tag", name="tag")])
def test_an_answer_in_one_piece_fares_as_in_many(text: str, rule: Rule) -> None:
    draft = Draft()
    at_once = message(whole(completion(text), rule, draft=draft))
    streamed = carried(chat_stream(*text), rule)
    assert at_once == (said(streamed.body), finishes(streamed.body)[0][0])
    assert (draft.findings, draft.finish, draft.usage) == (
        streamed.draft.findings,
        streamed.draft.finish,
        streamed.draft.usage or draft.usage,
    )


# What is kept back until it is known how the answer ends.

HOLDS: tuple[Hold, ...] = ("ends", "all")


class Held:
    """A relay that keeps something back, and what has left it."""

    def __init__(self, hold: Hold, *rules: Rule, asked: Exchange | None = None) -> None:
        self.asked, self.draft = asked or exchange(), Draft()
        surface = plugs("surfaces")[self.asked.surface]()
        self.relay = Relay(
            surface, self.asked, self.draft, lambda role: lanes(*rules, role=role), manner=Manner(hold, True)
        )
        self._decoder = sse.Decoder()
        self.body = b""

    def feed(self, *pieces: bytes) -> bytes:
        """What leaves for these bytes; of [DONE] nothing is said here."""
        return self._fed([frame for piece in pieces for frame in self._decoder.feed(piece)])

    def end(self) -> bytes:
        """What leaves when the upstream has ended."""
        return self._fed(self._decoder.flush(), final=True)

    def _fed(self, frames: list[sse.Frame], final: bool = False) -> bytes:
        ended = any(frame.data == sse.DONE for frame in frames)
        left = b"".join(self.relay.feed([frame for frame in frames if frame.data != sse.DONE], ended or final))
        self.body += left
        return left

    def release(self, *endings: Ending, bill: Usage | None = None) -> bytes:
        """What leaves with these endings of the first choices."""
        left = b"".join(self.relay.release(dict(enumerate(endings)), bill))
        self.body += left
        return left


def test_of_a_whole_answer_nothing_leaves_before_it_may() -> None:
    held = Held("all", BLOCK)
    events = chat_stream("你好 ", "and well.")
    assert [held.feed(event) for event in events] == [b""] * len(events)
    assert held.relay.answers == {0: "你好 and well."}
    assert held.release() == b"".join(events[:-1])


def test_of_an_answer_s_ends_only_these_are_kept_back() -> None:
    held = Held("ends", BLOCK)
    *texts, end, usage, done = chat_stream("你好 ", "and well.")
    assert [held.feed(event) for event in texts[:-1]] == texts[:-1]
    assert held.feed(texts[-1], end, usage, done) == texts[-1]
    assert held.release() == end + usage


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("rules", [[], [MASK], [BLOCK], [words("bomb", action="tag")]])
@settings(max_examples=40, deadline=None)
@given(wire=wires(), data=st.data())
def test_kept_back_or_not_the_same_bytes_leave(hold: Hold, rules: list[Rule], wire: bytes, data: st.DataObject) -> None:
    asked = exchange(choices=2)
    told = carried([wire], *rules, asked=asked)
    if told.fault is not None and told.fault.kind == "garbage":
        return
    held = Held(hold, *rules, asked=asked)
    held.feed(*cut(wire, data.draw(st.sets(st.integers(0, len(wire)), max_size=9))))
    held.end()
    held.release()
    assert held.body == told.body.removesuffix(DONE)
    for choice, answer in held.relay.answers.items():
        assert answer == said(held.body, choice)
    assert not held.relay.answers.keys() & held.draft.halted.keys()


def test_what_the_client_reads_is_known_as_far_as_it_has_come() -> None:
    held = Held("ends", MASK)
    held.feed(delta("one b.o."))
    assert held.relay.answers == {0: "one b.o."}
    held.feed(delta("m.b two. And b"))
    assert held.relay.answers == {0: "one *** two. And b"}
    assert held.relay.calls == set()


def test_only_the_answer_is_no_thought_and_no_call() -> None:
    held = Held("all", MASK)
    held.feed(delta(reasoning_content="a bomb"), delta("见 bomb"), delta(**call('{"a": 1}')), delta("x", index=1))
    assert held.relay.answers == {0: "见 bomb", 1: "x"}
    held.feed(delta(finish="stop"), delta(finish="stop", index=1), DONE)
    assert held.relay.answers == {0: "见 ***", 1: "x"}
    assert held.relay.calls == {0}


def test_an_answer_that_a_thought_interrupts_is_one() -> None:
    held = Held("ends", MASK)
    held.feed(delta("a bo"), delta(reasoning_content="hm"), delta("mb is bad"), delta(finish="stop"), DONE)
    held.release()
    assert held.relay.answers == {0: said(held.body)} == {0: "a bo*** is bad"}


def test_nobody_who_does_not_ask_has_an_answer_remembered() -> None:
    draft = Draft()
    one = Relay(plugs("surfaces")["chat"](), exchange(), draft, lambda role: lanes(role=role))
    one.feed([sse.Frame(b"", delta("a")[6:])])
    assert one.answers == {}


@pytest.mark.parametrize("size", [1, 3, 100])
def test_other_words_stand_in_the_place_of_an_answer(size: int) -> None:
    text = "利率是 4.75 percent, more or less. "
    held = Held("all", BLOCK)
    held.feed(*chat_stream(*(text[at : at + size] for at in range(0, len(text), size))))
    held.release(Ending("利率是 5.75 percent.", " (checked)"))
    assert said(held.body) == "利率是 5.75 percent. (checked)"
    assert finishes(held.body) == {0: ["stop"]}
    assert b"4.75" not in held.body
    assert usage_event() in held.body


def test_a_thought_before_them_stays() -> None:
    held = Held("all")
    held.feed(delta(reasoning_content="hm "), delta("wrong", reasoning_content="so"), delta(finish="stop"), DONE)
    held.release(Ending("right"))
    assert said(held.body, name="reasoning_content") == "hm so"
    assert said(held.body) == "right"


def test_they_may_be_none_at_all() -> None:
    held = Held("all")
    held.feed(*chat_stream("wrong"))
    held.release(Ending(""))
    assert said(held.body) == ""
    assert finishes(held.body) == {0: ["stop"]}


@pytest.mark.parametrize("hold", HOLDS)
def test_words_behind_an_answer_come_with_its_end(hold: Hold) -> None:
    held = Held(hold, BLOCK)
    events = chat_stream("all of ", "it")
    held.feed(*events)
    held.release(Ending(behind="\n\n【更正】……", note={"refined": {"outcome": "corrected"}}))
    assert said(held.body) == "all of it\n\n【更正】……"
    (end,) = [c for data in payloads(held.body) for c in data["choices"] if c["finish_reason"]]
    assert end["retrace"] == {"refined": {"outcome": "corrected"}}
    assert held.body.startswith(b"".join(events[:3]))


@pytest.mark.parametrize("hold", HOLDS)
def test_each_choice_ends_in_its_own_way(hold: Hold) -> None:
    held = Held(hold, BLOCK, asked=exchange(choices=3))
    held.feed(delta("one"), delta("two", index=1), delta("a bomb ", index=2), delta(finish="stop", index=1))
    held.feed(delta(finish="length"), delta("more", index=2), delta(finish="stop", index=2), DONE)
    assert held.relay.answers == {0: "one", 1: "two"}
    held.release(Ending(behind=" [1]"), Ending(behind=" [2]"))
    assert [said(held.body, n) for n in range(3)] == ["one [1]", "two [2]", "a "]
    assert finishes(held.body) == {0: ["length"], 1: ["stop"], 2: ["content_filter"]}


@pytest.mark.parametrize("hold", HOLDS)
def test_an_answer_that_is_blocked_as_a_whole_waits_for_nobody(hold: Hold) -> None:
    held = Held(hold, BLOCK)
    held.feed(delta("a "), delta("bomb "), delta("more"))
    assert held.relay.done
    assert (said(held.body), finishes(held.body)) == ("a ", {0: ["content_filter"]})
    assert held.relay.answers == {}


def test_what_spelled_the_words_goes_with_them() -> None:
    held = Held("all")
    held.feed(with_logprobs("wrong "), with_logprobs("too", "stop"), DONE)
    held.release(Ending("right"))
    assert b"wrong" not in held.body
    assert b'"too"' not in held.body


@pytest.mark.parametrize(("wanted", "told"), [(True, [77]), (False, [])])
def test_a_bill_is_added_to_a_usage_that_is_told(wanted: bool, told: list[int]) -> None:
    held = Held("all", asked=exchange(wants_usage=wanted))
    held.feed(*chat_stream("ok"))
    held.release(bill=Usage(70, 9))
    usages = [data["usage"] for data in payloads(held.body) if data.get("usage")]
    assert [usage["prompt_tokens"] for usage in usages] == told
    assert held.draft.usage == Usage(7, 5)


def test_a_bill_waits_for_the_usage() -> None:
    """An answer is at its end before its usage has come."""
    held = Held("ends")
    *events, usage, done = chat_stream("ok")
    held.feed(*events)
    assert held.relay.complete
    assert finishes(held.release(Ending(behind="!"), bill=Usage(70, 9))) == {0: ["stop"]}
    (told,) = payloads(held.feed(usage, done))
    assert told["usage"] == {"prompt_tokens": 77, "completion_tokens": 14, "total_tokens": 91}


def test_completions_are_kept_back_like_chats() -> None:
    held = Held("all", asked=exchange(surface="completions"))
    held.feed(text_delta("wrong "), text_delta("too"), text_delta(finish="stop"), DONE)
    assert held.relay.answers == {0: "wrong too"}
    held.release(Ending("right"))
    assert "".join(data["choices"][0]["text"] for data in payloads(held.body)) == "right"
