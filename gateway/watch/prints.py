"""What rules and policies mean, in short: fingerprints and versions, by which it is known what changed.

A fingerprint of a rule is made of what it looks for (the words of its files among it), where it applies and what it
does; not of comments, order, names, or what a client is told. Of a service that is asked over HTTP it holds the
address, since what stands behind it can't be seen from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from gateway.rules import Inject, Rule

Carried = Mapping[str, str]  # the rules a policy stands on: each one's id, and its fingerprint

_HOW = {"file", "key_env", "timeout_ms", "at_most"}  # how a check is asked, or where its words stand: not what for
_STRICTEST_FIRST: Mapping[str, tuple[str, ...]] = {
    "mode": ("none", "prefix", "splice"),
    "sensitive": ("cut", "mask", "allow"),
    "after_sensitive": ("stop", "recompute", "allow"),
    "scope": ("session", "tenant"),
}


def carried(rules: Iterable[Rule], policies: Mapping[str, Inject]) -> dict[str, Carried]:
    """For each code that has a policy: its rules, and those of the codes whose findings the policy keeps out."""
    table = [(rule.reason, rule.id, fingerprint(rule)) for rule in rules]
    found: dict[str, Carried] = {}
    for code, policy in policies.items():
        wanted = {code, *policy.cut}
        found[code] = {name: print_ for reason, name, print_ in table if reason in wanted}
    return found


def fingerprint(rule: Rule) -> str:
    """The rule's code and what it looks for; behind the dash where it applies and what it does."""
    check = rule.check.model_dump(mode="json", exclude_defaults=True, exclude=_HOW)
    looks = {"type": rule.check.type, **{name: _plain(value) for name, value in check.items()}}
    where = {name: _plain(value) for name, value in rule.when.model_dump(mode="json").items()}
    return f"{rule.reason} {hashed(looks).hex()}-{hashed([rule.side, rule.action, where]).hex()}"


def version(policy: Inject) -> str:
    """A short name of a policy: equal ones have the same."""
    return hashed(policy.model_dump(mode="json")).hex()


def changes(before: Carried, after: Carried) -> tuple[str, ...]:
    """What changed from one set of rules to another, a line each; another id alone is no change."""
    old, new = set(before.values()), set(after.values())
    return tuple(_changes(before, after, old, new)) if old != new else ()


def _changes(before: Carried, after: Carried, old: set[str], new: set[str]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if was is None and now not in old:
            yield f"{name}: is new"
        elif now is None and was not in new:
            yield f"{name}: is gone"
        elif was is not None and now is not None and was != now:
            same = was.partition("-")[0] == now.partition("-")[0]
            yield f"{name}: applies elsewhere, or acts otherwise" if same else f"{name}: looks for something else"


def narrower(new: Inject, old: Inject) -> bool:
    """Whether a policy allows nothing that the other does not: it reuses less, keeps out more, for fewer, for less
    time."""
    if new.mode == "none":
        return not new.captures or old.captures
    ordered = all(
        steps.index(getattr(new, name)) <= steps.index(getattr(old, name)) for name, steps in _STRICTEST_FIRST.items()
    )
    again = new.recompute.first >= old.recompute.first and new.recompute.share >= old.recompute.share
    less = new.min_tokens >= old.min_tokens and new.ttl_seconds <= old.ttl_seconds
    keeps = (old.captures or not new.captures) and (new.ban or not old.ban) and set(new.cut) >= set(old.cut)
    return ordered and again and less and keeps


def hashed(value: Any) -> bytes:
    """A few bytes that are the same for what is the same."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=6).digest()


def _plain(value: Any) -> Any:
    """Lists of words without their order, and each word once; anything else as it is."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return sorted(set(value))
    return value
