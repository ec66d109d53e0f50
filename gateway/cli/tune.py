"""`retrace tune`: what other settings of the search for donors would have done, and what is in force of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway.cli._hand import shown
from gateway.cli._shared import CONFIG, Config, errors, explained, house

if TYPE_CHECKING:
    from gateway.mainfile import GatewayFile
    from gateway.terms import Lookup
    from gateway.tune import Row, Sample

app = typer.Typer()

HEADS = ("", "found by", "chunk_bits", "bits", "radius", "window", "donor named", "reused of possible", "poor donors")


@app.command()
def tune(
    sample: Annotated[
        Path | None, typer.Argument(help="JSONL: a request body a line, or {tenant, body}.", show_default=False)
    ] = None,
    config: Config = CONFIG,
    write: Annotated[
        bool, typer.Option("--write", help="Write the best setting beside gateway.yaml; it is in force at once.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="What is in force above the files, what the controller did, and why.")
    ] = False,
    reset: Annotated[
        bool,
        typer.Option("--reset", help="Take all of it back, the controller's acts too: what the files say is in force."),
    ] = False,
) -> None:
    """Try other settings of the search for donors on a sample of your traffic: what would have been reused?

    Example: `retrace tune requests.jsonl`, and with `--write` once you agree. `retrace tune --show` says what the
    controller (`control` in watch.yaml) holds in force and why; `retrace tune --reset` takes everything back.
    """
    if reset:
        _reset(config)
    if show:
        _show(config)
    if sample is not None and not (reset or show):
        _tune(sample, config, write=write)
    elif not (reset or show):
        errors().print("name a sample: `retrace tune requests.jsonl`; or write `--show`, or `--reset`")
        raise typer.Exit(2)


def _main(config: Path) -> GatewayFile:
    """The main file alone: what it names may be broken, which is no reason to take nothing back."""
    from gateway.mainfile import GatewayFile
    from gateway.yamlfile import Document

    with explained():
        return Document(config).into(GatewayFile)


def _reset(config: Path) -> None:
    path = config.parent / _main(config).retrace.tuned
    try:
        path.unlink(missing_ok=True)
    except OSError as fault:
        errors().print(f"[red]{escape(str(path))} can't be removed[/]: {fault.strerror}")
        raise typer.Exit(1) from fault
    Console().print(f"{escape(str(path))} is gone: what the other files say is in force")


def _show(config: Path) -> None:
    from gateway import tuned
    from gateway.watch.file import WatchFile
    from gateway.yamlfile import Document

    main = _main(config)
    with explained():
        file = tuned.read(config.parent / main.retrace.tuned)
        watch = Document(config.parent / main.watch).into(WatchFile) if main.watch else None
    mode = watch.control.mode if watch else "off (gateway.yaml names no `watch` file)"
    Console().print(*shown(mode, file, main.retrace.lookup), sep="\n")


def _tune(sample: Path, config: Path, *, write: bool) -> None:
    """The curve, and with `write` the best of it put in force."""
    from gateway import tune as trial
    from gateway import tuned
    from gateway.config import Source

    out, built = Console(), house(Source(config))
    with explained():
        samples = trial.read(sample)
    rows = _replayed(samples, built.file.retrace.lookup)
    best = trial.chosen(rows)
    out.print(_curve(rows, best), f"{len(samples)} requests", sep="\n")
    if best is None:
        out.print("no setting would have named a donor: the requests have too little in common, or are too short")
    elif write:
        path = built.folder / built.file.retrace.tuned
        with explained():
            tuned.write_lookup(path, best.lookup, f"{sample.name}, {len(samples)} requests")
        out.print(f"[green]written[/]: {escape(str(path))}; `retrace tune --reset` takes it back")


def _replayed(samples: list[Sample], now: Lookup) -> list[Row]:
    """All settings on a sample, with a progress bar; by codes only if their models are in order."""
    from rich.progress import Progress

    from classifiers.manifest import ModelFault
    from gateway import tune as trial
    from gateway.similar import Similar

    chunks, codes = trial.settings(now), trial.codes_settings(now)
    with Progress(console=errors(), transient=True) as progress:
        task = progress.add_task("replaying", total=(len(chunks) + len(codes)) * len(samples))
        rows = list(trial.curve(samples, chunks, lambda: progress.advance(task)))
        try:
            rows += trial.codes_curve(samples, codes, Similar().codes, lambda: progress.advance(task))
        except ModelFault as fault:
            progress.print(f"[yellow]without similarity codes[/]: {fault}")
    return rows


def _curve(rows: list[Row], best: Row | None) -> Table:
    table = Table(*HEADS, box=None)
    for row in rows:
        lookup, mark = row.lookup, "->" if row is best else ""
        told = [f"{part:.3f}" for part in (row.named, row.reused, row.poor)]
        if row.by == "chunks":
            table.add_row(mark, row.by, str(lookup.chunk_bits), "", "", "", *told)
        else:
            table.add_row(mark, row.by, "", str(lookup.bits), str(lookup.radius), str(lookup.window), *told)
    return table
