"""W3C trace context: what is read of a caller's headers, and what the next one is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import traceparent
from gateway.traceparent import LONGEST, Caller, caller

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"
KNOWN = Caller(int(TRACE, 16), int(SPAN, 16), True)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (GOOD, KNOWN),
        (f" {GOOD} ", KNOWN),
        (GOOD[:-1] + "0", KNOWN._replace(sampled=False)),
        (GOOD[:-2] + "ff", KNOWN),  # flags that are not known yet
        ("cc" + GOOD[2:], KNOWN),  # a version that is not known yet
        ("cc" + GOOD[2:] + "-what-comes", KNOWN),
    ],
)
def test_a_parent_is_read(told: str, expected: Caller) -> None:
    assert caller({"traceparent": told}) == expected


@pytest.mark.parametrize(
    "told",
    [
        "",
        "00-1",
        GOOD.upper(),
        "ff" + GOOD[2:],
        GOOD + "-more",
        GOOD + "1",
        "cc" + GOOD[2:] + "more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0",
        f"00-{TRACE}-{SPAN}",
        GOOD.replace("-", "_"),
        "cc" + GOOD[2:] + "-" + "x" * LONGEST,
        "00-" + "４" * 32 + f"-{SPAN}-01",
        GOOD + "\n00",
    ],
)
def test_one_that_can_t_be_read_says_nothing_and_takes_its_state_along(told: str) -> None:
    assert caller({"traceparent": told, "tracestate": "a=1"}) is None


def test_without_one_a_state_alone_says_nothing() -> None:
    assert caller({"tracestate": "a=1"}) is None


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (" a=1 , b=2 ", "a=1,b=2"),
        ("a=1,,b=2", "a=1,b=2"),
        ("fw529a3039@dt=FfAgI2RlZmF1bHQ", "fw529a3039@dt=FfAgI2RlZmF1bHQ"),
        (",".join(f"k{n}=v" for n in range(32)), ",".join(f"k{n}=v" for n in range(32))),
        (",".join(f"k{n}=v" for n in range(33)), ""),
        ("a=1,a=2", ""),
        ("A=1", ""),
        ("a", ""),
        ("a=", ""),
        ("a=1=2", ""),
        ("a=é", ""),
        ("a=" + "x" * LONGEST, ""),
        ("", ""),
    ],
)
def test_a_state_is_passed_on_whole_or_not_at_all(told: str, kept: str) -> None:
    found = caller({"traceparent": GOOD, "tracestate": told})
    assert found == KNOWN._replace(state=kept)


def test_the_next_one_is_told_of_our_span_and_reads_it() -> None:
    told = traceparent.told(0xABC, 0xDEF, "a=1")
    assert told == {"traceparent": f"00-{0xABC:032x}-{0xDEF:016x}-01", "tracestate": "a=1"}
    assert caller(told) == Caller(0xABC, 0xDEF, True, "a=1")
    assert "tracestate" not in traceparent.told(1, 1, "")


@given(st.text(max_size=80), st.text(max_size=80))
def test_whatever_a_client_sends_is_read_or_left(parent: str, state: str) -> None:
    found = caller({"traceparent": parent, "tracestate": state})
    assert found is None or (found.trace and found.span)
    assert traceparent.state(state) in ("", ",".join(one.strip() for one in state.split(",") if one.strip()))
