"""`retrace assess`: whether ReTrace will pay, told from a log of your traffic."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway.cli._language import LANG, Lang, Language
from gateway.cli._shared import errors, explained

if TYPE_CHECKING:
    from gateway.assess.likeness import Saving
    from gateway.assess.log import Log
    from gateway.assess.memory import Shape
    from gateway.assess.tally import Figures, Tally
    from gateway.assess.verdict import Capture, Verdict

app = typer.Typer()

EXITS = {"yes": 0, "probably": 3, "no": 4}


@app.command()
def assess(
    log: Annotated[Path, typer.Argument(help="An access log or a JSONL sample, plain or gzip.")],
    format_: Annotated[
        str, typer.Option("--format", help="retrace, litellm, bodies or nginx; guessed if absent.")
    ] = "",
    lang: Language = LANG,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on stdout instead of text.")] = False,
    qps: Annotated[float | None, typer.Option(min=0, help="Requests a second, instead of the log's own.")] = None,
    kv_bytes_per_token: Annotated[
        float | None, typer.Option(min=1, help="KV of a token in your model; by default that of an 8B model.")
    ] = None,
    model_config: Annotated[Path | None, typer.Option(help="Your model's config.json, which tells the same.")] = None,
    min_tokens: Annotated[int, typer.Option(min=1, help="Shorter shared passages count for nothing.")] = 256,
    ttl: Annotated[float, typer.Option(min=1, help="Seconds that captures live.")] = 3600,
    short: Annotated[float, typer.Option(help="Median tokens below which it is hardly worth it.")] = 64,
    long: Annotated[float, typer.Option(help="Median tokens from which it comes first.")] = 128,
    prefill_rate: Annotated[
        float | None, typer.Option(min=1, help="Prompt tokens a second that your engine reads; tells hours saved.")
    ] = None,
) -> None:
    """Will ReTrace pay for this traffic? Reads a log, and says yes, probably or no, why, and what to set.

    Exit code 0: yes. 3: probably. 4: not worth it. 1: the log can't be read. 2: wrong words on the command line.

    Example: `retrace assess access.jsonl.gz`, of rotated logs `zcat -f access.log* | retrace assess /dev/stdin`
    """
    from gateway.assess.verdict import Bars, judge

    with explained():
        shape = _shape(model_config, kv_bytes_per_token)
        read, tally = _read(log, format_)
    figures = tally.figures()
    savings = _savings(tally, figures, min_tokens, ttl)
    verdict = judge(figures, savings, shape.per_token, Bars(short, long), qps)
    told = Told(read, figures, savings, verdict, shape, prefill_rate)
    if json_:
        typer.echo(json.dumps(told.object(), ensure_ascii=False))
    else:
        told.show(Console(), lang)
    raise typer.Exit(EXITS[verdict.answer])


def _shape(config: Path | None, per_token: float | None) -> Shape:
    from gateway.assess import memory

    if per_token is not None:
        return memory.Shape("--kv-bytes-per-token", 1, 1, 1, 1, round(per_token))
    return memory.USUAL if config is None else memory.shape(config)


def _read(path: Path, name: str) -> tuple[Log, Tally]:
    """All lines of a log, with a progress bar."""
    from rich.progress import Progress

    from gateway.assess import log
    from gateway.assess.tally import Tally

    tally, source = Tally(), log.opened(path, name)
    with closing(source), Progress(console=errors(), transient=True) as progress:
        task = progress.add_task("reading", total=path.stat().st_size or None)
        for number, line in enumerate(source):
            tally.add(line)
            if number % 1000 == 0:
                progress.update(task, completed=source.place)
    return source, tally


def _savings(tally: Tally, figures: Figures, min_tokens: int, ttl: float) -> dict[Capture, Saving]:
    """By what is captured: rejected drafts if the log tells of any, and all."""
    from rich.progress import Progress

    from gateway.assess.likeness import Keeping, replay, saving
    from gateway.rules import Inject

    policy = Inject(mode="splice", sensitive="allow", min_tokens=min_tokens)
    kept: dict[Capture, Any] = {"all": lambda _line: True}
    if figures.rejected:
        kept = {"rejected": lambda line: bool(line.rejected), **kept}
    lines = list(tally.recent)
    times = [line.at for line in lines if line.at is not None]
    span = max(times) - min(times) if times else 0.0
    found: dict[Capture, Saving] = {}
    with Progress(console=errors(), transient=True) as progress:
        task = progress.add_task("replaying", total=len(kept) * len(lines))
        for capture, chosen in kept.items() if lines else ():
            keeping = Keeping(chosen, policy, ttl, figures.bytes_per_token)
            gains = replay(lines, keeping, lambda: progress.advance(task))
            found[capture] = saving(gains, sum(map(chosen, lines)), span)
    return found


class Told:
    """What was found, for people or for programs."""

    def __init__(
        self,
        log: Log,
        figures: Figures,
        savings: dict[Capture, Saving],
        verdict: Verdict,
        shape: Shape,
        prefill_rate: float | None,
    ) -> None:
        self._log, self._figures, self._savings = log, figures, savings
        self._verdict, self._shape = verdict, shape
        hourly = verdict.tokens_per_hour
        self._seconds = hourly / prefill_rate if hourly is not None and prefill_rate else None

    def object(self) -> dict[str, Any]:
        """All of it as plain values."""
        verdict, log = self._verdict, self._log
        return {
            "answer": verdict.answer,
            "why": list(verdict.why),
            "format": log.format.name,
            "lines": log.read,
            "bad_lines": log.bad,
            "bad": [bad._asdict() for bad in log.named],
            "figures": self._figures._asdict(),
            "savings": {capture: one._asdict() for capture, one in self._savings.items()},
            "plan": verdict.plan._asdict() if verdict.plan else None,
            "memory": verdict.memory._asdict() if verdict.memory else None,
            "kv_bytes_per_token": self._shape.per_token,
            "kv_from": self._shape.name,
            "saved_tokens_per_hour": verdict.tokens_per_hour,
            "saved_prefill_seconds_per_hour": self._seconds,
        }

    def show(self, out: Console, lang: Lang) -> None:
        """A table, the verdict, why, what to set."""
        from gateway.assess import wording

        verdict = self._verdict
        table = Table(box=None, show_header=False)
        rows = [*wording.rows(self._log, self._figures, self._savings, lang)]
        if verdict.memory:
            rows += wording.memory_rows(verdict.memory, self._shape.name, self._shape.per_token, lang)
        if verdict.tokens_per_hour is not None:
            rows.append(wording.hourly(verdict.tokens_per_hour, self._seconds, lang))
        for row in rows:
            table.add_row(*map(escape, row))
        out.print(table)
        for bad in self._log.named:
            errors().print(f"[yellow]{escape(str(self._log.path))}:{bad.number}[/]: {escape(bad.why)}", soft_wrap=True)
        colour = {"yes": "green", "probably": "yellow", "no": "red"}[verdict.answer]
        out.print(f"\n[{colour}]{wording.ANSWERS[verdict.answer][lang]}[/]", soft_wrap=True)
        for reason in wording.reasons(verdict, lang):
            out.print(f"- {escape(reason)}", soft_wrap=True, highlight=False)
        for line in wording.settings(verdict.plan, lang) if verdict.plan else ():
            out.print(f"  [cyan]{escape(line)}[/]", soft_wrap=True, highlight=False)
