"""Events that wait for their time. What becomes of them together stands in test_relay.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson
import pytest

from gateway import explain
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.outbox import Ending, Hold, Outbox, parsed
from gateway.plug import plugs
from gateway.rules import Rule
from gateway.surfaces.sse import Frame, frame
from gateway.types import Action, Attempt, Draft, Exchange, Finding, Usage
from gateway.waiting import NO_ENDS, Channel, Mark, Run, Told, Waiting
from tests.anchors.sight import kind
from tests.rig import delta, event, payloads, said, usage_event
from tests.sight import lanes, regex, words
from tests.wires import exchange

REWIND = regex("guaranteed", "rewind")
MASK = words("secret", action="mask", name="mask")


def framed(raw: bytes) -> Frame:
    return Frame(raw, raw.removeprefix(b"data: ").strip())


class Box:
    """An outbox, and one channel that speaks into it."""

    def __init__(self, *rules: Rule, hold: Hold = "nothing", anchors: bool = False, **asked: Any) -> None:
        self.draft, self.asked = Draft(), exchange(**asked)
        trip = Trip(0.0, draft=self.draft, exchange=self.asked)
        explains = partial(explain.path, trip) if self.asked.explain else None
        self.outbox = Outbox(plugs("surfaces")["chat"](), self.asked, self.draft, frame, hold, explains)
        self.channel = Channel(0, "content", lanes(*rules), Told(), [kind("sentence")] if anchors else None)

    def waiting(self, raw: bytes, text: str, ends: str = "", usage: bool = False) -> Waiting:
        channel, start = self.channel, self.channel.end
        channel.take(text)
        marks = (Mark(channel, channel.window, start, channel.end, text),) if text else ()
        return Waiting(framed(raw), marks, {0: ends} if ends else NO_ENDS, usage)

    def say(self, *texts: str, **fields: Any) -> None:
        for text in texts:
            self.outbox.add(self.waiting(delta(text, **fields), text))

    def end(self, text: str = "", reason: str = "stop") -> None:
        self.outbox.add(self.waiting(delta(text or None, finish=reason), text, reason))

    def drain(self, final: bool = False) -> bytes:
        self.channel.judge(final)
        return b"".join(self.outbox.drain())

    def halt(self) -> None:
        assert self.channel.window.halted
        self.draft.halted[0] = self.channel.window.halted


def test_what_no_rule_touched_leaves_as_it_came_and_in_order() -> None:
    box = Box(MASK)
    box.say("one ", "two ")
    box.end()
    assert box.drain(final=True) == delta("one ") + delta("two ") + delta(finish="stop")


def test_nothing_overtakes_what_waits() -> None:
    box = Box(MASK)
    box.say("one sec")
    box.outbox.add(Waiting(framed(event([])), (), NO_ENDS))
    assert box.drain() == b""
    box.say("ond ")
    assert box.drain() == delta("one sec") + event([]) + delta("ond ")


def test_a_touched_event_is_written_anew() -> None:
    box = Box(MASK)
    box.say("a sec", "ret, x")
    body = box.drain(final=True)
    assert said(body) == "a ***, x"
    assert b"secret" not in body


def test_a_row_of_events_leaves_as_one_and_singly_if_a_rule_touched_one() -> None:
    for texts, left in ((["a ", "b "], "a b "), (["a ", "secret ", "b "], "a *** b ")):
        box = Box(MASK)
        box.outbox.add(Run(box.channel, [framed(delta(text)) for text in texts], texts))
        assert said(box.drain(final=True)) == left


# What was cut away.


@pytest.mark.parametrize("in_a_row", [False, True])
def test_of_what_was_cut_back_only_what_stands_before_the_cut_leaves(in_a_row: bool) -> None:
    box = Box(REWIND, anchors=True)
    texts = ["One. ", "It is ", "guaranteed ", "to work. "]
    if in_a_row:
        box.outbox.add(Run(box.channel, [framed(delta(text)) for text in texts], texts))
    else:
        box.say(*texts)
    box.channel.judge(final=False)
    box.channel.cut()
    assert payloads(b"".join(box.outbox.drain())) == payloads(delta("One."))


def test_who_speaks_is_told_even_if_nothing_of_it_is_left() -> None:
    box = Box(REWIND, anchors=True)
    box.say("guaranteed ", role="assistant")
    box.say("to work ")
    box.channel.judge(final=False)
    box.channel.cut()
    assert payloads(b"".join(box.outbox.drain())) == payloads(delta("", role="assistant"))


def test_an_end_that_is_none_is_taken_back() -> None:
    box = Box()
    waiting = box.waiting(delta("so", finish="stop"), "so")
    box.outbox.add_less(waiting, parsed(waiting.frame.data), {0}, counts=True)
    assert payloads(box.drain(final=True)) == payloads(delta("so"))


def test_an_end_of_one_choice_is_taken_back_and_that_of_another_stands() -> None:
    choices: list[dict[str, Any]] = [
        {"index": n, "delta": {}, "logprobs": None, "finish_reason": "stop"} for n in range(2)
    ]
    box = Box(choices=2)
    waiting = Waiting(framed(event(choices)), (), {1: "stop"})
    box.outbox.add_less(waiting, parsed(waiting.frame.data), {0}, counts=True)
    (told,) = payloads(box.drain())
    assert [choice["finish_reason"] for choice in told["choices"]] == [None, "stop"]


def test_an_event_that_says_nothing_but_such_an_end_is_none() -> None:
    box = Box()
    waiting = Waiting(framed(delta(finish="stop")), (), NO_ENDS)
    box.outbox.add_less(waiting, parsed(waiting.frame.data), {0}, counts=True)
    assert box.drain(final=True) == b""


@pytest.mark.parametrize(("counts", "left"), [(True, [usage_event()]), (False, [])])
def test_usage_that_is_not_wanted_is_not_told(counts: bool, left: list[bytes]) -> None:
    box = Box()
    waiting = Waiting(framed(usage_event()), (), NO_ENDS, usage=True)
    box.outbox.add_less(waiting, parsed(waiting.frame.data), set(), counts)
    assert box.drain() == b"".join(left)


def test_of_an_event_that_says_more_than_its_usage_the_rest_is_told() -> None:
    box = Box()
    raw = event([{"index": 0, "delta": {"content": "so"}, "finish_reason": None}], usage={"prompt_tokens": 1})
    waiting = box.waiting(raw, "so", usage=True)
    box.outbox.add_less(waiting, parsed(waiting.frame.data), set(), counts=False)
    (told,) = payloads(box.drain(final=True))
    assert "usage" not in told
    assert told["choices"][0]["delta"] == {"content": "so"}


# What is told of it, if asked.

FINDING = Finding("r", "R101", Action.REWIND, 4, 9)


def notes(body: bytes) -> list[Any]:
    return [c["retrace"] for data in payloads(body) for c in data["choices"] if "retrace" in c]


def test_an_answer_s_end_tells_how_often_and_why_it_was_cut_back_if_asked() -> None:
    box = Box(explain=True)
    box.draft.attempts += [Attempt(0, FINDING, "word", 3, 2, 1), Attempt(1, FINDING, "call", 0, 1)]
    box.say("so ")
    box.end("it is.")
    told = {"reason": "R101", "rule": "r", "anchor": "word", "kept": 4, "wasted": 2}
    body = box.drain(final=True)
    assert [note["attempts"] for note in notes(body)] == [[told]]
    assert body.startswith(delta("so "))


def test_and_not_if_nobody_asked() -> None:
    box = Box()
    box.draft.attempts.append(Attempt(0, FINDING, "word", 3, 2))
    box.end("it is.")
    assert box.drain(final=True) == delta("it is.", finish="stop")


def test_a_choice_that_is_halted_after_all_tells_both() -> None:
    box = Box(words("bomb", name="b"), explain=True)
    box.draft.attempts.append(Attempt(0, FINDING, "word", 3, 2))
    box.say("a bomb ", "more")
    box.channel.judge(final=True)
    box.halt()
    (note,) = notes(b"".join(box.outbox.drain()))
    assert {name: note[name] for name in ("verdict", "reason", "rule")} == {
        "verdict": "block",
        "reason": "R101",
        "rule": "b",
    }
    assert [attempt["anchor"] for attempt in note["attempts"]] == ["word"]


def test_what_the_review_notes_stands_beside_it() -> None:
    box = Box(hold="ends", explain=True)
    box.draft.attempts.append(Attempt(0, FINDING, "word", 3, 2))
    box.say("so ")
    box.end()
    box.drain(final=True)
    box.outbox.release({0: Ending(behind="!", note={"refined": {"outcome": "fine"}})}, None)
    body = b"".join(box.outbox.drain())
    (note,) = notes(body)
    assert note.keys() >= {"attempts", "refined"}
    assert said(body) == "!"


# What is kept back.


@pytest.mark.parametrize(("hold", "leaves"), [("nothing", 2), ("ends", 1), ("all", 0), ("judged", 0)])
def test_as_much_is_kept_back_as_is_asked_for(hold: Hold, leaves: int) -> None:
    box = Box(hold=hold)
    box.say("so ")
    box.end()
    assert len(payloads(box.drain(final=True))) == leaves
    box.outbox.release({}, None)
    assert len(payloads(b"".join(box.outbox.drain()))) == 2 - leaves


@pytest.mark.parametrize(("hold", "leaves"), [("all", True), ("judged", False)])
def test_only_who_is_to_judge_the_halted_too_keeps_these_back(hold: Hold, leaves: bool) -> None:
    box = Box(words("bomb"), hold=hold)
    box.say("a bomb ")
    box.channel.judge(final=True)
    box.halt()
    assert bool(box.outbox.drain()) is leaves


def test_an_answer_that_is_replaced_says_nothing_of_its_own() -> None:
    box = Box(hold="all")
    box.say("wrong ", "too ")
    box.end("also")
    box.drain(final=True)
    box.outbox.release({0: Ending("right")}, None)
    assert said(b"".join(box.outbox.drain())) == "right"


def test_a_bill_is_put_on_the_usage_that_is_told() -> None:
    box = Box(hold="all")
    box.outbox.add(Waiting(framed(usage_event(7, 5)), (), NO_ENDS, usage=True))
    box.outbox.release({}, Usage(70, 9))
    (told,) = payloads(box.drain())
    assert told["usage"] == {"prompt_tokens": 77, "completion_tokens": 14, "total_tokens": 91}


# Bytes.


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"3", b'"text"', b"null"])
def test_what_is_no_object_is_garbage(raw: bytes) -> None:
    with pytest.raises(UpstreamFault) as caught:
        parsed(raw)
    assert caught.value.kind == "garbage"


def test_what_is_nested_too_deeply_to_be_written_is_garbage() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(UpstreamFault) as caught:
        Box().outbox.framed({"deep": deep})
    assert caught.value.kind == "garbage"


def test_an_event_is_written_in_the_frame_that_is_asked_for() -> None:
    asked: Exchange = exchange()
    bare = Outbox(plugs("surfaces")["chat"](), asked, Draft(), bytes, "nothing")
    assert bare.framed({"a": 1}) == Frame(b'{"a":1}', b'{"a":1}')
    assert Box().outbox.framed({"a": 1}).raw == b"data: " + orjson.dumps({"a": 1}) + b"\n\n"
