"""`retrace audit`: whether the audit log is as it was written, and where things stand in it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gateway.cli import _audit
from gateway.cli._shared import CONFIG, Config

if TYPE_CHECKING:
    from gateway.audit.proof import Chain

app = typer.Typer(
    name="audit",
    no_args_is_help=True,
    help="The audit log: what became of each exchange, in files in which a changed or missing line is found.\n\n"
    "Example: `retrace audit verify`, then `retrace report rt-...` for one exchange.\n\nIt is written while `audit` "
    "stands in gateway.yaml.",
)


@app.command()
def verify(
    folder: _audit.Folder = None,
    config: Config = CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each chain.")] = False,
) -> None:
    """Read the whole log: is each line as it was written, is none missing, does each stand in its place?

    Each worker process writes a chain of its own. Of each, the first break is told, with file and line and what it
    means. Exit code 0: all is whole; 1: it is not, or can't be read. A gateway may go on writing meanwhile.

    Example: `retrace audit verify /var/log/retrace/audit`
    """
    from gateway.audit import proof

    where = _audit.there(folder or _audit.named(config))
    with _audit.unreadable(where), _audit.reading() as begin:
        chains = proof.verified(where, begin("verifying", proof.size(where)))
    for chain in chains:
        if as_json:
            sys.stdout.write(_line(chain))
        else:
            _tell(chain)
    if any(chain.broken for chain in chains):
        raise typer.Exit(1)


@app.command()
def index(folder: _audit.Folder = None, config: Config = CONFIG) -> None:
    """Bring the index up to date with the log. `retrace report` does it by itself; after much traffic it takes a while.

    Example: `retrace audit index`, every night
    """
    from gateway.audit import proof, search

    where = _audit.there(folder or _audit.named(config))
    with _audit.unreadable(where), _audit.reading() as begin:
        count = search.indexed(where, begin("indexing", proof.size(where)))
    Console().print(f"{where}: {count} lines more", markup=False, highlight=False, soft_wrap=True)


def _tell(chain: Chain) -> None:
    """One chain, for a person."""
    out, broken = Console(), chain.broken
    if broken:
        out.print(f"[red]broken[/]  {chain.worker}", highlight=False)
        told = f"{broken.file}:{broken.line}: {broken.kind}: {broken.meaning}\nnothing behind that place is proven"
        out.print(told, markup=False, highlight=False, soft_wrap=True)
    else:
        told = f"{chain.lines} lines in {chain.files} files, numbers {chain.first} to {chain.last.seq}"
        out.print(f"[green]whole[/]   {chain.worker}: {told}", highlight=False, soft_wrap=True)
    for count, what in (
        (chain.lost, "lines could not be written and are lost, by its own account"),
        (chain.unclean, "times its process was killed: what came in its last moments may be missing"),
        (chain.lacks, "lines were taken by a power failure, by its own account"),
        (chain.unended, "bytes of a last line without an end: it is being written, or its process was killed"),
    ):
        if count:
            out.print(f"        {count} {what}", markup=False, highlight=False, soft_wrap=True)


def _line(chain: Chain) -> str:
    """One chain, for a program."""
    broken = chain.broken
    told = {name: getattr(chain, name) for name in ("worker", "files", "lines", "first", "lost", "starts", "unclean")}
    told |= {"lacks": chain.lacks, "unended": chain.unended, "last": chain.last.seq, "whole": broken is None}
    if broken is not None:
        told["break"] = {**broken._asdict(), "file": str(broken.file)}
    return json.dumps(told, ensure_ascii=False) + "\n"
