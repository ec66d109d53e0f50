"""Commands without a process of their own: many of them cost little."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from gateway.cli import app

PLAIN = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", "RETRACE_REVIEWER": None}


def said(*words: str, told: str = "", **env: str) -> Result:
    """What a command says, and its exit code; a fault that it doesn't tell of is the test's."""
    result = CliRunner().invoke(app, words, input=told, env={**PLAIN, **env}, prog_name="retrace")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
