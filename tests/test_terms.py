"""What a configuration says of captures is what exchanges are told: the first route that matches, then the rest."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.rules import Inject
from gateway.terms import ACCEPTED, Lookup, Retracing, Route, Terms, Trial
from gateway.types import Exchange, Principal


def exchange(surface: str = "chat", model: str = "m", tenant: str = "t", tier: str = "standard") -> Exchange:
    return Exchange("rt-1", surface, model, Principal(tenant, tier), ())


def test_the_first_route_that_matches_says_what_is_captured() -> None:
    routes = [
        Route.model_validate({"when": {"tenant": "bank*"}, "capture": "none"}),
        Route.model_validate({"when": {"tenant": ["bank-a", "shop"], "surface": "chat"}, "capture": "all"}),
        Route.model_validate({"when": {"tier": "vip"}, "capture": "all"}),
    ]
    terms = Terms("rejected", routes=routes)
    assert terms.capture_of(exchange(tenant="bank-a")) == "none"
    assert terms.capture_of(exchange(tenant="shop")) == "all"
    assert terms.capture_of(exchange(tenant="shop", surface="completions")) == "rejected"
    assert terms.capture_of(exchange(tier="vip")) == "all"
    assert Terms("none").capture_of(exchange()) == "none"


def test_each_reason_has_its_policy_and_what_no_rule_stopped_has_one_too() -> None:
    terms = Terms(policies={"R101": Inject(mode="none"), "R203": Inject(mode="splice")})
    assert terms.policy("R101").mode == "none"
    assert terms.policy("R203").mode == "splice"
    assert terms.policy("R999") == Inject()
    assert terms.policy(ACCEPTED) == Inject(sensitive="allow")


def test_the_default_is_to_keep_what_was_rejected_in_this_process_s_memory() -> None:
    read = Retracing()
    assert (read.capture, read.routes, read.lookup, read.store.type) == ("rejected", (), Lookup(), "memory")
    assert Retracing.model_validate({"store": {"type": "redis", "url": "redis://h"}}).store.type == "redis"


@pytest.mark.parametrize(
    "wrong",
    [
        {"capture": "some"},
        {"routes": [{"capture": "all"}]},
        {"routes": [{"when": {"who": "me"}, "capture": "all"}]},
        {"store": {"type": "disk"}},
        {"lookup": {"chunk_bits": 3}},
        {"lookup": {"radius": 9}},
    ],
)
def test_a_word_it_does_not_know_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Retracing.model_validate(wrong)


def session(number: int, tenant: str = "t") -> Exchange:
    return exchange(tenant=tenant)._replace(session=f"s{number}")


def test_a_trial_takes_its_share_of_the_sessions_and_each_of_them_for_good() -> None:
    trial = Trial(Inject(mode="splice"), 0.1, "key")
    taken = [number for number in range(5000) if trial.takes(session(number))]
    assert 0.1 - 0.013 < len(taken) / 5000 < 0.1 + 0.013  # three standard deviations
    assert taken == [number for number in range(5000) if trial.takes(session(number))]
    assert not trial.takes(exchange())
    wider = trial._replace(share=0.3)
    assert all(wider.takes(session(number)) for number in taken)
    other = {number for number in range(5000) if trial._replace(key="other").takes(session(number))}
    assert len(other & set(taken)) < len(taken) / 3
    elsewhere = {number for number in range(5000) if trial.takes(session(number, "u"))}
    assert len(elsewhere & set(taken)) < len(taken) / 3


def test_tenant_and_session_are_not_mixed_up() -> None:
    trial = Trial(Inject(), 0.5, "key")
    named = [trial.takes(session(0, "1" * n)._replace(session="1" * (40 - n))) for n in range(1, 40)]
    assert len(set(named)) == 2


def test_terms_are_those_of_the_session_s_arm() -> None:
    new = Inject(mode="splice")
    terms = Terms(policies={"R203": Inject(), "R101": Inject()}, trials={"R203": Trial(new, 0.5, "key")})
    arms = {terms.arm("R203", session(number)): number for number in range(50)}
    assert set(arms) == {"now", "new"}
    assert terms.of(session(arms["new"])).policy("R203") == new
    assert terms.of(session(arms["new"])).policy("R101") == Inject()
    assert terms.of(session(arms["now"])) is terms
    assert terms.of(exchange()) is terms
    assert terms.arm("R101", session(arms["new"])) == "now"
    assert terms.tried(session(arms["new"])) == ("R203",)
    assert terms.tried(session(arms["now"])) == ()
