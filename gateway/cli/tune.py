"""`retrace tune`: what other settings of the search for donors would have done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from gateway.cli._shared import CONFIG, Config, errors, explained, house

if TYPE_CHECKING:
    from gateway.terms import Lookup
    from gateway.tune import Row, Sample

app = typer.Typer()

HEADS = ("", "found by", "chunk_bits", "bits", "radius", "window", "donor named", "reused of possible", "poor donors")


@app.command()
def tune(
    sample: Annotated[Path, typer.Argument(help="JSONL: a request body a line, or {tenant, body}.")],
    config: Config = CONFIG,
    write: Annotated[
        bool, typer.Option(help="Write the best setting beside gateway.yaml; it is in force at once.")
    ] = False,
    reset: Annotated[bool, typer.Option(help="Remove what was written: `retrace.lookup` is in force again.")] = False,
) -> None:
    """Try other settings of the search for donors on a sample of your traffic: what would have been reused?

    Example: `retrace tune requests.jsonl`, and with `--write` once you agree.
    """
    from gateway import tune as trial
    from gateway.config import Source

    out, built = Console(), house(Source(config))
    path = config.parent / built.file.retrace.tuned
    if reset:
        path.unlink(missing_ok=True)
        out.print(f"{path} is gone: what `retrace.lookup` says is in force")
        return
    with explained():
        samples = trial.read(sample)
    rows = _replayed(samples, built.file.retrace.lookup)
    best = trial.chosen(rows)
    out.print(_curve(rows, best), f"{len(samples)} requests", sep="\n")
    if best is None:
        out.print("no setting would have named a donor: the requests have too little in common, or are too short")
    elif write:
        trial.write(path, best, f"{sample.name}, {len(samples)} requests")
        out.print(f"[green]written[/]: {path}; `retrace tune {sample} --reset` takes it back")


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
