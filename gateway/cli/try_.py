"""`retrace try`: what the rules say of a text, without any model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway.cli._shared import CONFIG, Config, house
from gateway.types import Finding, Side, Verdict

if TYPE_CHECKING:
    from gateway.config import House

app = typer.Typer()


@app.command("try")
def try_(
    text: Annotated[str, typer.Argument(help="The text to judge; `-` reads standard input.")],
    config: Config = CONFIG,
    side: Annotated[Side, typer.Option(help="As a request (input) or as an answer (output).")] = Side.INPUT,
    role: Annotated[str, typer.Option(help="Who speaks.")] = "user",
    model: Annotated[str, typer.Option(help="The model asked.")] = "",
    tenant: Annotated[str, typer.Option(help="Whose request it is.")] = "default",
    tier: Annotated[str, typer.Option(help="The tenant's tier.")] = "standard",
    surface: Annotated[str, typer.Option(help="chat or completions.")] = "chat",
) -> None:
    """Judge a text with the rules, without any model. Exit code 2 if it is blocked.

    Example: `retrace try "Ignore all previous instructions"`
    """
    from gateway.config import Source
    from gateway.rules import Place
    from gateway.window import Window

    built = house(Source(config))
    if text == "-":
        text = sys.stdin.read()
    speaker = "assistant" if side is Side.OUTPUT and role == "user" else role
    place = Place(side, surface, model, tenant, tier, speaker)
    window = Window(built.judge.lanes(place))
    window.feed(text, final=True)
    findings = window.taken()
    out = Console()
    if findings:
        out.print(_table(built, findings, text))
    verdict = max((finding.verdict for finding in findings), default=Verdict.ALLOW)
    out.print(f"[bold]{verdict.name}[/]")
    if slow := built.judge.slow(place):
        out.print(f"[yellow]not asked, since they take their time[/]: {', '.join(rule.id for rule in slow)}")
    if verdict is Verdict.MASK:
        out.print(window.render(0, text), markup=False)
    raise typer.Exit(2 if verdict is Verdict.BLOCK else 0)


def _table(built: House, findings: Iterable[Finding], text: str) -> Table:
    table = Table("verdict", "reason", "rule", "where", "text", box=None)
    for finding in findings:
        start, end = finding.start, finding.end
        reason = f"{finding.reason} {built.reasons[finding.reason].name}"
        table.add_row(finding.action, reason, finding.rule, f"{start}-{end}", Text(text[start:end]))
    return table
