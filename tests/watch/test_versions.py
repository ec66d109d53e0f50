"""Which policy is in force, by what is wanted and what is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.rules import Inject
from gateway.terms import Terms
from gateway.watch.prints import narrower, version
from gateway.watch.versions import (
    OFF,
    Entry,
    PolicyFile,
    Standing,
    Wanted,
    confirmed,
    in_force,
    merged,
    nothing_known,
    settle,
    turned_back,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
OLD, NEW = Inject(), Inject(mode="splice")


def wanted(policy: Inject = OLD, looks: str = "a", share: float | None = None) -> Wanted:
    return Wanted({"R203": policy}, {"R203": {"one": f"R203 {looks}-x"}}, share)


def known(policy: Inject = OLD, looks: str = "a") -> PolicyFile:
    return settle(wanted(policy, looks), PolicyFile(), NOON).state


def entry(standing: Standing) -> Entry:
    return standing.state.codes["R203"]


def test_what_is_seen_for_the_first_time_is_trusted_and_noted() -> None:
    standing = settle(wanted(NEW), PolicyFile(), NOON)
    assert (standing.policies["R203"], standing.unconfirmed, standing.trials, standing.events) == (NEW, {}, {}, ())
    assert (entry(standing).why, entry(standing).rules, entry(standing).at) == (
        "first sight",
        {"one": "R203 a-x"},
        NOON,
    )
    assert settle(wanted(NEW), standing.state, LATER).state == standing.state


def test_a_code_whose_rules_changed_is_off_until_it_is_confirmed() -> None:
    standing = settle(wanted(looks="b"), known(), LATER)
    assert standing.policies["R203"] == OFF
    assert not OFF.captures
    assert standing.unconfirmed == {"R203": ("one: looks for something else",)}
    assert standing.state == known()
    assert standing.over(Terms()).policy("R203") == OFF
    back = settle(wanted(), standing.state, LATER)  # whoever takes the change back needs nobody's word
    assert (back.policies["R203"], back.unconfirmed) == (OLD, {})
    after = PolicyFile(codes={"R203": confirmed(entry(standing), wanted(looks="b").rules["R203"], LATER)})
    agreed = settle(wanted(looks="b"), after, LATER)
    assert (agreed.policies["R203"], agreed.unconfirmed, entry(agreed).why) == (OLD, {}, "confirmed")


def test_the_first_rules_of_a_code_and_other_names_are_no_change() -> None:
    none = Wanted({"R203": OLD}, {"R203": {}})
    first = settle(wanted(), settle(none, PolicyFile(), NOON).state, LATER)
    assert (first.unconfirmed, entry(first).rules) == ({}, {"one": "R203 a-x"})
    renamed = settle(Wanted({"R203": OLD}, {"R203": {"two": "R203 a-x"}}), first.state, LATER)
    assert (renamed.unconfirmed, entry(renamed).rules) == ({}, {"two": "R203 a-x"})
    gone = settle(none, renamed.state, LATER)
    assert gone.unconfirmed == {"R203": ("two: is gone",)}


def test_to_keep_another_code_s_findings_out_is_a_change_of_the_policy_and_not_of_its_rules() -> None:
    cut = Inject(cut=("R308",))
    both = {"R203": {"one": "R203 a-x", "two": "R308 b-x"}}
    standing = settle(Wanted({"R203": cut}, both), known(), LATER)
    assert (standing.unconfirmed, standing.policies["R203"]) == ({}, cut)
    other = {"R203": {"one": "R203 a-x", "two": "R308 c-x"}}
    assert settle(Wanted({"R203": cut}, other), standing.state, LATER).unconfirmed
    assert not settle(Wanted({"R203": OLD}, {"R203": {"one": "R203 a-x"}}), standing.state, LATER).unconfirmed


def test_without_trials_a_changed_policy_is_in_force_at_once() -> None:
    standing = settle(wanted(NEW), known(), LATER)
    assert (standing.policies["R203"], standing.trials) == (NEW, {})
    assert [(event.code, event.what) for event in standing.events] == [("R203", "at_once")]
    assert settle(wanted(NEW), standing.state, LATER).events == ()


def test_a_changed_policy_is_tried_on_a_share_first() -> None:
    standing = settle(wanted(NEW, share=0.1), known(), LATER)
    assert [event.what for event in standing.events] == ["begun"]
    assert standing.policies["R203"] == OLD
    trial = standing.trials["R203"]
    assert (trial.policy, trial.share) == (NEW, 0.1)
    again = settle(wanted(NEW, share=0.2), standing.state, LATER + timedelta(hours=1))
    assert (again.events, again.state, again.trials["R203"].key) == ((), standing.state, trial.key)
    assert settle(wanted(NEW, share=0.1), known(), LATER + timedelta(1)).trials["R203"].key == trial.key
    other = settle(wanted(Inject(mode="splice", min_tokens=64), share=0.1), standing.state, LATER)
    assert [event.what for event in other.events] == ["begun"]
    assert other.trials["R203"].key != trial.key
    back = settle(wanted(OLD, share=0.1), standing.state, LATER)
    assert ([event.what for event in back.events], back.trials, entry(back).trial) == (["withdrawn"], {}, None)
    plain = settle(wanted(NEW), standing.state, LATER)
    assert (plain.policies["R203"], plain.trials) == (NEW, {})


def test_a_trial_ends_one_way_or_the_other_and_is_not_made_again() -> None:
    tried = settle(wanted(NEW, share=0.1), known(), LATER)
    taken = PolicyFile(codes={"R203": in_force(entry(tried), NEW, "trial", LATER)})
    standing = settle(wanted(NEW, share=0.1), taken, LATER)
    assert (standing.policies["R203"], standing.trials, standing.turned_back) == (NEW, {}, frozenset())
    back = PolicyFile(codes={"R203": turned_back(entry(tried), NEW, "trial", LATER)})
    standing = settle(wanted(NEW, share=0.1), back, LATER)
    assert (standing.policies["R203"], standing.trials) == (OLD, {})
    assert standing.turned_back == {"R203"}
    assert standing.told()["turned_back"] == ["R203"]
    clean = settle(wanted(OLD, share=0.1), back, LATER)
    assert (clean.turned_back, clean.events) == (frozenset(), ())


def test_a_trial_stands_still_while_rules_are_unconfirmed_and_begins_anew_then() -> None:
    tried = settle(wanted(NEW, share=0.1), known(), LATER)
    off = settle(wanted(NEW, "b", 0.1), tried.state, LATER)
    assert (off.policies["R203"], off.trials, set(off.unconfirmed)) == (OFF, {}, {"R203"})
    later = LATER + timedelta(days=2)
    agreed = confirmed(entry(off), {"one": "R203 b-x"}, later)
    on = settle(wanted(NEW, "b", 0.1), PolicyFile(codes={"R203": agreed}), later)
    assert on.trials["R203"].key != tried.trials["R203"].key
    assert agreed.trial is not None
    assert agreed.trial.at == later


WIDE = Inject(mode="splice", sensitive="mask", after_sensitive="recompute", ttl_seconds=600, min_tokens=64)


@pytest.mark.parametrize(
    ("fields", "less"),
    [
        ({"mode": "prefix"}, True),
        ({"mode": "none"}, True),
        ({"mode": "none", "capture": True}, True),
        ({"sensitive": "cut"}, True),
        ({"ban": True}, True),
        ({"scope": "session"}, True),
        ({"cut": ("R308",)}, True),
        ({"min_tokens": 512}, True),
        ({"ttl_seconds": 60}, True),
        ({"recompute": {"first": 256, "share": 0.5}}, True),
        ({"capture": False}, True),
        ({"priority": 5}, True),
        ({"sensitive": "allow"}, False),
        ({"after_sensitive": "allow"}, False),
        ({"min_tokens": 32}, False),
        ({"ttl_seconds": 6000}, False),
        ({"recompute": {"first": 0, "share": 0}}, False),
        ({"sensitive": "allow", "scope": "session"}, False),
    ],
)
def test_a_policy_that_only_forbids_more_is_in_force_at_once(fields: dict[str, Any], less: bool) -> None:
    new = Inject.model_validate({**WIDE.model_dump(), **fields})
    assert narrower(new, WIDE) is less
    standing = settle(wanted(new, share=0.1), known(WIDE), LATER)
    assert (standing.policies["R203"] == new) is less
    assert [event.what for event in standing.events] == ["at_once" if less else "begun"]


def test_to_switch_on_what_was_off_is_tried_too() -> None:
    assert not narrower(Inject(), OFF)
    assert not narrower(Inject(mode="none", capture=True), OFF)
    assert settle(wanted(OLD, share=0.1), known(OFF), LATER).trials


# The state.


def test_of_two_who_know_a_code_the_newer_one_counts() -> None:
    one, two = known(), PolicyFile(codes={"R203": in_force(known().codes["R203"], NEW, "by hand", LATER)})
    assert merged(one, two) == merged(two, one) == two
    assert merged(one, PolicyFile(codes={"R101": one.codes["R203"]})).codes.keys() == {"R203", "R101"}


def test_if_it_can_t_be_known_what_was_confirmed_all_is_off_and_nothing_is_noted() -> None:
    two = Wanted({"R203": NEW, "R301": OFF}, {})
    standing = nothing_known(two, "policies.yaml:3: broken")
    assert standing.policies == {"R203": OFF, "R301": OFF}
    assert set(standing.unconfirmed) == {"R203"}
    assert standing.state == PolicyFile()
    assert standing.told()["fault"] == "policies.yaml:3: broken"


def test_what_is_in_force_has_a_digest_and_policies_have_versions() -> None:
    one, same = settle(wanted(), known(), NOON), settle(wanted(), known(), LATER)
    assert one.digest == same.digest
    others = [settle(wanted(looks="b"), known(), NOON), settle(wanted(NEW, share=0.1), known(), NOON)]
    others += [settle(wanted(NEW), known(), NOON), settle(wanted(NEW, share=0.2), known(), NOON)]
    assert len({one.digest, *(other.digest for other in others)}) == 5
    assert version(OLD) == version(Inject(mode="prefix")) != version(NEW)


def test_an_entry_says_only_what_is_unusual_of_its_policies() -> None:
    standing = settle(wanted(NEW, share=0.1), known(), LATER)
    told = standing.state.model_dump(mode="json", exclude_none=True)["codes"]["R203"]
    assert (told["policy"], told["trial"]["policy"]) == ({}, {"mode": "splice"})
    assert PolicyFile.model_validate({"codes": {"R203": told}}) == standing.state
