"""`retrace init`: rules to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gateway.cli._shared import errors

app = typer.Typer()


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="A folder that is empty or not there yet.")] = Path("rules"),
) -> None:
    """Write the rules that come with the gateway into a folder of your own, to be changed there.

    `retrace serve` and all other commands find it, if it is called `rules`, from the folder that it lies in.
    """
    from gateway import shipped

    try:
        shipped.copy(folder)
    except OSError as fault:
        errors().print(
            f"{folder} can't be written: {fault.strerror or fault}; name another folder",
            style="red",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(1) from fault
    told = f"{folder / 'gateway.yaml'} is the main file; it explains itself, and names all others"
    Console().print(told, markup=False, highlight=False, soft_wrap=True)
