"""What commands share: where the configuration is, and how a person is told what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from gateway import shipped
from gateway.errors import Complaint, ConfigFault

if TYPE_CHECKING:
    from gateway.config import House, Source

CONFIG = here if (here := Path("rules/gateway.yaml")).exists() else shipped.CONFIG

Config = Annotated[Path, typer.Option("--config", "-c", help="The main YAML file.", show_default=True)]


def errors() -> Console:
    """For what goes wrong, and for what a person should know beside what he has asked for."""
    return Console(stderr=True)


def house(source: Source) -> House:
    """The configuration, built and tried; what is wrong with it is told, and ends the command."""
    from gateway.config import build

    with explained():
        return build(source)


@contextmanager
def explained() -> Iterator[None]:
    """What is wrong in a file is told with file, line, field and fix, and ends the command with exit code 1."""
    try:
        yield
    except ConfigFault as fault:
        err = errors()
        for complaint in fault.complaints:
            _complain(complaint, err)
        raise typer.Exit(1) from fault


def _complain(complaint: Complaint, err: Console) -> None:
    where = f"{complaint.file}:{complaint.line}" if complaint.line else str(complaint.file)
    told = [f"[bold]{escape(where)}[/] [cyan]{escape(complaint.field)}[/]", f"  [red]{escape(complaint.problem)}[/]"]
    if complaint.fix:
        told.append(f"  [green]{escape(complaint.fix)}[/]")
    err.print(*told, sep="\n", soft_wrap=True, highlight=False)
