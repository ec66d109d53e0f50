"""`retrace check`: whether all YAML files are right, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway.cli._shared import CONFIG, errors, house
from gateway.types import Action

if TYPE_CHECKING:
    from gateway.config import House

app = typer.Typer()


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The folder of gateway.yaml, or that file.")] = CONFIG.parent,
) -> None:
    """Read, check and try all YAML files, without serving. Exit code 1, file, line, field and fix if one is wrong.

    Example: `retrace check rules`
    """
    from gateway.config import Source

    built = house(Source(folder / "gateway.yaml" if folder.is_dir() else folder))
    out, err = Console(), errors()
    out.print(_table(built))
    for doubt in _doubts(built):
        err.print(f"[yellow]{escape(doubt)}[/]", soft_wrap=True, highlight=False)
    rules, files = len(built.rules), len(built.watched)
    out.print(f"[green]all right[/]: {rules} rules, {files} files, revision {built.revision}", soft_wrap=True)
    if said := _refining(built):
        out.print(f"[green]read once more[/]: {escape(said)}", soft_wrap=True, highlight=False)


def _table(built: House) -> Table:
    table = Table("side", "rule", "check", "action", "reason", box=None)
    for rule in sorted(built.rules.values(), key=lambda rule: (rule.side, rule.id)):
        reason = f"{rule.reason} {built.reasons[rule.reason].name}"
        table.add_row(rule.side, rule.id, rule.check.type, rule.action, reason)
    return table


def _doubts(built: House) -> Iterator[str]:
    """What is right, and yet hardly what somebody meant."""
    wanting = [rule.id for rule in built.rules.values() if rule.action is Action.REFINE]
    if wanting and built.refine is None:
        yield (
            f"`action: refine` of {', '.join(wanting)} does nothing: gateway.yaml names no file that says how answers "
            "are read once more; write `refine: refine.yaml` into it"
        )
    if built.standing.fault:
        yield f"nothing is reused at all: {built.standing.fault}"
        return
    for code, changed in sorted(built.standing.unconfirmed.items()):
        yield f"nothing is reused of {code} ({'; '.join(changed)}): `retrace policy confirm {code}` once it still fits"


def _refining(built: House) -> str:
    """How answers are read once more, in a line; empty if they never are."""
    file = built.refine
    if file is None:
        return ""
    tiers = " > ".join(tier.type for tier in file.tiers) or "none (only rules with `action: refine` ask for it)"
    others = f", otherwise on {len(file.routes)} routes" if file.routes else ""
    queue = file.queue.type if file.queue else "none"
    return f"{built.file.refine}, delivery {file.delivery}{others}; tiers {tiers}; queue {queue}"
