"""Which exchanges are worth repeating, and how the two halves of what is known of them meet."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.ledger import Trip
from gateway.rules import Inject
from gateway.terms import Terms, Trial
from gateway.types import Action, Attempt, Draft, Exchange, Finding, Principal, Reuse, Text, Usage
from gateway.watch.cases import Gathering

TERMS = Terms(policies={"R101": Inject(mode="splice", min_tokens=99)})
DONATED = {"capture": "c", "donor": "d", "mode": "prefix"}


def trip(id: str = "e", **fields: Any) -> Trip:
    asked = {"exchange": exchange(id), "asked": {"model": "m"}, "captures": [DONATED], "status": 200, "backend": "up"}
    usage = Usage(1000, 8, cached=940)
    return Trip(0.0, **{**asked, "draft": Draft(usage=usage), "at": 5.0, **fields})


def exchange(id: str = "e", **fields: Any) -> Exchange:
    return Exchange(
        id, "chat", "m", Principal("shop"), (Text(("messages", 0, "content"), "user", "hi" * 50),), **fields
    )


def reuse(id: str = "e", **fields: Any) -> Reuse:
    told = {"donor": "d", "donor_reason": "R101", "asked": "prefix", "mode": "prefix", "injected": 900}
    return Reuse(id, "c", "http://u", "kept", "accepted", **{**told, **fields})


@pytest.mark.parametrize("first", ["over", "told"])
def test_the_halves_meet_in_either_order(first: str) -> None:
    gathering = Gathering()
    if first == "over":
        assert gathering.over(trip(), TERMS, 1000) is None
        made = gathering.told(reuse())
    else:
        assert gathering.told(reuse()) is None
        made = gathering.over(trip(), TERMS, 1000)
    assert made is not None
    assert (made.at, made.backend, made.reason, made.mode, made.arm, made.prompt) == (
        5,
        "up",
        "R101",
        "prefix",
        "now",
        1000,
    )
    assert (made.donor.capture, made.donor.replica, made.donor.mode) == ("d", "http://u", "prefix")
    assert made.donor.terms["min_tokens"] == 99
    assert gathering.told(reuse()) is None  # once


def test_what_a_donor_loaded_is_not_the_engine_s_own() -> None:
    for told, mode, own in ((940, "prefix", 40), (900, "prefix", 0), (16, "splice", 16), (None, "prefix", None)):
        gathering = Gathering()
        gathering.over(trip(draft=Draft(usage=Usage(1000, 8, cached=told))), TERMS, 1000)
        made = gathering.told(reuse(mode=mode))
        assert made is not None
        assert made.own == own
    gathering.over(trip(draft=Draft()), TERMS, 1000)
    made = gathering.told(reuse())
    assert made is not None
    assert (made.own, made.prompt) == (None, 0)


CUT = Attempt(0, Finding("r", "R101", Action.REWIND, 0, 1), "sentence", 3, 4)


@pytest.mark.parametrize(
    "fields",
    [
        {"asked": None},
        {"status": 499},
        {"exchange": None},
        {"exchange": exchange(choices=2)},
        {"draft": Draft(attempts=[CUT])},
        {"captures": []},
        {"captures": [{"capture": "c", "donor": None, "mode": "none"}]},
        {"captures": [{**DONATED, "mode": "none"}]},
    ],
)
def test_what_is_not_worth_it_is_not_kept(fields: dict[str, Any]) -> None:
    gathering = Gathering()
    assert gathering.over(trip(**fields), TERMS, 1000) is None
    assert gathering.told(reuse()) is None


def test_a_long_prompt_is_not_kept() -> None:
    gathering = Gathering()
    assert gathering.over(trip(), TERMS, 99) is None
    assert gathering.told(reuse()) is None


def test_of_what_was_not_injected_there_is_nothing_to_repeat() -> None:
    gathering = Gathering()
    gathering.over(trip(), TERMS, 1000)
    assert gathering.told(reuse(injected=0)) is None


def test_one_of_a_trial_is_of_its_arm() -> None:
    tried = TERMS._replace(trials={"R101": Trial(Inject(), 1.0, "k")})
    gathering = Gathering()
    gathering.over(trip(exchange=exchange(session="s")), tried, 1000)
    made = gathering.told(reuse())
    assert made is not None
    assert made.arm == "new"


def test_of_what_waits_the_oldest_is_forgotten() -> None:
    gathering = Gathering(most=2)
    for name in ("a", "b", "c"):
        gathering.over(trip(name), TERMS, 1000)
        gathering.told(reuse(f"{name}{name}"))
    assert gathering.told(reuse("a")) is None  # which then waits itself, in place of one more
    assert gathering.told(reuse("b")) is not None
    assert gathering.over(trip("bb"), TERMS, 1000) is None
    assert gathering.over(trip("cc"), TERMS, 1000) is not None
