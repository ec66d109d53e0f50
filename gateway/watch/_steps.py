"""How sure a model was of each token it said, and how far two answers to the same prompt agree in that.

Two greedy answers are compared as far as both had the same text before them: up to the first token in which they
differ, and including it. Behind that their contexts differ, and nothing would be learned of the prompt's KV.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LEAST = 1e-9  # of a share; below it a number is noise


class Step(NamedTuple):
    """One token that was said, and the log probabilities (nats) of the likeliest ones at its place."""

    token: str
    top: Mapping[str, float]


class Agreement(NamedTuple):
    """`top1`: at which share of the places both would say the same. `kl`: the mean divergence of the second from the
    first, nats a token; a lower bound, since all that is not among both lists counts as one outcome."""

    top1: float
    kl: float


def wanted(path: str, count: int) -> dict[str, Any]:
    """What asks an endpoint at this path for the `count` likeliest tokens at each place."""
    if not count:
        return {}
    return {"logprobs": True, "top_logprobs": count} if path.endswith("/chat/completions") else {"logprobs": count}


def steps(data: Mapping[str, Any]) -> list[Step]:
    """The tokens that an event tells, of its first choice, in either format; none where it makes no sense."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    told = choice.get("logprobs") if isinstance(choice, dict) else None
    if not isinstance(told, dict):
        return []
    content = told.get("content")
    if isinstance(content, list):
        read = [_chat(one) for one in content if isinstance(one, dict)]
    else:
        tokens, tops = told.get("tokens"), told.get("top_logprobs")
        both = isinstance(tokens, list) and isinstance(tops, list)
        read = [_plain(token, top) for token, top in zip(tokens or (), tops or (), strict=False)] if both else []
    return [step for step in read if step is not None]


def _chat(told: Mapping[str, Any]) -> Step | None:
    tops = told.get("top_logprobs")
    listed = [top for top in tops if isinstance(top, dict)] if isinstance(tops, list) else []
    return _plain(told.get("token"), {str(top.get("token")): top.get("logprob") for top in listed})


def _plain(token: Any, top: Any) -> Step | None:
    if not isinstance(token, str) or not isinstance(top, dict):
        return None
    known = {name: float(value) for name, value in top.items() if isinstance(value, int | float) and value <= 0}
    return Step(token, known) if known else None


def agreement(ours: Sequence[Step], theirs: Sequence[Step]) -> Agreement | None:
    """How far `ours` (with a donor) agrees with `theirs` (without); None where neither tells anything."""
    places = list(zip(ours, theirs, strict=False))
    differ = next((n for n, (one, other) in enumerate(places) if one.token != other.token), len(places))
    seen = places[: differ + 1]
    if not seen:
        return None
    apart = math.fsum(divergence(other.top, one.top) for one, other in seen)
    return Agreement(min(differ, len(seen)) / len(seen), apart / len(seen))


def divergence(true: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Kullback and Leibler's divergence of `other` from `true`, over the tokens that both name and all others as one.

    To take outcomes together can only lessen it (the data processing inequality: Cover and Thomas 2006, 2.8)."""
    shared = [token for token in true if token in other]
    shares = [(math.exp(true[token]), math.exp(other[token])) for token in shared]
    rest = tuple(max(LEAST, 1 - math.fsum(side)) for side in zip(*shares, strict=True)) if shares else (1.0, 1.0)
    total = math.fsum(p * math.log(p / max(q, LEAST)) for p, q in [*shares, rest] if p > LEAST)
    return max(0.0, total)
