"""What is shown of the controller's hand: what is in force, since when, why, and that it can be taken back."""

from __future__ import annotations

import io

from rich.console import Console

from gateway.cli._hand import shown
from gateway.overlay import EMPTY, Brake, Noted, Overlay
from gateway.terms import Lookup, TunedFile

AT = 1764518887.0


def text(mode: str, hand: Overlay, **fields: object) -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(*shown(mode, TunedFile(hand=hand, **fields), Lookup(chunk_bits=9)), sep="\n")  # type: ignore[arg-type]
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_nothing_in_force_is_said_in_two_lines() -> None:
    assert text("observe", EMPTY) == "controller: observe\nit holds nothing in force\n"


def test_all_that_is_in_force_is_said_with_time_and_figures() -> None:
    hand = Overlay(
        bits=2,
        moved=AT,
        fallback=AT,
        breaker=AT,
        back=("R307",),
        codes={
            "R101": Brake(cause="latency", since=AT, pause=60, next=AT + 60),
            "R203": Brake(cause="consistency", since=AT, pause=60, next=AT, tried=AT + 90, tries=1),
        },
        share=0.2,
        acts=(Noted(at=AT, what="off", code="R101", why="LD +1.0% [of 90]"),),
    )
    told = text("act", hand)
    assert "controller: act" in told
    assert "loosened by 2 bits" in told
    assert "chunk_bits 9 -> chunk_bits 7" in told
    assert "fallback: mask since 2025-11-30" in told or "fallback: mask since 2025-12-01" in told
    assert "back: R307" in told
    assert "breaker: open since" in told
    assert "tried by 20% of sessions" in told
    assert "tried at" in told
    assert "LD +1.0% [of 90]" in told
    assert "retrace tune --reset" in told
    assert "not in force" not in told


def test_what_waits_in_the_file_while_the_controller_may_not_act_is_said_to_be_out_of_force() -> None:
    assert "not in force: `control.mode` is observe" in text("observe", Overlay(fallback=AT))


def test_acts_that_are_over_are_shown_all_the_same() -> None:
    told = text("act", Overlay(acts=(Noted(at=AT, what="recover", why="back: R101"),)))
    assert "nothing in force any more" in told
    assert "back: R101" in told


def test_a_search_that_was_tuned_is_shown_and_no_time_breaks_it() -> None:
    told = text("act", Overlay(breaker=1e300), lookup=Lookup(codes=True), sample="s.jsonl")
    assert "chunk_bits 8, codes of 64 bits within 3, found by `retrace tune` with s.jsonl" in told
    assert "breaker: open since second" in told
