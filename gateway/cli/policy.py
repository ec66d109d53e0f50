"""`retrace policy`: which policies of reuse are in force, and a person's word on those that changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway.cli import _policies
from gateway.cli._shared import CONFIG, Config, errors, explained, house

if TYPE_CHECKING:
    from gateway.config import House
    from gateway.watch.versions import Entry, PolicyFile

app = typer.Typer(
    name="policy",
    no_args_is_help=True,
    help="How rejected drafts may be reused (`inject` in reasons.yaml), by reason code: what is in force, what waits "
    "for your word, what is being tried.\n\nA policy was thought out for what the rules of its code look for. If these "
    "change, nothing is reused for the code until you have looked: `retrace policy list`, then `retrace policy confirm "
    "R203`. A changed policy goes to a share of the sessions first (`trials` in watch.yaml): `retrace policy trial "
    "R203`.",
)

Codes = Annotated[list[str] | None, typer.Argument(help="Reason codes, such as R203; `accepted` for accepted drafts.")]


@app.command("list")
def list_(config: Config = CONFIG) -> None:
    """Show the policy of each reason code, since when it holds, and what is to be done about it.

    Example: `retrace policy list`
    """
    built, out = _built(config), Console()
    table = Table("code", "name", "reused", "since", "by", "state", box=None)
    for code, policy in built.standing.policies.items():
        reason, entry = built.reasons.get(code), built.standing.state.codes.get(code)
        noted = entry is not None and (config.parent / built.file.retrace.policies).exists()
        since, by = (_policies.time(entry.at), entry.why) if entry is not None and noted else ("", "")
        name = reason.name if reason else "accepted drafts"
        table.add_row(code, name, _policies.short(policy), since, by, escape(_policies.state(built.standing, code)))
    out.print(table)
    if not (config.parent / built.file.retrace.policies).exists():
        out.print("nothing is noted yet: all of it is trusted as it is, once an engine with the plugin is used")


@app.command()
def confirm(
    codes: Codes = None,
    config: Config = CONFIG,
    all_: Annotated[bool, typer.Option("--all", help="All whose rules changed.")] = False,
) -> None:
    """Say that a policy is right for the rules of its code as they are now. What changed in them is printed.

    Drafts that were kept under the old rules may serve again then, until their time (`ttl_seconds`) is over.

    Example: `retrace policy confirm R203`
    """
    from gateway.watch.versions import confirmed

    built = _built(config)
    waiting = built.standing.unconfirmed
    chosen = sorted(waiting) if all_ else _known(built, codes)
    if not chosen:
        _stop("name a code, or write --all" if waiting or not all_ else "no code waits for your word", 0 if all_ else 2)
    out = Console()
    for code in chosen:
        rules = built.standing.wanted.rules.get(code, {})
        _change(config, built, code, lambda entry, now, rules=rules: confirmed(entry, rules, now))  # type: ignore[misc]
        out.print(f"[green]confirmed[/] {code}: {_policies.short(built.standing.wanted.policies[code])}")
        for line in waiting.get(code, ("its rules had not changed",)):
            out.print(f"  {escape(line)}", highlight=False)


@app.command()
def trial(
    code: Annotated[str | None, typer.Argument(help="A reason code; without one all trials are shown.")] = None,
    config: Config = CONFIG,
    accept: Annotated[bool, typer.Option("--accept", help="The new policy goes to all sessions now.")] = False,
    back: Annotated[bool, typer.Option("--back", help="The old policy stays, the new one is not tried again.")] = False,
) -> None:
    """Show what trials of changed policies have shown so far, and end one by hand.

    `--accept` also takes a policy that was turned back before.

    Example: `retrace policy trial R203 --accept`
    """
    built = _built(config)
    if accept and back:
        raise typer.BadParameter("--accept and --back can't both be meant")
    if accept or back:
        if code is None:
            raise typer.BadParameter("name the code whose trial ends")
        _end(config, built, *_known(built, [code]), accept=accept)
        return
    shown = _known(built, [code]) if code else sorted(built.standing.trials)
    for one in shown:
        _show(config, built, one)
    if not shown:
        Console().print("no policy is being tried" + _policies.turned_back(built.standing))


def _end(config: Path, built: House, code: str, *, accept: bool) -> None:
    """By hand, whatever the figures say."""
    from gateway.watch.versions import in_force, turned_back

    wanted, entry = built.standing.wanted.policies[code], built.standing.state.codes.get(code)
    tried = entry.trial if entry is not None else None
    if tried is None and not (accept and entry is not None and entry.refused):
        _stop(f"no policy is being tried for {code}" + _policies.turned_back(built.standing), 1)
    policy = tried.policy if tried is not None else wanted
    step = in_force if accept else turned_back
    _change(config, built, code, lambda entry, now: step(entry, policy, "by hand", now))
    said = "is in force for all sessions" if accept else "is not tried any more; change or undo it in reasons.yaml"
    Console().print(f"[green]done[/]: {code} {_policies.short(policy)} {said}")


def _show(config: Path, built: House, code: str) -> None:
    from gateway import files
    from gateway.watch import evidence
    from gateway.watch.trying import Trying

    out, trial = Console(), built.standing.trials.get(code)
    if trial is None:
        _stop(f"no policy is being tried for {code}" + _policies.turned_back(built.standing), 1)
    assert trial is not None
    entry = built.standing.state.codes[code]
    since = _policies.time(entry.trial.at) if entry.trial else ""
    out.print(f"[bold]{code}[/]: {trial.share:.0%} of the sessions since {since}")
    out.print(
        f"  now: {_policies.short(entry.policy)}\n  new: {_policies.short(trial.policy)}", markup=False, highlight=False
    )
    kept = files.beside(config.parent / built.file.retrace.policies, "evidence")
    found = evidence.read(kept).get(trial.key)
    trying = built.watch.trials if built.watch else Trying()
    if found is None:
        out.print("  nothing was put away yet; it is once a minute")
        return
    for line in _policies.figures(found, trying):
        out.print(f"  {line}", markup=False, highlight=False)
    out.print(f"  as of {_policies.time(datetime.fromtimestamp(kept.stat().st_mtime).astimezone())}", highlight=False)


def _change(config: Path, built: House, code: str, step: Callable[[Entry, datetime], Entry]) -> None:
    """Have the state file say so."""
    from datetime import UTC

    from gateway.errors import Complaint, ConfigFault
    from gateway.watch import register
    from gateway.watch.versions import PolicyFile

    path = config.parent / built.file.retrace.policies

    def changed(known: PolicyFile) -> tuple[PolicyFile, None]:
        codes = {**built.standing.state.codes, **known.codes}
        return PolicyFile(codes={**codes, code: step(codes[code], datetime.now(UTC))}), None

    with explained():
        try:
            register.change(path, changed)
        except OSError as fault:
            fix = "make its folder writable, or name another place under `retrace.policies` in gateway.yaml"
            raise ConfigFault([Complaint(path, None, "", f"can't be written: {fault.strerror}", fix)]) from fault


def _built(config: Path) -> House:
    """The configuration; with a state file that can be read, or there is nothing to say."""
    from gateway.config import Source
    from gateway.watch import register

    built = house(Source(config))
    if built.standing.fault:
        with explained():
            register.read(config.parent / built.file.retrace.policies)
    return built


def _known(built: House, codes: list[str] | None) -> list[str]:
    for code in codes or ():
        if code not in built.standing.wanted.policies:
            raise typer.BadParameter(f"{code} has no policy; `retrace policy list` shows those that have")
    return codes or []


def _stop(why: str, code: int) -> None:
    """End the command with a word."""
    errors().print(why, soft_wrap=True, markup=False, highlight=False)
    raise typer.Exit(code)
