"""`retrace`: serve, try, check, tune, schema, key."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.progress import Progress
from rich.table import Table

from classifiers.manifest import ModelFault
from gateway import keys, tune, workers
from gateway.config import House, Source, build, schemas
from gateway.errors import ConfigFault
from gateway.rules import Place
from gateway.similar import Similar
from gateway.terms import Lookup
from gateway.types import Side, Verdict
from gateway.window import Window

SHIPPED = Path(__file__).parent.parent / "rules" / "gateway.yaml"
CONFIG = here if (here := Path("rules/gateway.yaml")).exists() else SHIPPED

app = typer.Typer(
    name="retrace",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    help="A guarded drop-in proxy in front of LLM endpoints.\n\nStart with `retrace check`, then `retrace serve`, and "
    "point your SDK's `base_url` at http://127.0.0.1:8080/v1.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Config = Annotated[Path, typer.Option("--config", "-c", help="The main YAML file.", show_default=True)]


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
    err = Console(stderr=True)
    _log(err, verbose)
    source = Source(config, host, backend)
    house = _house(source, err)
    if workers_ > 1 and house.file.retrace.store.type == "memory":
        err.print("[yellow]each worker remembers captures by itself; `retrace.store: {type: redis, ...}` is shared[/]")
    name, chosen = house.file.listen.host, house.file.listen.port if port is None else port
    try:
        workers.serve(source, name, chosen, workers_, lambda at: _welcome(err, house, name, at))
    except OSError as fault:
        err.print(f"[red]can't listen on {name}:{chosen}[/]: {fault.strerror}; choose another with --port")
        raise typer.Exit(1) from fault


def _welcome(err: Console, house: House, host: str, port: int) -> None:
    guard = "" if house.keys else " [yellow](no API keys: this machine only)[/]"
    err.print(f"[green]retrace[/] serves http://{host}:{port}/v1 with {len(house.rules)} rules{guard}", soft_wrap=True)


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


def _house(source: Source, err: Console) -> House:
    try:
        return build(source)
    except ConfigFault as fault:
        _complain(fault, err)
        raise typer.Exit(1) from fault


def _complain(fault: ConfigFault, err: Console) -> None:
    for complaint in fault.complaints:
        where = f"{complaint.file}:{complaint.line}" if complaint.line else str(complaint.file)
        err.print(f"[bold]{where}[/] [cyan]{complaint.field}[/]", soft_wrap=True, highlight=False)
        err.print(f"  [red]{complaint.problem}[/]", soft_wrap=True, highlight=False)
        if complaint.fix:
            err.print(f"  [green]{complaint.fix}[/]", soft_wrap=True, highlight=False)


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
    out = Console()
    house = _house(Source(config), Console(stderr=True))
    if text == "-":
        text = sys.stdin.read()
    speaker = "assistant" if side is Side.OUTPUT and role == "user" else role
    window = Window(house.judge.lanes(Place(side, surface, model, tenant, tier, speaker)))
    window.feed(text, final=True)
    findings = window.taken()
    table = Table("verdict", "reason", "rule", "where", "text", box=None)
    for finding in findings:
        table.add_row(
            finding.action,
            f"{finding.reason} {house.reasons[finding.reason].name}",
            finding.rule,
            f"{finding.start}-{finding.end}",
            text[finding.start : finding.end],
        )
    if findings:
        out.print(table)
    verdict = max((finding.verdict for finding in findings), default=Verdict.ALLOW)
    out.print(f"[bold]{verdict.name}[/]")
    if verdict is Verdict.MASK:
        out.print(window.render(0, text), markup=False)
    raise typer.Exit(2 if verdict is Verdict.BLOCK else 0)


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The folder of gateway.yaml, or that file.")] = CONFIG.parent,
) -> None:
    """Read, check and try all YAML files, without serving. Exit code 1, file, line, field and fix if one is wrong."""
    path = folder / "gateway.yaml" if folder.is_dir() else folder
    house = _house(Source(path), Console(stderr=True))
    out = Console()
    table = Table("side", "rule", "check", "action", "reason", box=None)
    for rule in sorted(house.rules.values(), key=lambda rule: (rule.side, rule.id)):
        table.add_row(
            rule.side,
            rule.id,
            rule.check.type,
            rule.action,
            f"{rule.reason} {house.reasons[rule.reason].name}",
        )
    out.print(table)
    out.print(f"[green]all right[/]: {len(house.rules)} rules, {len(house.watched)} files, revision {house.revision}")


@app.command("tune")
def tune_(
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
    out, err = Console(), Console(stderr=True)
    house = _house(Source(config), err)
    path = config.parent / house.file.retrace.tuned
    if reset:
        path.unlink(missing_ok=True)
        out.print(f"{path} is gone: what `retrace.lookup` says is in force")
        return
    try:
        samples = tune.read(sample)
    except ConfigFault as fault:
        _complain(fault, err)
        raise typer.Exit(1) from fault
    rows = _replayed(samples, house.file.retrace.lookup, err)
    best = tune.chosen(rows)
    out.print(_curve(rows, best), f"{len(samples)} requests", sep="\n")
    if best is None:
        out.print("no setting would have named a donor: the requests have too little in common, or are too short")
    elif write:
        tune.write(path, best, f"{sample.name}, {len(samples)} requests")
        out.print(f"[green]written[/]: {path}; `retrace tune {sample} --reset` takes it back")


def _replayed(samples: list[tune.Sample], now: Lookup, err: Console) -> list[tune.Row]:
    """All settings on a sample, with a progress bar; by codes only if their models are in order."""
    chunks, codes = tune.settings(now), tune.codes_settings(now)
    with Progress(console=err, transient=True) as progress:
        task = progress.add_task("replaying", total=(len(chunks) + len(codes)) * len(samples))
        rows = list(tune.curve(samples, chunks, lambda: progress.advance(task)))
        try:
            rows += tune.codes_curve(samples, codes, Similar().codes, lambda: progress.advance(task))
        except ModelFault as fault:
            progress.print(f"[yellow]without similarity codes[/]: {fault}")
    return rows


def _curve(rows: list[tune.Row], best: tune.Row | None) -> Table:
    heads = (
        "",
        "found by",
        "chunk_bits",
        "bits",
        "radius",
        "window",
        "donor named",
        "reused of possible",
        "poor donors",
    )
    table = Table(*heads, box=None)
    for row in rows:
        lookup, mark = row.lookup, "->" if row is best else ""
        told = [f"{part:.3f}" for part in (row.named, row.reused, row.poor)]
        if row.by == "chunks":
            table.add_row(mark, row.by, str(lookup.chunk_bits), "", "", "", *told)
        else:
            table.add_row(mark, row.by, "", str(lookup.bits), str(lookup.radius), str(lookup.window), *told)
    return table


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="gateway, rules, reasons or tiers.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write all of them into this folder, one file each.")] = None,
) -> None:
    """Print the JSON Schema of a YAML file, with which editors complete and check it.

    In the YAML file's first line: `# yaml-language-server: $schema=schema/rules.json`
    """
    known = schemas()
    if write:
        write.mkdir(parents=True, exist_ok=True)
        for kind, value in known.items():
            (write / f"{kind}.json").write_text(
                json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        return
    if name not in known:
        Console(stderr=True).print(f"name one of: {', '.join(known)}")
        raise typer.Exit(1)
    sys.stdout.write(json.dumps(known[name], indent=2, ensure_ascii=False) + "\n")


@app.command()
def key() -> None:
    """Make an API key. It is shown once; only its hash goes into tiers.yaml."""
    made = keys.new_key()
    out = Console()
    out.print(f"key   {made}   (give it to the client; it can't be shown again)", highlight=False)
    out.print(f"hash  {keys.hashed(made)}", highlight=False)
    out.print(
        "In rules/tiers.yaml:",
        f"  keys:\n    - hash: {keys.hashed(made)}\n      tenant: my-team",
        sep="\n",
        highlight=False,
    )


def main() -> None:
    """The entry point."""
    app()


if __name__ == "__main__":
    main()
