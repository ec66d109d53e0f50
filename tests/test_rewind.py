"""What a rewinding rule means for one answer, and how later calls' events become part of it.

The way over a wire stands in test_resume.py, its laws in window/test_repaired.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.plug import plugs
from gateway.rewind import SEAM, Budget, Seam, Stitch
from gateway.rules import Rule
from gateway.surfaces.sse import Frame, frame
from gateway.types import Action, Attempt, Draft, Finding, Usage
from tests.rewinds import read, repaired, rewinds
from tests.rig import DONE, chat_stream, delta, event, payloads, said, text_delta, usage_event
from tests.sight import regex, words
from tests.wires import exchange

CHAT = plugs("surfaces")["chat"]()
FINDING = Finding("rewinds", "R101", Action.REWIND, 3, 9, text="guaranteed")


# The budget.


def found(rule: str) -> Finding:
    return Finding(rule, "R101", Action.REWIND, 0, 1)


def test_an_answer_is_cut_back_as_often_as_the_rule_says_and_then_it_means_something_else() -> None:
    for otherwise in (Action.BLOCK, Action.TAG, Action.REFINE):
        budget = Budget([rewinds(budget=2, **{"else": otherwise.value})])
        meant = [budget.meaning(found("rewinds")) for _ in range(4)]
        assert meant == [Action.REWIND, Action.REWIND, otherwise, otherwise]


def test_all_rules_draw_on_one_budget_each_up_to_its_own() -> None:
    budget = Budget([rewinds(name="a", budget=1), rewinds(name="b", budget=3, **{"else": "tag"})])
    meant = [budget.meaning(found(name)) for name in "abab"]
    assert meant == [Action.REWIND, Action.REWIND, Action.BLOCK, Action.REWIND]
    assert budget.meaning(found("b")) is Action.TAG


def test_an_answer_may_be_cut_at_the_anchors_of_all_rules() -> None:
    budget = Budget(
        [
            rewinds(name="a"),
            rewinds(name="b", anchors=[{"type": "sentence"}, {"type": "word"}]),
            rewinds(name="c", anchors=[{"type": "json", "mode": "word"}, {"type": "entity", "words": ["白金卡"]}]),
        ]
    )
    assert [anchor.type for anchor in budget.rewinds.anchors] == ["word", "sentence", "json", "entity"]


# The seam.


def joined(kept: str, *parts: str) -> str:
    """What is read of a text and what goes on from it."""
    seam = Seam(kept)
    return kept + "".join(seam.feed(part, number == len(parts)) for number, part in enumerate(parts, 1))


@pytest.mark.parametrize(
    ("kept", "more", "whole"),
    [
        ("The fund pays a", "pays a return.", "The fund pays a return."),
        ("The fund pays a", "The fund pays a return.", "The fund pays a return."),
        ("The fund pays a", "return.", "The fund pays a return."),
        ("The fund pays a", " return.", "The fund pays a return."),
        ("The fund pays a", "another return.", "The fund pays a another return."),
        ("It can", "cancel", "It can cancel"),
        ("So it is", "is", "So it is"),
        ("First this.", "Then that.", "First this. Then that."),
        ("First this.", "\n\nThen that.", "First this.\n\nThen that."),
        ("It is 3.", "5 percent", "It is 3.5 percent"),
        ('{"a": 1', ', "b": 2}', '{"a": 1, "b": 2}'),
        ("这款产品的收益", "收益随市场变化。", "这款产品的收益随市场变化。"),
        ("这款产品", "期限三年。", "这款产品期限三年。"),
        ("今天", "天气很好。", "今天天气很好。"),
        ("收益。", "随市场变化。", "收益。随市场变化。"),
        ("The fund", "随市场", "The fund随市场"),
    ],
)
def test_what_is_said_again_is_taken_off_and_words_are_kept_apart(kept: str, more: str, whole: str) -> None:
    assert joined(kept, more) == whole
    assert joined(kept, *more) == whole


@given(st.text("ab。好 .", max_size=12), st.text("ab。好 .", max_size=12), st.lists(st.integers(0, 11), max_size=4))
def test_it_makes_no_difference_how_the_words_came(kept: str, more: str, places: Sequence[int]) -> None:
    edges = [0, *sorted({place for place in places if 0 < place < len(more)}), len(more)]
    parts = [more[begin:end] for begin, end in itertools.pairwise(edges)]
    whole = joined(kept, more)
    assert joined(kept, *parts, "") == whole
    assert whole.startswith(kept)
    assert whole.removeprefix(kept).lstrip(" ") in more


def test_nothing_is_said_before_it_is_known_where_the_continuation_begins() -> None:
    seam = Seam("one two three")
    assert [seam.feed(part, False) for part in ("two", " thr", "ee", " four", " five")] == [
        "",
        "",
        "",
        " four",
        " five",
    ]
    assert seam.closed


def test_without_a_text_before_it_everything_is_new() -> None:
    assert joined("", "one") == "one"


def test_of_a_long_text_only_the_end_can_be_said_again() -> None:
    kept = "Begun once. " + "word " * SEAM
    assert joined(kept, "Begun once.") == kept + "Begun once."


# The stitch.

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def stitched(*events: bytes, draft: Draft | None = None, choice: int = 0, others: int = 0, kept: str = "") -> list[Any]:
    """The events of a later call, as they are told."""
    stitch = Stitch(CHAT, HEAD, choice, draft or Draft(), others, Seam(kept) if kept else None)
    payload = [one.removeprefix(b"data: ").strip() for one in events]
    return [orjson.loads(told.data) for told in stitch.frames([Frame(b"", data) for data in payload])]


def attempts(*counts: tuple[int, int, int], choice: int = 0) -> list[Attempt]:
    return [Attempt(choice, FINDING, "word", kept, wasted, beside) for kept, wasted, beside in counts]


def test_later_events_are_told_as_if_the_first_call_had_gone_on() -> None:
    other = delta("so", role="assistant").replace(b"chatcmpl-1", b"other").replace(b'"created":1', b'"created":2')
    (told,) = stitched(other, choice=1)
    assert {name: told[name] for name in HEAD} == HEAD
    assert told["choices"] == [{"index": 1, "delta": {"content": "so"}, "logprobs": None, "finish_reason": None}]


def test_an_event_is_framed_as_it_will_be_sent() -> None:
    stitch = Stitch(CHAT, HEAD, 0, Draft(), 0, None)
    (told,) = stitch.frames([Frame(b"", delta("so")[6:-2])])
    assert told.raw == frame(told.data)


def test_an_upstream_s_own_error_is_told_as_it_is() -> None:
    error = b'data: {"error":{"message":"no"}}\n\n'
    assert stitched(error) == [{"error": {"message": "no"}}]


@pytest.mark.parametrize(
    ("lost", "before", "others", "told"),
    [
        ([(4, 2, 0)], None, 0, (7, 9)),  # asked again with 11 tokens, of which 4 are of the answer; 5 more were said
        ([(4, 2, 0), (3, 1, 0)], None, 0, (4, 12)),
        ([(4, 2, 6)], None, 0, (7, 15)),  # what was thought before stands too, but was not told again
        ([(4, 2, 0)], Usage(8, 6), 0, (8, 9)),  # the first call has told its prompt
        ([(4, 2, 0)], None, 10, (7, 19)),
        ([(40, 2, 0)], None, 0, (0, 45)),
    ],
)
def test_usage_is_true_of_all_calls(
    lost: list[tuple[int, int, int]], before: Usage | None, others: int, told: tuple[int, int]
) -> None:
    draft = Draft(usage=before, attempts=attempts(*lost))
    (data,) = stitched(usage_event(11, 5), draft=draft, others=others)
    usage = data["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == told
    assert usage["total_tokens"] == sum(told)
    assert usage["retrace"] == {"attempts": len(lost) + 1, "wasted_tokens": sum(wasted for _, wasted, _ in lost)}


def test_the_attempts_of_all_choices_are_told_and_the_tokens_of_its_own_are_added() -> None:
    draft = Draft(attempts=[*attempts((4, 2, 0)), *attempts((9, 3, 0), choice=1)])
    (data,) = stitched(usage_event(11, 5), draft=draft, others=20)
    assert data["usage"]["completion_tokens"] == 20 + 4 + 5
    assert data["usage"]["retrace"] == {"attempts": 3, "wasted_tokens": 5}


def test_no_more_tokens_come_from_a_cache_than_were_asked() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}}
    (data,) = stitched(event([], usage=usage), draft=Draft(attempts=attempts((4, 2, 0))))
    assert data["usage"]["prompt_tokens_details"] == {"cached_tokens": 7}


def test_what_is_said_again_is_taken_off_the_events() -> None:
    told = stitched(delta("pays"), delta(" a ret"), delta("urn"), delta(finish="stop"), kept="The fund pays a")
    assert [choice["delta"].get("content") for data in told for choice in data["choices"]] == ["", " ret", "urn", None]


@pytest.mark.parametrize("ends", [[delta("fund"), delta(finish="stop")], [delta("fund", finish="stop")]])
def test_what_waited_for_more_leaves_with_the_end(ends: list[bytes]) -> None:
    told = stitched(*ends, kept="The fund pays a")
    assert "".join(choice["delta"].get("content") or "" for data in told for choice in data["choices"]) == " fund"
    assert told[-1]["choices"][0]["finish_reason"] == "stop"


# Together.

FIRST = ("The fund is safe and pays a", " guaranteed", " return")
SECOND = chat_stream(" return", " that varies.")


def ends(body: bytes) -> list[tuple[int, str]]:
    return [(c["index"], c["finish_reason"]) for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_whatever_comes_behind_what_was_found_the_answer_ends_once(cut: int) -> None:
    """Also if it is the last word, whose end is only seen when the answer ends."""
    first = chat_stream(*FIRST[:cut], *([" guaranteed"] if cut == 1 else []))
    got = repaired(first, lambda _kept: SECOND, rewinds())
    assert said(got.body) == "The fund is safe and pays a return that varies."
    assert ends(got.body) == [(0, "stop")]
    assert got.kept == ["The fund is safe and pays a"]
    assert len([data for data in payloads(got.body)[:-1] if data.get("usage")]) == 1


def test_who_is_only_told_to_go_on_may_say_it_again() -> None:
    again = chat_stream("pays a return", " that varies.")
    got = repaired(chat_stream(*FIRST), lambda _kept: again, rewinds(), instructed=True)
    assert said(got.body) == "The fund is safe and pays a return that varies." == got.answers[0]


def test_a_finding_that_ends_the_answer_after_all_is_a_block() -> None:
    got = repaired(chat_stream(*FIRST), lambda _kept: chat_stream(" guaranteed", " it is"), rewinds(budget=1))
    assert ends(got.body) == [(0, "content_filter")]
    assert [finding.action for finding in got.draft.findings] == [Action.REWIND, Action.BLOCK]
    assert got.draft.halted[0].action is Action.BLOCK
    assert got.draft.verdict.word == "block"


def test_in_a_thought_nothing_can_be_cut_back_so_it_ends_the_answer() -> None:
    events = [delta(reasoning_content="it is guaranteed "), delta("So."), delta(finish="stop"), DONE]
    got = repaired(events, lambda _kept: SECOND, rewinds())
    assert ends(got.body) == [(0, "content_filter")]
    assert got.kept == []
    assert got.draft.verdict.word == "block"


def test_what_stood_beside_the_answer_is_counted_too() -> None:
    thought = [delta(reasoning_content=part) for part in ("hm ", "so ", "well ")]
    got = repaired([*thought, *chat_stream(*FIRST)], lambda _kept: SECOND, rewinds())
    (attempt,) = got.draft.attempts
    assert (attempt.kept, attempt.wasted, attempt.beside) == (1, 2, 3)
    assert said(got.body, name="reasoning_content") == "hm so well "


def test_a_thought_that_interrupts_an_answer_does_not_confuse_what_is_kept() -> None:
    first = [delta("one "), delta("two "), delta(reasoning_content="hm "), delta("three "), delta("guaranteed ")]
    got = repaired(first, lambda _kept: SECOND, rewinds())
    assert got.kept == ["one two three"]
    (attempt,) = got.draft.attempts
    assert (attempt.kept, attempt.wasted, attempt.beside) == (2, 2, 1)  # the blank of `three ` was cut away


# Calls.


def call(arguments: str, index: int = 0, **function: Any) -> bytes:
    return delta(tool_calls=[{"index": index, "function": {**function, "arguments": arguments}}])


def calling(*arguments: str) -> list[bytes]:
    made = [event for n, text in enumerate(arguments) for event in (call("", n, name=f"f{n}"), call(text, n))]
    return [delta("Let me see."), *made, delta(finish="tool_calls"), usage_event(), DONE]


def called(body: bytes) -> list[str]:
    parts = [p for d in payloads(body)[:-1] for c in d["choices"] for p in c["delta"].get("tool_calls") or ()]
    indices = sorted({part["index"] for part in parts})
    return ["".join(part["function"]["arguments"] for part in parts if part["index"] == n) for n in indices]


@pytest.mark.parametrize("rule", [rewinds(), regex("guaranteed", "rewind", when={"role": "tool_call"})])
def test_a_call_that_breaks_a_rule_is_dropped_with_all_others_and_the_answer_goes_on(rule: Rule) -> None:
    first, second = calling('{"a": 1}', '{"note": "guaranteed"}'), calling('{"note": "fine"}')[1:]
    got = repaired(first, lambda _kept: second, rule)
    assert called(got.body) == ['{"note": "fine"}']
    assert said(got.body) == "Let me see." == got.kept[0]
    assert ends(got.body) == [(0, "tool_calls")]
    (attempt,) = got.draft.attempts
    assert (attempt.anchor, attempt.kept, attempt.wasted) == ("call", 1, 4)


def test_what_else_is_found_in_a_call_that_is_pardoned_still_counts() -> None:
    arguments = '{"a": "guaranteed", "b": "a bomb", "c": "secret"}'
    pardons = rewinds(budget=1, **{"else": "tag"})
    masks = words("secret", action="mask", name="mask")
    got = repaired(calling(arguments), lambda _kept: calling(arguments)[1:], pardons, masks)
    (left,) = called(got.body)
    assert orjson.loads(left) == {"a": "guaranteed", "b": "a bomb", "c": "***"}
    got = repaired(calling(arguments), lambda _kept: calling(arguments)[1:], pardons, words("bomb", name="block"))
    assert ends(got.body) == [(0, "content_filter")]
    assert b"bomb" not in got.body


# Several choices.


def two(*more: bytes) -> list[bytes]:
    return [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed here.", 0), *more]


LATE = two(delta("fine.", 1), delta(finish="stop", index=1), delta(" And more."), delta(finish="stop"), usage_event())


@pytest.mark.parametrize("at_once", [True, False])
def test_of_two_choices_only_the_one_that_broke_a_rule_goes_on_anew(at_once: bool) -> None:
    first = [b"".join(LATE)] if at_once else LATE
    got = repaired(first, lambda _kept: chat_stream(" well."), rewinds(), asked=exchange(choices=2))
    assert (said(got.body, 0), said(got.body, 1)) == ("All is well.", "Mine is fine.")
    assert sorted(ends(got.body)) == [(0, "stop"), (1, "stop")]
    assert len([data for data in payloads(got.body)[:-1] if data.get("usage")]) == 1
    assert got.draft.attempts[0].wasted == (3 if at_once else 2)  # as much as was heard of it


def test_each_of_two_choices_goes_on_by_itself() -> None:
    first = two(delta("guaranteed too.", 1), delta(finish="stop"), delta(finish="stop", index=1), DONE)
    got = repaired(first, lambda kept: chat_stream(f" well, {kept.split()[0]}."), rewinds(), asked=exchange(choices=2))
    assert (said(got.body, 0), said(got.body, 1)) == ("All is well, All.", "Mine is well, Mine.")
    assert sorted(ends(got.body)) == [(0, "stop"), (1, "stop")]
    assert got.body.endswith(DONE)


def test_an_event_of_two_choices_is_heard_of_the_one_that_goes_on() -> None:
    def both(one: str, two: str) -> bytes:
        texts = ((0, one), (1, two))
        return event([{"index": n, "delta": {"content": text}, "finish_reason": None} for n, text in texts])

    first = [both("All is ", "Mine "), both("guaranteed ", "is "), both("here.", "fine."), both("x", "!")]
    first += [delta(finish="stop", index=1), delta(finish="stop"), DONE]
    got = repaired(first, lambda _kept: chat_stream(" well."), rewinds(), asked=exchange(choices=2))
    assert (said(got.body, 0), said(got.body, 1)) == ("All is well.", "Mine is fine.!")


def test_completions_go_on_like_chats() -> None:
    first = [*map(text_delta, FIRST), text_delta(finish="stop"), DONE]
    second = [text_delta(" return."), text_delta(finish="stop"), DONE]
    got = repaired(first, lambda _kept: second, rewinds(), asked=exchange(surface="completions"))
    assert read(got.body) == "The fund is safe and pays a return." == got.answers[0]
