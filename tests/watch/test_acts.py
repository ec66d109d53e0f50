"""An act says what it is, and why, in figures with their bounds."""

from __future__ import annotations

import re

from gateway.watch.acts import SAFE, WHATS, WORDS, Act
from gateway.watch.series import Figure


def test_it_tells_the_figure_its_bounds_the_threshold_and_for_how_long() -> None:
    act = Act(9.0, "off", "R203", "inject", "mask", "CS", Figure(0.71, 0.62, 0.79, 180), 0.82, 180)
    assert act.why == "CS 0.710 (0.620 to 0.790, of 180), below 0.820 for 3 min"
    act = Act(9.0, "off", "R101", figure="LD", seen=Figure(0.01, -0.02, 0.05, 90), limit=-0.05, detail="20% of all")
    assert act.why == "LD +1.0% (-2.0% to +5.0%, of 90), above -5.0%; 20% of all"
    assert Act(9.0, "break", detail="faults of store").why == "faults of store"


def test_what_is_noted_and_told_is_the_same_act() -> None:
    act = Act(9.0004, "tighten", was="2 bits", now="0 bits", figure="CHR", seen=Figure(0.7, 0.65, 0.75, 300), limit=0.6)
    assert (act.noted.at, act.noted.what, act.noted.why) == (9.0, "tighten", act.why)
    told = act.told("proposed")
    assert (told["act"], told["how"], told["from"], told["to"]) == ("tighten", "proposed", "2 bits", "0 bits")
    assert (told["figure"], told["low"], told["high"], told["count"]) == ("CHR", 0.65, 0.75, 300)
    assert re.fullmatch(r"CHR 70\.0% \(65\.0% to 75\.0%, of 300\), above 60\.0%", told["why"])


def test_each_kind_of_act_has_its_words() -> None:
    assert set(WORDS) == set(WHATS)
    assert set(WHATS) > SAFE
