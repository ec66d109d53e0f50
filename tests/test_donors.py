"""Which kept capture fits a request: the longest common start, the same long text, never another tenant's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import donors
from gateway.donors import Donors, Kept, Key, Keys, keys

MESSAGE = st.sampled_from(["a", "b", "hello", "你好"]).map(lambda text: {"role": "user", "content": text})
CHAT = st.lists(MESSAGE, min_size=1, max_size=6)
WHOSE = st.tuples(st.sampled_from("tu"), st.sampled_from("mn"))  # tenant and model


def chat(messages: Sequence[Mapping[str, Any]], tenant: str = "t", model: str = "m") -> Keys:
    return keys(tenant, model, {"messages": list(messages)})


def prompt(text: str, tenant: str = "t") -> Keys:
    return keys(tenant, "m", {"prompt": text})


def kept(name: str, found: Keys, until: float = 1e9) -> Kept:
    return Kept(name, "http://a", "R101", found, until)


def common(one: Keys, other: Keys) -> int:
    """How many keys from the start two requests share."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one.prefix, other.prefix, strict=False))
    return len(list(pairs))


@given(CHAT, CHAT)
def test_two_requests_share_as_many_keys_as_messages_from_the_start(
    one: list[dict[str, str]], other: list[dict[str, str]]
) -> None:
    same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    assert common(chat(one), chat(other)) == same
    digests = {key.digest for key in chat(one).prefix} & {key.digest for key in chat(other).prefix}
    assert len(digests) == same


@given(st.lists(CHAT, min_size=1, max_size=8), CHAT)
def test_the_one_that_agrees_for_longest_comes_first(
    captures: list[list[dict[str, str]]], asked: list[dict[str, str]]
) -> None:
    known = Donors()
    for number, messages in enumerate(captures):
        known.add(kept(str(number), chat(messages)))
    found = next(known.sharing(reversed(chat(asked).prefix)), None)
    lengths = [common(chat(messages), chat(asked)) for messages in captures]
    best = max(lengths)
    if found is None:
        assert best == 0
    else:
        assert lengths[int(found[0].capture)] == best
        assert int(found[0].capture) == max(n for n, length in enumerate(lengths) if length == best)  # the newest


@given(CHAT, WHOSE, WHOSE)
def test_no_key_is_shared_between_tenants_or_models(
    messages: list[dict[str, str]], one: tuple[str, str], other: tuple[str, str]
) -> None:
    long = [*messages, {"role": "user", "content": "x" * donors.LONG}]
    first, second = chat(long, *one), chat(long, *other)
    digests = [{key.digest for key in (*found.prefix, *found.texts)} for found in (first, second)]
    assert (digests[0] == digests[1]) is (one == other)
    assert bool(digests[0] & digests[1]) is (one == other)


def test_a_tenant_s_name_can_t_run_into_the_model_s() -> None:
    messages = [{"role": "user", "content": "hi"}]
    assert not common(chat(messages, "a", "bc"), chat(messages, "ab", "c"))
    assert not common(chat(messages, 'a", "b', "c"), chat(messages, "a", 'b", "c'))


def test_the_order_of_a_message_s_fields_does_not_matter_and_each_field_does() -> None:
    one = chat([{"role": "user", "content": "hi"}])
    assert common(one, chat([{"content": "hi", "role": "user"}])) == 1
    for other in ({"role": "system", "content": "hi"}, {"role": "user", "content": "hi", "name": "x"}):
        assert common(one, chat([other])) == 0


@pytest.mark.parametrize("name", ["tools", "functions", "documents", "chat_template", "chat_template_kwargs"])
def test_what_stands_before_the_messages_counts_too(name: str) -> None:
    messages = [{"role": "user", "content": "hi"}]
    plain, other = chat(messages), keys("t", "m", {"messages": messages, name: [{"x": 1}]})
    assert common(plain, other) == 0
    assert common(plain, keys("t", "m", {"messages": messages, name: None})) == 1
    assert other.prefix[0].size > plain.prefix[0].size


@given(st.text(max_size=9000), st.text(max_size=9000), st.text(max_size=9000))
def test_prompts_agree_as_far_as_whole_steps_of_them_do(start: str, one: str, other: str) -> None:
    first, second = prompt(start + one), prompt(start + other)
    text, same = start + one, 0
    while same < min(len(text), len(start + other)) and text[same] == (start + other)[same]:
        same += 1
    whole = same == len(start + one) == len(start + other)
    assert common(first, second) == (len(first.prefix) if whole else same // donors.STEP)


@given(st.text(min_size=1, max_size=5000))
def test_sizes_are_bytes_and_grow(text: str) -> None:
    sizes = [key.size for key in prompt(text).prefix]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == len(text.encode())


def test_one_prompt_in_a_list_is_the_prompt() -> None:
    assert keys("t", "m", {"prompt": ["hello"]}) == prompt("hello")
    assert keys("t", "m", {"prompt": ""}) == Keys(())


def test_a_long_text_is_found_wherever_it_stands() -> None:
    document = "long " * 300
    one = chat([{"role": "system", "content": "be kind"}, {"role": "user", "content": document}])
    other = chat([{"role": "system", "content": "be brief"}, {"role": "user", "content": document}])
    assert common(one, other) == 0
    assert one.texts == other.texts == (Key(one.texts[0].digest, len(document)),)
    assert chat([{"role": "user", "content": "x" * (donors.LONG - 1)}]).texts == ()
    assert chat([{"role": "user", "content": None}, {"role": "user", "content": [{"text": "x" * 2000}]}]).texts == ()


def test_what_is_remembered_of_one_request_is_bounded() -> None:
    many = [{"role": "user", "content": str(number) * donors.LONG} for number in range(300)]
    found = chat(many)
    assert len(found.prefix) == donors.DEEPEST + 1
    assert len(found.texts) == donors.TEXTS
    assert common(found, chat(many)) == donors.DEEPEST + 1
    assert common(found, chat([*many[:-1], {"role": "user", "content": "other"}])) == donors.DEEPEST
    assert len(prompt("x" * 1_000_000).prefix) == donors.DEEPEST


@given(st.lists(st.tuples(st.sampled_from(["add", "use", "forget"]), st.integers(0, 9)), max_size=60))
def test_what_is_remembered_in_all_is_bounded_and_forgotten_without_a_trace(steps: list[tuple[str, int]]) -> None:
    known = Donors(most=4)
    order: list[str] = []  # a plain model of it: the least lately used first
    for step, number in steps:
        name = str(number)
        if step == "add" and name not in order:
            known.add(kept(name, chat([{"role": "user", "content": name}, {"role": "user", "content": "same"}])))
            order = [*order, name][-4:]
        elif step == "use" and name in order:
            known.used(name)
            order.remove(name)
            order.append(name)
        elif step == "forget":
            known.forget(name)
            order = [other for other in order if other != name]
        assert len(known) == len(order)
        for other in map(str, range(10)):
            wanted = chat([{"role": "user", "content": other}]).prefix
            assert [found.capture for found, _ in known.sharing(wanted)] == ([other] if other in order else [])
    for name in list(order):
        known.forget(name)
    assert (known._kept, known._sharing) == ({}, {})


def test_of_those_that_share_a_key_the_newest_are_known() -> None:
    known = Donors()
    system = {"role": "system", "content": "s"}
    for number in range(30):
        known.add(kept(str(number), chat([system, {"role": "user", "content": str(number)}])))
    names = [found.capture for found, _ in known.sharing(chat([system]).prefix)]
    assert names == [str(number) for number in range(29, 29 - donors.CROWD, -1)]
    assert len(known) == 30


def test_one_whose_time_is_over_is_not_found() -> None:
    at = 0.0
    known = Donors(now=lambda: at)
    found = chat([{"role": "user", "content": "hi"}])
    known.add(kept("short", found, until=10))
    known.add(kept("long", found, until=5))
    assert [one.capture for one, _ in known.sharing(found.prefix)] == ["long", "short"]
    at = 5.0
    assert [one.capture for one, _ in known.sharing(found.prefix)] == ["short"]
    at = 10.0
    assert list(known.sharing(found.prefix)) == []
