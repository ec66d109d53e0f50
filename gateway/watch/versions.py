"""Which rules each policy of reuse was confirmed for, and which policy of two is in force.

A policy (`inject` of a reason code) says how KV may be reused that was rejected for this code. It was thought out for
what the rules of that code look for. If they come to look for something else, nobody knows whether it still fits: reuse
is off for the code until a person has looked (`retrace policy confirm`). What is seen for the first time is trusted.

A changed policy is tried on some sessions first, if trials are on (trials.py); one that only forbids more is in force
at once. All of this is pure: what is known comes in, what is to be known comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, Field, field_serializer

from gateway.plug import Strict
from gateway.rules import Inject
from gateway.terms import Terms, Trial
from gateway.watch.prints import Carried, changes, hashed, narrower, version

OFF = Inject(mode="none", capture=False)
Code = Annotated[str, Field(pattern=r"^(R[0-9]{3}|accepted)$")]
Why = Literal["first sight", "confirmed", "at once", "trial", "by hand"]


class Tried(Strict):
    """A policy that is being tried."""

    policy: Inject
    at: AwareDatetime = Field(description="Since when.")

    @field_serializer("policy")
    def _short(self, policy: Inject) -> dict[str, Any]:
        return policy.model_dump(mode="json", exclude_defaults=True)


class Entry(Strict):
    """What is known of one reason code."""

    at: AwareDatetime = Field(description="When this entry last changed. Of two the newer one counts.")
    why: Why = Field(description="By what this policy came into force, or its rules were confirmed.")
    rules: dict[str, str] = Field(description="The rules it was confirmed for: id, and fingerprint.")
    policy: Inject = Field(description="In force. A trial's sessions apart.")
    trial: Tried | None = Field(default=None, description="What some sessions get instead.")
    refused: Inject | None = Field(default=None, description="What was tried and turned back; it is not tried again.")

    @field_serializer("policy", "refused")
    def _short(self, policy: Inject | None) -> dict[str, Any] | None:
        return policy.model_dump(mode="json", exclude_defaults=True) if policy is not None else None


class PolicyFile(Strict):
    """The state file (`retrace.policies`). The gateway and `retrace policy` write it; removed while no gateway runs,
    all is seen for the first time again."""

    codes: dict[Code, Entry] = Field(default={}, description="By reason code; `accepted`: of drafts no rule stopped.")


class Event(NamedTuple):
    """Something that happened to a code's policy: `begun`, `withdrawn` or `at_once`."""

    code: str
    what: Literal["begun", "withdrawn", "at_once"]


class Wanted(NamedTuple):
    """What the configuration says: the policies, the rules they stand for, and which share of the sessions a changed
    one goes to first (None: it is in force at once)."""

    policies: Mapping[str, Inject] = {}
    rules: Mapping[str, Carried] = {}
    share: float | None = None


class Standing(NamedTuple):
    """What comes of it. `fault` says why nothing was known, if what was known could not be read."""

    wanted: Wanted = Wanted()
    state: PolicyFile = PolicyFile()
    policies: Mapping[str, Inject] = {}  # in force
    unconfirmed: Mapping[str, tuple[str, ...]] = {}  # codes that are off, and what changed in their rules
    trials: Mapping[str, Trial] = {}
    events: tuple[Event, ...] = ()
    fault: str = ""

    @property
    def turned_back(self) -> frozenset[str]:
        """Codes for which another policy stands in the file than is in force, since a trial spoke against it."""
        entries = self.state.codes.items()
        return frozenset(code for code, entry in entries if entry.refused and code not in self.trials)

    @property
    def digest(self) -> bytes:
        """Of all that is in force."""
        policies = {code: policy.model_dump(mode="json") for code, policy in self.policies.items()}
        trials = {code: [trial.key, trial.share] for code, trial in self.trials.items()}
        return hashed([policies, sorted(self.unconfirmed), trials, self.fault])

    def over(self, terms: Terms) -> Terms:
        """Terms with the policies that are in force, and those that are tried."""
        return terms._replace(policies=self.policies, trials=self.trials)

    def told(self) -> dict[str, Any]:
        """For /readyz."""
        began = {code: entry.trial.at.isoformat() for code, entry in self.state.codes.items() if entry.trial}
        told: dict[str, Any] = {
            "unconfirmed": dict(self.unconfirmed),
            "trials": {code: {"share": trial.share, "since": began.get(code)} for code, trial in self.trials.items()},
            "turned_back": sorted(self.turned_back),
        }
        return {**told, "fault": self.fault} if self.fault else told


UNKNOWN = Standing()


def merged(one: PolicyFile, other: PolicyFile) -> PolicyFile:
    """What either knows; of a code that both know, the newer entry."""
    codes = dict(one.codes)
    for code, entry in other.codes.items():
        if code not in codes or entry.at > codes[code].at:
            codes[code] = entry
    return PolicyFile(codes=codes)


def settle(wanted: Wanted, known: PolicyFile, now: datetime) -> Standing:
    """What is in force of what is wanted, by what is known."""
    codes, policies = dict(known.codes), dict(wanted.policies)
    unconfirmed: dict[str, tuple[str, ...]] = {}
    trials: dict[str, Trial] = {}
    events: list[Event] = []
    for code, policy in wanted.policies.items():
        rules, entry = wanted.rules.get(code, {}), codes.get(code)
        if entry is None:
            codes[code] = Entry(at=now, why="first sight", rules=dict(rules), policy=policy)
            continue
        if changed := _meant(code, entry, policy, rules):
            unconfirmed[code], policies[code] = changed, OFF
            continue
        if entry.rules != rules:  # other names of the same, or the first there are
            entry = entry.model_copy(update={"at": now, "rules": dict(rules)})
        codes[code], event = _step(entry, policy, wanted.share, now)
        events += [Event(code, event)] if event else []
        policies[code] = codes[code].policy
        if (tried := codes[code].trial) and wanted.share is not None:
            trials[code] = Trial(tried.policy, wanted.share, _key(code, codes[code]))
    return Standing(wanted, PolicyFile(codes=codes), policies, unconfirmed, trials, tuple(events))


def _meant(code: str, entry: Entry, policy: Inject, rules: Carried) -> tuple[str, ...]:
    """What changed in the rules that this policy was confirmed for. The first there are of a code are trusted; so are
    those of a code that the policy has come to keep out, since that is a change of the policy."""
    lasting = (code, *(set(entry.policy.cut) & set(policy.cut)))
    was, now = ({name: told for name, told in of.items() if told.startswith(lasting)} for of in (entry.rules, rules))
    return changes(was, now) if was else ()


def _step(
    entry: Entry, policy: Inject, share: float | None, now: datetime
) -> tuple[Entry, Literal["begun", "withdrawn", "at_once"] | None]:
    """An entry, once this policy is wanted; and what happened, if anything did."""
    if policy == entry.policy:
        if entry.trial is None and entry.refused is None:
            return entry, None
        cleared = entry.model_copy(update={"at": now, "trial": None, "refused": None})
        return cleared, "withdrawn" if entry.trial else None
    if share is None or narrower(policy, entry.policy):
        return in_force(entry, policy, "at once", now), "at_once"
    if policy == entry.refused or (entry.trial and entry.trial.policy == policy):
        return entry, None
    tried = {"at": now, "trial": Tried(policy=policy, at=now), "refused": None}
    return entry.model_copy(update=tried), "begun"


def in_force(entry: Entry, policy: Inject, why: Why, now: datetime) -> Entry:
    """This policy from now on, and no trial."""
    return entry.model_copy(update={"at": now, "why": why, "policy": policy, "trial": None, "refused": None})


def turned_back(entry: Entry, policy: Inject, why: Why, now: datetime) -> Entry:
    """Not this policy, which was tried: what was in force stays so."""
    return entry.model_copy(update={"at": now, "why": why, "trial": None, "refused": policy})


def confirmed(entry: Entry, rules: Carried, now: datetime) -> Entry:
    """Its policy is right for these rules. A trial begins anew, since its sessions saw the old ones."""
    tried = entry.trial and entry.trial.model_copy(update={"at": now})
    return entry.model_copy(update={"at": now, "why": "confirmed", "rules": dict(rules), "trial": tried})


def nothing_known(wanted: Wanted, fault: str) -> Standing:
    """What was known can't be read: all that would be reused is off, and nothing is noted over it."""
    told = ("what was confirmed can't be read",)
    off = {code: told for code, policy in wanted.policies.items() if policy.captures or policy.mode != "none"}
    return Standing(wanted, policies={**wanted.policies, **dict.fromkeys(off, OFF)}, unconfirmed=off, fault=fault)


def _key(code: str, entry: Entry) -> str:
    """By which a trial is known: what is compared, and for which rules. Every process makes the same."""
    tried = entry.trial.policy if entry.trial else entry.policy
    return hashed([code, version(entry.policy), version(tried), sorted(set(entry.rules.values()))]).hex()
