"""How what is in force above the files is shown: what is held back or loosened, since when and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from gateway.overlay import Brake, Noted, Overlay
    from gateway.terms import Lookup, TunedFile

_NOT = "[yellow]not in force[/]: `control.mode` is {} (it must be act); what stands below waits in the file"


def shown(mode: str, tuned: TunedFile, written: Lookup) -> Iterator[RenderableType]:
    """All of it. `mode`: the controller's; `written`: what gateway.yaml says of the search."""
    overlay, base = tuned.hand, tuned.lookup or written
    if tuned.lookup is not None:
        yield f"search: {_lookup(tuned.lookup)}, found by `retrace tune` with {escape(tuned.sample) or 'a sample'}"
    yield f"controller: {mode}"
    if overlay.idle and not overlay.acts:
        yield "it holds nothing in force"
        return
    if not overlay.idle and mode != "act":
        yield _NOT.format(mode)
    if overlay.idle:
        yield "it holds nothing in force any more"
    if overlay.breaker is not None:
        yield f"breaker: open since {_time(overlay.breaker)}, nothing is captured or injected"
    if overlay.fallback is not None:
        back = f"; back: {', '.join(overlay.back)}" if overlay.back else ""
        yield f"fallback: {overlay.how} since {_time(overlay.fallback)}, nothing is injected{back}"
    if overlay.bits:
        change = f"{_lookup(base)} -> {_lookup(base.loosened(overlay.bits))}"
        yield f"search: loosened by {overlay.bits} bits since {_time(overlay.moved or 0)}: {change}"
    if overlay.codes:
        yield _codes(overlay)
    if overlay.acts:
        yield _acts(overlay.acts)
    yield "`retrace tune --reset` takes all of it back"


def _codes(overlay: Overlay) -> Table:
    table = Table("code", "is", "because of", "since", "tries", "next", box=None)
    for code, brake in sorted(overlay.codes.items()):
        state = f"tried by {overlay.share:.0%} of sessions" if brake.tried is not None else "off"
        table.add_row(code, state, brake.cause, _time(brake.since), str(brake.tries), _next(brake))
    return table


def _next(brake: Brake) -> str:
    return f"since {_time(brake.tried)}" if brake.tried is not None else f"tried at {_time(brake.next)}"


def _acts(acts: tuple[Noted, ...]) -> Table:
    table = Table("when", "act", "code", "why", box=None)
    for act in acts:
        table.add_row(_time(act.at), act.what, act.code, escape(act.why))
    return table


def _lookup(lookup: Lookup) -> str:
    codes = f", codes of {lookup.bits} bits within {lookup.radius}" if lookup.codes else ""
    return f"chunk_bits {lookup.chunk_bits}{codes}"


def _time(at: float) -> str:
    """In the time of this machine."""
    try:
        return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return f"second {at:.0f}"
