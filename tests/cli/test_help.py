"""`retrace` by itself: it helps, whatever one types, and at once."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

from gateway import cli
from tests.cli.inside import said
from tests.commands import ROOT, retrace

COMMANDS = (
    "assess",
    "audit",
    "check",
    "doctor",
    "init",
    "key",
    "policy",
    "report",
    "review",
    "schema",
    "serve",
    "try",
    "tune",
)


def test_help_lists_the_commands_and_what_they_do() -> None:
    for words in ((), ("-h",)):
        told = retrace(*words)
        text = told.stdout + told.stderr
        assert told.returncode == (0 if words else 2)
        for command in COMMANDS:
            assert command in text
        assert "base_url" in text
        assert "Usage: retrace " in text


def test_each_command_explains_itself() -> None:
    for command in COMMANDS:
        told = said(command, "--help")
        assert told.exit_code == 0
        assert f"Usage: retrace {command}" in told.stdout
        assert len(told.stdout) > 200
        assert told.stderr == ""


def test_a_wrong_word_is_an_error_with_a_hint() -> None:
    for words in (("nonsense",), ("try",), ("serve", "--workers", "0")):
        told = said(*words)
        assert told.exit_code == 2
        assert "Usage" in told.stderr or "help" in told.stderr


def test_a_file_of_the_room_is_a_command_and_nothing_else_is() -> None:
    rooms = [file.name for file in pkgutil.iter_modules(cli.__path__) if not file.name.startswith("_")]
    apps = [importlib.import_module(f"gateway.cli.{room}").app for room in rooms]
    assert [group.typer_instance for group in cli.app.registered_groups] == apps
    assert sorted(room.rstrip("_") for room in rooms) == sorted(COMMANDS)


def test_help_waits_for_nothing_that_takes_long_to_import() -> None:
    script = (
        "import sys\nfrom gateway.cli import main\nsys.argv = ['retrace', *sys.argv[1:]]\n"
        "try:\n    main()\nfinally:\n    slow = {'aiohttp', 'numpy', 're2', 'redis', 'yaml', 'uvloop'}\n"
        "    assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    for words in (("--help",), ("review", "take", "--help")):
        done = subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
