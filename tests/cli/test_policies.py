"""Policies in a few words: what is unusual of them, how they stand, what is to be done."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.cli._policies import figures, short, state, time, turned_back
from gateway.rules import Inject
from gateway.watch import versions
from gateway.watch.trials import Evidence
from gateway.watch.trying import Trying
from gateway.watch.versions import PolicyFile, Standing, Wanted, settle

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NEW = Inject(mode="splice", ttl_seconds=60)
KNOWN = settle(Wanted({"R203": Inject()}, {"R203": {"one": "R203 a-x"}}), PolicyFile(), NOON).state


def standing(policy: Inject = NEW, looks: str = "a", known: PolicyFile = KNOWN) -> Standing:
    return settle(Wanted({"R203": policy}, {"R203": {"one": f"R203 {looks}-x"}}, 0.25), known, NOON)


def test_a_policy_is_its_mode_and_what_is_unusual_of_it() -> None:
    assert short(Inject()) == "prefix"
    assert short(NEW) == "splice ttl_seconds=60"
    assert time(NOON) == NOON.astimezone().strftime("%Y-%m-%d %H:%M")


def test_each_state_says_what_is_to_be_done() -> None:
    assert state(standing(Inject()), "R203") == "in force"
    assert state(standing(), "R203") == ("25% of the sessions try splice ttl_seconds=60: retrace policy trial R203")
    assert state(standing(looks="b"), "R203") == (
        "OFF, its rules changed (one: looks for something else): retrace policy confirm R203"
    )
    back = PolicyFile(codes={"R203": versions.turned_back(KNOWN.codes["R203"], NEW, "trial", NOON)})
    assert state(standing(known=back), "R203").startswith("reasons.yaml wants splice ttl_seconds=60, which was turned")
    assert turned_back(standing(known=back)) == "; turned back and still in reasons.yaml: R203"
    assert turned_back(standing()) == ""


def test_figures_tell_how_far_the_judgement_is() -> None:
    seen = Evidence("key", looks={"unlike": 1}, chance={"unlike": 0.125}, shown=["left"])
    told = list(figures(seen, Trying(risk=0.09, looks=3)))
    assert [line.rpartition(": ")[2] for line in told] == [
        "not judged yet",
        "p 0.125, worse from 0.01 down",
        "shown to be no worse than its margin",
    ]
