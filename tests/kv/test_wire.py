"""The plugin's own JSON: what is understood, what is refused and why, what is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv._wire import LONGEST_TTL, Malformed, Verdict, listing, summary, verdict, whole
from gateway.kv.nouns import OPEN_END, Entry, Owner, State


def said(**fields: Any) -> bytes:
    return json.dumps({"reason": "R203", **fields}).encode()


def test_a_verdict_needs_a_reason_and_no_more() -> None:
    assert verdict(b'{"reason": "R203"}') == Verdict("R203", (), False, None, 0)


def test_a_verdict_says_all_it_may() -> None:
    spans, texts = [[3, 9], [0, 1]], ["斤斤计较", "x" * 4096]
    body = said(sensitive_token_spans=spans, sensitive_texts=texts, sensitive_output=True, ttl_seconds=600, priority=-2)
    assert verdict(body) == Verdict("R203", ((3, 9), (0, 1)), True, 600.0, -2, tuple(texts))
    assert verdict(said(ttl_seconds=None)).ttl is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"\xff\xfe\xfd", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b'{"priority": ' + b"9" * 5000 + b"}", "JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b"{}", "`reason`"),
        (said(reason=""), "`reason`"),
        (said(reason=203), "`reason`"),
        (said(reason="R" * 65), "`reason`"),
        (said(reason="R203é"), "`reason`"),
        (said(sensitive_spans=[[0, 1]]), "'sensitive_spans' is no field"),
        (said(sensitive_output=1), "`sensitive_output`"),
        (said(ttl_seconds=0), "`ttl_seconds`"),
        (said(ttl_seconds=-1), "`ttl_seconds`"),
        (said(ttl_seconds=True), "`ttl_seconds`"),
        (said(ttl_seconds="60"), "`ttl_seconds`"),
        (said(ttl_seconds=LONGEST_TTL + 1), "`ttl_seconds`"),
        (said(ttl_seconds=10**400), "`ttl_seconds`"),
        (b'{"reason": "R203", "ttl_seconds": NaN}', "`ttl_seconds`"),
        (b'{"reason": "R203", "ttl_seconds": Infinity}', "`ttl_seconds`"),
        (said(priority=1.0), "`priority`"),
        (said(priority=True), "`priority`"),
        (said(priority=1001), "`priority`"),
        (said(sensitive_token_spans={}), "`sensitive_token_spans`"),
        (said(sensitive_token_spans=[[0, 1]] * 1001), "`sensitive_token_spans`"),
        *(
            (said(sensitive_texts=texts), "`sensitive_texts`")
            for texts in ("x", None, [1], [""], ["x" * 4097], ["x"] * 65)
        ),
        *(
            (said(sensitive_token_spans=[span]), "`sensitive_token_spans`")
            for span in ([1, 1], [2, 1], [-1, 1], [0], [0, 1, 2], [0, 1.0], [False, True], ["0", "1"], 7, None)
        ),
        (said(sensitive_token_spans=[[0, OPEN_END + 1]]), "`sensitive_token_spans`"),
    ],
)
def test_what_is_malformed_is_said_to_be(body: bytes, field: str) -> None:
    with pytest.raises(Malformed, match=field):
        verdict(body)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
fields = ("reason", "sensitive_token_spans", "sensitive_texts", "sensitive_output", "ttl_seconds", "priority")


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(fields) | st.text(max_size=5), json_values, max_size=5))
def test_anything_is_either_a_sound_verdict_or_malformed(body: dict[str, Any]) -> None:
    try:
        found = verdict(json.dumps(body).encode())
    except Malformed:
        return
    assert set(body) <= set(fields)
    assert found.reason == body["reason"]
    assert found.ttl is None or 0 < found.ttl < float("inf")
    assert all(0 <= start < end for start, end in found.sensitive)


def test_a_list_is_asked_for() -> None:
    assert listing({}) == (100, None)
    assert listing({"limit": "1000", "state": "kept", "other": "x"}) == (1000, State.KEPT)


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", "", "1.5", "٣", "9" * 5000])
def test_a_limit_that_is_none_is_malformed(limit: str) -> None:
    with pytest.raises(Malformed, match="`limit`"):
        listing({"limit": limit})


def test_a_state_that_is_none_is_malformed() -> None:
    with pytest.raises(Malformed, match="one of pending, kept, active, expired"):
        listing({"state": "KEPT"})


ENTRY = Entry(
    id="a",
    owner=Owner("hash", "lora", "secret-fingerprint"),
    state=State.KEPT,
    block_size=4,
    record_bytes=64,
    tokens=(70001, 70002, 70003, 70004, 70005, 70006, 70007, 70008),
    holes=(0, 1),
    prompt_tokens=5,
    reason="R101",
    sensitive=((1, 3), (2, 4), (6, OPEN_END), (9, 12)),
    created=10.0,
    expires=20.0,
    report={"captured_tokens": 8},
)


def test_what_is_told_of_a_capture() -> None:
    assert summary(ENTRY) == {
        "id": "a",
        "state": "kept",
        "reason": "R101",
        "tenant": "hash",
        "adapter": "lora",
        "tokens": 8,
        "blocks": 2,
        "bytes": 128,
        "sensitive_tokens": 5,
        "priority": 0,
        "created": 10.0,
        "expires": 20.0,
        "on_disk": False,
    }
    assert whole(ENTRY) == summary(ENTRY) | {"report": {"captured_tokens": 8}}


def test_what_is_not_known_yet_is_null() -> None:
    running = Entry("a", ENTRY.owner, State.PENDING, 4, 64)
    told = whole(running)
    assert (told["reason"], told["expires"], told["report"], told["sensitive_tokens"]) == (None, None, None, 0)


def test_no_token_is_told() -> None:
    assert "7000" not in json.dumps(whole(ENTRY))
