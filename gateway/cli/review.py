"""`retrace review`: answers that wait for a person, in the queue that refine.yaml names."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer
from rich.console import Console

from gateway.cli import _pages
from gateway.cli._queue import ask
from gateway.cli._shared import CONFIG, Config, errors
from gateway.refine._entry import NOTED, Listing, check_name

app = typer.Typer(
    name="review",
    no_args_is_help=True,
    help="Answers that should have been read once more and went out unread: a person's work.\n\nExample: "
    "`retrace review list`, then `retrace review take 5 --reviewer Li`, then for each of them `retrace review done "
    '1700000000000-0 --verdict wrong --note "the rate is 4%"`.\n\nThey wait in the `queue` of refine.yaml, which '
    "gateway.yaml names.",
)

Verdict = Literal["right", "wrong", "unclear"]
Json = Annotated[bool, typer.Option("--json", help="A line of JSON each, with all of it.")]


def _name(reviewer: str) -> str:
    try:
        if reviewer:
            check_name(reviewer)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from fault
    return reviewer


def _note(note: str) -> str:
    if len(note) > NOTED:
        raise typer.BadParameter(f"a note has {NOTED} characters at most, this one has {len(note)}")
    return note


@app.command("list")
def list_(
    config: Config = CONFIG,
    most: Annotated[int, typer.Option(min=1, max=100_000, help="Show so many, the oldest first.")] = 50,
    as_json: Json = False,
) -> None:
    """Show what waits, taken or not.

    Example: `retrace review list --json | jq -r 'select(.domain == "finance").question'`
    """
    found = ask(config, lambda queue: queue.pending(most + 1))
    shown = found.waiting[:most]
    if as_json:
        sys.stdout.writelines(map(_pages.line, shown))
    else:
        more = f"; there may be more: --most {10 * most}" if len(found.waiting) + found.unread > most else ""
        out = Console()
        if shown:
            out.print(_pages.table(shown))
        out.print(_pages.counted(shown) + more, markup=False, highlight=False, soft_wrap=True)
    _tell_unread(found)


@app.command()
def take(
    reviewer: Annotated[
        str, typer.Option(callback=_name, envvar="RETRACE_REVIEWER", help="Your name. Nobody else gets these then.")
    ],
    count: Annotated[int, typer.Argument(min=1, max=1000, help="How many you want to have before you.")] = 1,
    config: Config = CONFIG,
    as_json: Json = False,
) -> None:
    """Take answers and read them in full, what should be verified in [[ ]]: what is yours already, then more.

    Example: `retrace review take 5 --reviewer Li`
    """
    found = ask(config, lambda queue: queue.take(count, reviewer))
    if as_json:
        sys.stdout.writelines(map(_pages.line, found.waiting))
    else:
        _show(found)
    _tell_unread(found)


@app.command()
def done(
    ticket: Annotated[str, typer.Argument(help="As `list` and `take` show it.")],
    verdict: Annotated[Verdict, typer.Option(help="What the answer was.")],
    note: Annotated[str, typer.Option(callback=_note, help="What is wrong, or how you know.")] = "",
    reviewer: Annotated[
        str, typer.Option(callback=_name, envvar="RETRACE_REVIEWER", help="Your name; if absent, who has taken it.")
    ] = "",
    config: Config = CONFIG,
) -> None:
    """Say what became of an answer. It leaves the queue, and is kept with your verdict. Exit code 1 if it isn't there.

    Example: `retrace review done 1700000000000-0 --verdict wrong --note "利率是4%"`
    """
    if not ask(config, lambda queue: queue.done(ticket, verdict, note, reviewer)):
        told = f"nothing waits under {_pages.visible(ticket)}: dealt with already? `retrace review list` shows all"
        errors().print(told, style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1)
    Console().print(f"{_pages.visible(ticket)}: {verdict}", markup=False, highlight=False)


def _show(found: Listing) -> None:
    out = Console()
    for one in found.waiting:
        out.print(_pages.page(one), soft_wrap=True)
    if found.waiting:
        then = "once you know: `retrace review done TICKET --verdict right|wrong|unclear --note WHY`"
        out.print(then, style="dim", markup=False, highlight=False, soft_wrap=True)
    else:
        out.print("nothing waits that nobody has taken")


def _tell_unread(found: Listing) -> None:
    if found.unread:
        told = f"{found.unread} could not be read: torn by a crash, written by something else, or gone meanwhile"
        errors().print(told, style="yellow", highlight=False, soft_wrap=True)
