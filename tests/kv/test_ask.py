"""What a request asks for: JSON of anybody's making in, an Ask out."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv.ask import MOST_FIRST, MOST_SPANS, BadAsk, merge, parse
from gateway.kv.nouns import OPEN_END, After, Ask, Mode, Recompute

FIELDS = [
    "capture",
    "donor",
    "mode",
    "recompute",
    "after_sensitive",
    "sensitive",
    "min_tokens",
    "ban",
    "owner",
    "record",
]
WORDS = ["none", "prefix", "splice", "stop", "recompute", "allow", "a-1", "", "x" * 65, "retrace", *FIELDS]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.one_of(st.integers(-2, 300), st.integers()),
    st.floats(),
    st.one_of(st.text(max_size=5), st.sampled_from(WORDS)),
)
NAMES = st.one_of(st.sampled_from([*FIELDS, "first", "share"]), st.text(max_size=5))
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4))
)
IDS = st.one_of(st.none(), st.from_regex(r"\A[A-Za-z0-9_-]{1,64}\Z"))
SPANS = st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda span: (span[0], span[0] + span[1]))
ASKS = st.builds(
    Ask,
    capture=IDS,
    donor=IDS,
    mode=st.sampled_from(Mode),
    recompute=st.builds(Recompute, st.integers(0, MOST_FIRST), st.floats(0, 1)),
    after_sensitive=st.sampled_from(After),
    sensitive=st.lists(SPANS, max_size=5).map(merge),
    least=st.integers(min_value=1),
    ban=st.booleans(),
    owner=IDS,
    record=st.booleans(),
)


def asked(**fields: object) -> Ask:
    ask = parse({"retrace": fields})
    assert ask is not None
    return ask


def wire(ask: Ask) -> dict[str, Any]:
    fields = dataclasses.asdict(ask)
    fields["min_tokens"] = fields.pop("least")
    fields["recompute"] = ask.recompute._asdict()
    written: dict[str, Any] = json.loads(json.dumps({"retrace": fields}))
    return written


@settings(deadline=None)
@given(st.one_of(ANY_JSON, ANY_JSON.map(lambda value: {"retrace": value})))
def test_any_json_is_an_ask_or_none_or_a_bad_ask(params: object) -> None:
    try:
        ask = parse(params)
    except BadAsk as fault:
        assert str(fault).startswith("retrace")  # noqa: PT017 - either is right
    else:
        named = isinstance(params, dict) and params.get("retrace") is not None
        assert isinstance(ask, Ask) == named
        assert ask is None or parse(wire(ask)) == ask


@settings(deadline=None)
@given(ASKS)
def test_a_whole_ask_is_read_as_it_was_written(ask: Ask) -> None:
    expected = ask if ask.donor else dataclasses.replace(ask, mode=Mode.NONE)
    assert parse(wire(ask)) == expected


@settings(deadline=None)
@given(ASKS, st.sampled_from(FIELDS), ANY_JSON)
def test_what_is_wrong_in_one_field_is_told_by_its_name(ask: Ask, field: str, value: object) -> None:
    params = wire(ask)
    params["retrace"][field] = value
    try:
        parse(params)
    except BadAsk as fault:
        assert str(fault).startswith(f"retrace.{field}")  # noqa: PT017 - either is right


@settings(deadline=None)
@given(st.text(max_size=200).filter(lambda name: name not in FIELDS), ANY_JSON)
def test_an_unknown_field_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(BadAsk) as caught:
        asked(donor="d", **{name: value})
    assert repr(name)[:80] in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("params", [None, {}, [], "retrace", ["retrace"], 1, {"retrace": None}, {"other": {}}])
def test_where_nothing_is_asked_there_is_no_ask(params: object) -> None:
    assert parse(params) is None


def test_an_empty_ask_has_the_defaults() -> None:
    assert asked() == Ask()
    assert asked(recompute={}).recompute == Recompute()


def test_a_donor_is_used_by_its_prefix_unless_a_mode_is_named() -> None:
    assert asked(donor="d").mode is Mode.PREFIX
    assert asked(donor="d", mode="none").mode is Mode.NONE
    assert asked(donor="d", mode="splice").mode is Mode.SPLICE


def test_without_a_donor_there_is_no_mode() -> None:
    assert asked(mode="splice").mode is asked(mode="prefix", donor=None).mode is Mode.NONE


def test_sensitive_spans_are_merged_and_an_open_end_is_the_end() -> None:
    assert asked(sensitive=[[9, None], [5, 7], [6, 8], [1, 2]]).sensitive == ((1, 2), (5, 8), (9, OPEN_END))


BAD: list[tuple[object, str]] = [
    ([], r"retrace must be an object with any of the fields capture, donor"),
    ("donor", "retrace must be an object"),
    ({"donr": "x"}, r"retrace has an unknown field 'donr'; it may have capture, donor, mode"),
    ({"capture": ""}, "retrace.capture must be 1 to 64 letters"),
    ({"capture": "a" * 65}, "retrace.capture must be 1 to 64 letters"),
    ({"capture": "a\n"}, "retrace.capture must be 1 to 64 letters"),
    ({"donor": "../a"}, "retrace.donor must be 1 to 64 letters"),
    ({"donor": "é"}, "retrace.donor must be 1 to 64 letters"),
    ({"donor": 1}, "retrace.donor must be 1 to 64 letters"),
    ({"mode": "Prefix"}, "retrace.mode must be one of none, prefix, splice"),
    ({"mode": None}, "retrace.mode must be one of none, prefix, splice"),
    ({"mode": ["none"]}, "retrace.mode must be one of none, prefix, splice"),
    ({"after_sensitive": "go"}, "retrace.after_sensitive must be one of stop, recompute, allow"),
    ({"recompute": 64}, "retrace.recompute must be an object with any of the fields first, share"),
    ({"recompute": {"last": 1}}, "retrace.recompute has an unknown field 'last'; it may have first, share"),
    ({"recompute": {"first": -1}}, "retrace.recompute.first must be a whole number of tokens from 0 to 100000"),
    ({"recompute": {"first": 100_001}}, "retrace.recompute.first must be a whole number"),
    ({"recompute": {"first": 1.0}}, "retrace.recompute.first must be a whole number"),
    ({"recompute": {"first": True}}, "retrace.recompute.first must be a whole number"),
    ({"recompute": {"share": 1.01}}, "retrace.recompute.share must be a number from 0 to 1"),
    ({"recompute": {"share": float("nan")}}, "retrace.recompute.share must be a number from 0 to 1"),
    ({"recompute": {"share": 10**400}}, "retrace.recompute.share must be a number from 0 to 1"),
    ({"recompute": {"share": True}}, "retrace.recompute.share must be a number from 0 to 1"),
    ({"sensitive": {}}, "retrace.sensitive must be a list of at most 1000 spans"),
    ({"sensitive": [[0, 1]] * (MOST_SPANS + 1)}, "retrace.sensitive must be a list of at most 1000 spans"),
    ({"sensitive": [[0, 1], [2, 2]]}, r"retrace.sensitive\[1\] must be \[start, end\]"),
    ({"sensitive": [[-1, 1]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": [[0, OPEN_END + 1]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": [[OPEN_END, None]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": [[None, 1]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": [[0, True]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": [[0, 1, 2]]}, r"retrace.sensitive\[0\] must be"),
    ({"sensitive": ["01"]}, r"retrace.sensitive\[0\] must be"),
    ({"min_tokens": 0}, "retrace.min_tokens must be a whole number of tokens, 1 or more"),
    ({"min_tokens": 1.5}, "retrace.min_tokens must be a whole number"),
    ({"ban": 1}, "retrace.ban must be true or false"),
    ({"ban": None}, "retrace.ban must be true or false"),
]


@pytest.mark.parametrize(("retrace", "told"), BAD)
def test_what_makes_no_sense_is_refused_and_told(retrace: object, told: str) -> None:
    with pytest.raises(BadAsk, match=told):
        parse({"retrace": retrace})


@settings(deadline=None)
@given(st.lists(SPANS, max_size=8), st.randoms(use_true_random=False))
def test_merging_keeps_the_positions_and_leaves_gaps(spans: list[tuple[int, int]], chance: random.Random) -> None:
    merged = merge(spans)
    positions = {place for start, end in spans for place in range(start, end)}
    assert {place for start, end in merged for place in range(start, end)} == positions
    assert all(before[1] < after[0] for before, after in itertools.pairwise(merged))
    chance.shuffle(spans)
    assert merge(spans) == merge(merged) == merged
