"""What is said of policies of reuse: how they stand, what trials have shown, each in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.rules import Inject
    from gateway.watch.trials import Evidence
    from gateway.watch.trying import Trying
    from gateway.watch.versions import Standing


def figures(found: Evidence, trying: Trying) -> Iterator[str]:
    """The figures of both arms with their bounds, and how far the judgement is."""
    from gateway.watch.trials import FIGURES, compared, said, spent

    for figure in FIGURES:
        if figure in found.shown:
            how = "shown to be no worse than its margin"
        elif (chance := found.chance.get(figure)) is not None:
            how = f"p {chance:.3g}, worse from {spent(trying):.2g} down"
        else:
            how = "not judged yet"
        yield f"{said(compared(found, figure, trying))}: {how}"


def state(standing: Standing, code: str) -> str:
    """What is in force of a code, and what is to be done about it."""
    if code in standing.unconfirmed:
        return f"OFF, its rules changed ({'; '.join(standing.unconfirmed[code])}): retrace policy confirm {code}"
    if code in standing.trials:
        trial = standing.trials[code]
        return f"{trial.share:.0%} of the sessions try {short(trial.policy)}: retrace policy trial {code}"
    if code in standing.turned_back:
        wanted = short(standing.wanted.policies[code])
        return f"reasons.yaml wants {wanted}, which was turned back: undo it, or retrace policy trial {code} --accept"
    return "in force"


def turned_back(standing: Standing) -> str:
    """Which codes want a policy that was turned back; nothing if none does."""
    codes = sorted(standing.turned_back)
    return f"; turned back and still in reasons.yaml: {', '.join(codes)}" if codes else ""


def short(policy: Inject) -> str:
    """A policy in a few words: its mode, and what is unusual of it."""
    told = policy.model_dump(mode="json", exclude_defaults=True, exclude={"mode"})
    return " ".join([policy.mode, *(f"{name}={value}" for name, value in told.items())])


def time(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")
