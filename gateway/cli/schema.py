"""`retrace schema`: what an editor must know to complete and check the YAML files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli._shared import errors

app = typer.Typer()


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="gateway, rules, reasons, tiers or refine.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write all of them into this folder, one file each.")] = None,
) -> None:
    """Print the JSON Schema of a YAML file, with which editors complete and check it.

    In the YAML file's first line: `# yaml-language-server: $schema=schema/rules.json`
    """
    from gateway.config import schemas

    known = schemas()
    if write:
        write.mkdir(parents=True, exist_ok=True)
        for kind, value in known.items():
            (write / f"{kind}.json").write_text(_text(value), encoding="utf-8")
        return
    if name not in known:
        errors().print(f"name one of: {', '.join(known)}")
        raise typer.Exit(1)
    sys.stdout.write(_text(known[name]))


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
