"""`retrace`: what a person does with the gateway, one file a command or a group of commands.

A new one is one file in this room and nothing else: it has an `app`, and is found by being there. An app without a
name gives its commands to `retrace` itself; one with a name is a group, as in `retrace review list`. Files that begin
with an underscore are the room's own furniture. What takes long to import is imported inside the command that needs
it, since all of these files are read even for `retrace --help`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

import typer


def _whole() -> typer.Typer:
    whole = typer.Typer(
        name="retrace",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        help="A guarded drop-in proxy in front of LLM endpoints.\n\nStart with `retrace check`, then `retrace serve`, "
        "and point your SDK's `base_url` at http://127.0.0.1:8080/v1.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in sorted(file.name for file in pkgutil.iter_modules(__path__) if not file.name.startswith("_")):
        whole.add_typer(import_module(f"{__name__}.{name}").app)
    return whole


app = _whole()


def main() -> None:
    """The entry point."""
    app(prog_name="retrace")
