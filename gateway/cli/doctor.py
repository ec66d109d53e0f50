"""`retrace doctor`: what is well and what is not, each with the fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from gateway.cli._language import LANG, Lang, Language
from gateway.cli._shared import CONFIG, Config, errors, explained

if TYPE_CHECKING:
    from gateway.doctor.visit import Wish
    from gateway.symptoms import Facts, Finding

app = typer.Typer()

EXITS = {"green": 0, "yellow": 1, "red": 2}
MARKS = {"green": "●", "yellow": "▲", "red": "✖", "grey": "○"}
COLOURS = {"green": "green", "yellow": "yellow", "red": "red", "grey": "bright_black"}
WORDS = {
    "en": {"green": "ok", "yellow": "look at it", "red": "broken", "grey": "not looked at"},
    "zh": {"green": "正常", "yellow": "需留意", "red": "故障", "grey": "未检查"},
}


@app.command()
def doctor(
    config: Config = CONFIG,
    url: Annotated[str | None, typer.Option(help="The gateway; by default where the configuration listens.")] = None,
    backend: Annotated[
        str | None, typer.Option(help="This one endpoint instead of those in the file, as for `retrace serve`.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="A log that holds answers (audit log, JSONL): hedging words, drift.")
    ] = None,
    feedback: Annotated[Path | None, typer.Option(help="What clients say, a voice a line: complaints.")] = None,
    prometheus: Annotated[str | None, typer.Option(help="A Prometheus: http://127.0.0.1:9090")] = None,
    seconds: Annotated[float, typer.Option(min=0, max=600, help="How long engines are looked at.")] = 2.0,
    scores: Annotated[bool, typer.Option(help="Score answers of the log with the classifier.")] = True,
    lang: Language = LANG,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on stdout instead of text.")] = False,
) -> None:
    """Is all well? Looks at configuration, gateway, backends, plugin, pools, KV, answers, feedback, Redis, disks,
    clocks and alerts. Green, yellow, red; grey is what it could not look at. Nothing is changed.

    Exit code 0: nothing is wrong. 1: something is yellow. 2: something is red, or what was named can't be read.

    Example: `retrace doctor --log audit/w0-00000001.jsonl --prometheus http://127.0.0.1:9090`
    """
    from gateway.config import Source
    from gateway.doctor.visit import Wish
    from gateway.symptoms import examined, worst

    wish = Wish(
        Source(config, None, backend), url.rstrip("/") if url else None, log, feedback, prometheus, seconds, scores
    )
    findings = examined(_visited(wish))
    light = worst(findings)
    if json_:
        typer.echo(json.dumps({"light": light, "findings": [_object(one) for one in findings]}, ensure_ascii=False))
    else:
        _show(Console(), findings, lang)
    raise typer.Exit(EXITS[light])


def _visited(wish: Wish) -> Facts:
    """The facts, with a spinner for whoever waits."""
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from gateway.doctor.visit import visit

    columns = (SpinnerColumn(), TextColumn("{task.description} {task.completed:.0f}"))
    try:
        with explained(), Progress(*columns, console=errors(), transient=True) as progress:
            task = progress.add_task("looking", total=None)
            return visit(wish, lambda: progress.advance(task))
    except typer.Exit as ended:  # 1 is for what is yellow
        raise typer.Exit(EXITS["red"]) from ended


def _object(one: Finding) -> dict[str, object]:
    sign = one.sign
    return {
        "symptom": one.symptom,
        "light": sign.light,
        "about": sign.about,
        "seen": sign.seen._asdict(),
        "fix": sign.fix._asdict(),
    }


def _show(out: Console, findings: list[Finding], lang: Lang) -> None:
    """A line for each sign, and the fix behind it."""
    for one in findings:
        sign = one.sign
        colour, title = COLOURS[sign.light], getattr(one.title, lang)
        head = f"[{colour}]{MARKS[sign.light]} {WORDS[lang][sign.light]}[/] [bold]{escape(title)}[/]"
        out.print(f"{head} {escape(sign.about)}: {escape(getattr(sign.seen, lang))}", soft_wrap=True, highlight=False)
        if fix := getattr(sign.fix, lang):
            out.print(f"    [cyan]→ {escape(fix)}[/]", soft_wrap=True, highlight=False)
