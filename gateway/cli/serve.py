"""`retrace serve`: the gateway itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.logging import RichHandler

from gateway.cli._shared import CONFIG, Config, errors, house

if TYPE_CHECKING:
    from gateway.config import House

app = typer.Typer()


@app.command()
def serve(
    config: Config = CONFIG,
    backend: Annotated[
        str | None,
        typer.Option(help="Serve this one endpoint instead of those in the file: http://host:8000"),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Instead of `listen.host`.")] = None,
    port: Annotated[int | None, typer.Option(help="Instead of `listen.port`; 0 takes a free one.")] = None,
    workers_: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes on the same port.")] = 1,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log every exchange, not only those a rule saw.")
    ] = False,
) -> None:
    """Serve. YAML files are followed: an edit is in force within a second, a broken one changes nothing.

    Example: `retrace serve --backend http://127.0.0.1:8000 --port 8080`
    """
    from gateway import workers
    from gateway.config import Source

    err = errors()
    _log(err, verbose)
    source = Source(config, host, backend)
    built = house(source)
    if workers_ > 1 and built.file.retrace.store.type == "memory":
        err.print("[yellow]each worker remembers captures by itself; `retrace.store: {type: redis, ...}` is shared[/]")
    name, chosen = built.file.listen.host, built.file.listen.port if port is None else port
    try:
        workers.serve(source, name, chosen, workers_, lambda at: _welcome(err, built, name, at))
    except OSError as fault:
        err.print(f"[red]can't listen on {name}:{chosen}[/]: {fault.strerror}; choose another with --port")
        raise typer.Exit(1) from fault


def _welcome(err: Console, built: House, host: str, port: int) -> None:
    guard = "" if built.keys else " [yellow](no API keys: this machine only)[/]"
    err.print(f"[green]retrace[/] serves http://{host}:{port}/v1 with {len(built.rules)} rules{guard}", soft_wrap=True)


def _log(err: Console, verbose: bool) -> None:
    """Coloured for a person, one plain line each for whoever collects logs."""
    handler = RichHandler(console=err, show_path=False, markup=False) if err.is_terminal else logging.StreamHandler()
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(message)s" if err.is_terminal else "%(asctime)s %(levelname)s %(message)s",
        handlers=[handler],
    )
    for noisy in ("asyncio", "watchfiles", "aiohttp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
