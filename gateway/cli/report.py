"""`retrace report`: all that the audit log knows of one exchange, as a page that people can read."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gateway.cli import _audit
from gateway.cli._shared import CONFIG, Config, errors

app = typer.Typer()


class Lang(StrEnum):
    """The languages of a page."""

    ZH = "zh"
    EN = "en"


@app.command()
def report(
    exchange: Annotated[str, typer.Argument(help="Its id: `x-retrace-id` of the answer, or the id of its message.")],
    lang: Annotated[Lang, typer.Option(help="The language of the page.")] = Lang.EN,
    pdf: Annotated[bool, typer.Option("--pdf", help="As a PDF, which needs Chromium.")] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write; if absent, ID.html or ID.pdf here.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="The folder of the log, if gateway.yaml does not name it.")
    ] = None,
    config: Config = CONFIG,
) -> None:
    """Make a page of one exchange: what was asked, what was cut and why, which rule in which version, which evidence,
    what was reused and from where, whether the log is whole, how to reproduce it.

    It holds as much of the words as `audit.text` lets the log hold, so only you may read the file.

    Example: `retrace report rt-65e0f1c2a4b3d5e6f7089a1b --lang zh --pdf`
    """
    from gateway.audit import proof, story
    from gateway.audit.page import rendered

    where = _audit.there(folder or _audit.named(config))
    name = story.name_of(exchange)
    with _audit.unreadable(where), _audit.reading() as begin:
        size = proof.size(where)
        told = story.told(where, name, story.Steps(begin("indexing", size), begin("verifying", size)))
    if told is None:
        _fail(f"the log in {where} holds no exchange {name}; is it what `x-retrace-id` told, and is it still there?")
        return
    html = rendered(told, lang.value)
    path = out or Path(f"{name}.{'pdf' if pdf else 'html'}")
    try:
        if pdf:
            _print(html, path)
        else:
            _write(html, path)
    except OSError as fault:
        _fail(f"{path} can't be written: {fault.strerror}; name another file with --out")
    Console().print(str(path), markup=False, highlight=False, soft_wrap=True)
    if told.seal.chain.broken:
        errors().print("the log is broken: `retrace audit verify` says where", style="red")


def _write(html: str, path: Path) -> None:
    """Readable to nobody else."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        os.fchmod(handle, 0o600)
        file.write(html)


def _print(html: str, path: Path) -> None:
    from gateway.audit.browser import BrowserFault, printed

    try:
        printed(html, path)
    except BrowserFault as fault:
        _fail(str(fault))


def _fail(told: str) -> None:
    errors().print(told, style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)
