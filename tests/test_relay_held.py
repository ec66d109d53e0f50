"""What a relay keeps back until it is known how the answer ends, and what it then says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.outbox import Ending, Hold
from gateway.plug import plugs
from gateway.relay import Manner, Relay
from gateway.rules import Rule
from gateway.surfaces import sse
from gateway.types import Draft, Exchange, Usage
from tests.relayed import BLOCK, MASK, call, finishes, wires, with_logprobs
from tests.rig import DONE, chat_stream, delta, payloads, said, text_delta, usage_event
from tests.sight import lanes, words
from tests.wires import carried, cut, exchange

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
