"""What is held in force above the files only ever takes reuse back; who tries a code again is drawn by lot."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.overlay import EMPTY, MOST_NOTED, Brake, Noted, Overlay, drawn, noted
from gateway.rules import Inject

OFF = Brake(cause="consistency", since=0, pause=60, next=60)
TRIED = OFF.model_copy(update={"tried": 60.0})
SPLICE = Inject(mode="splice", sensitive="mask", ban=True)


def test_nothing_in_force_lets_everything() -> None:
    assert EMPTY.idle
    assert EMPTY.lets("R203", "anybody")


def test_a_code_that_is_off_is_off_for_all_and_no_other_is() -> None:
    overlay = Overlay(codes={"R203": OFF})
    assert not overlay.idle
    assert not any(overlay.lets("R203", str(n)) for n in range(200))
    assert overlay.lets("R101", "anybody")


def test_a_code_that_is_tried_is_on_for_its_share_of_the_sessions_always_the_same() -> None:
    overlay = Overlay(codes={"R203": TRIED}, share=0.2)
    lucky = {who for who in map(str, range(5000)) if overlay.lets("R203", who)}
    assert 0.17 < len(lucky) / 5000 < 0.23
    assert lucky == {who for who in map(str, range(5000)) if overlay.lets("R203", who)}
    more = Overlay(codes={"R203": TRIED}, share=0.4)
    assert all(more.lets("R203", who) for who in lucky)


def test_in_the_fallback_only_what_was_readmitted_is_injected() -> None:
    overlay = Overlay(fallback=1.0, back=("R101",), codes={"R203": TRIED}, share=1.0)
    assert overlay.lets("R101", "w")
    assert overlay.lets("R203", "w")
    assert not overlay.lets("R102", "w")


def test_an_open_breaker_stops_all_of_it_captures_too() -> None:
    overlay = Overlay(breaker=1.0, back=("R101",))
    assert not overlay.lets("R101", "w")
    held = overlay.held(SPLICE)
    assert (held.mode, held.captures, held.ban) == ("none", False, False)


def test_what_is_held_back_is_still_captured_and_stays_banned_if_so_configured() -> None:
    held = Overlay(codes={"R101": OFF}).held(SPLICE)
    assert (held.mode, held.captures, held.ban) == ("none", True, True)
    held = Overlay(codes={"R101": OFF}, how="none").held(SPLICE)
    assert (held.mode, held.captures, held.ban) == ("none", True, False)
    assert not Overlay(fallback=1.0).held(Inject(capture=False)).captures


def test_lots_are_fair() -> None:
    lots = [drawn(f"1:t{n}") for n in range(4000)]
    assert min(lots) >= 0
    assert max(lots) < 1
    assert abs(sum(lots) / len(lots) - 0.5) < 0.02


def test_the_last_acts_are_remembered_and_no_more() -> None:
    overlay = noted(EMPTY, [Noted(at=n, what="off") for n in range(MOST_NOTED + 3)])
    assert [act.at for act in overlay.acts] == list(range(3, MOST_NOTED + 3))
    assert overlay.idle


def test_a_file_that_asks_for_what_can_not_be_is_refused() -> None:
    for wrong in ({"bits": 9}, {"share": 0}, {"codes": {"R101": {"cause": "mood"}}}, {"how": "prefix"}):
        with pytest.raises(ValidationError):
            Overlay.model_validate(wrong)
