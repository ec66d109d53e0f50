"""What is wrong is told with file, line, field and fix, whatever the command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tests.cli.inside import said
from tests.rig import regex, write_config

URL = ["http://127.0.0.1:9"]


def bad(folder: Path) -> Path:
    path = write_config(folder, URL, [])
    (folder / "rules.yaml").write_text(
        "rules:\n  - id: x\n    side: input\n    check: {type: regx, pattern: a}\n    action: blok\n"
    )
    return path


def test_what_is_wrong_is_told_with_file_line_field_and_fix(tmp_path: Path) -> None:
    path = str(bad(tmp_path))
    for words in (("check", path), ("serve", "-c", path), ("try", "x", "-c", path)):
        told = said(*words)
        assert told.exit_code == 1
        assert told.stdout == ""
        assert re.search(rf"{re.escape(str(tmp_path))}/rules.yaml:4 rules\.0\.check", told.stderr)
        assert "did you mean `regex`?" in told.stderr
        assert re.search(r"rules.yaml:5 rules\.0\.action", told.stderr)
        assert re.search(r"rules\.0\.reason\s+this field is missing\s+add it", told.stderr)


def backend(**fields: Any) -> str:
    return yaml.safe_dump({"backends": [{"name": "a", "type": "vllm", "urls": URL, **fields}]})


BROKEN: dict[str, tuple[str, str, str]] = {
    "no file": ("gateway.yaml", "", "no such file"),
    "not yaml": ("rules.yaml", "rules: [\n", "not YAML"),
    "unbounded": ("rules.yaml", yaml.safe_dump({"rules": [regex("a*")]}), "without bound"),
    "not an address": ("gateway.yaml", backend(urls=["host:80"]), "http://"),
    "odd type": ("gateway.yaml", backend(type="vlm"), "vllm"),
}


def test_every_kind_of_fault_has_its_words(tmp_path: Path) -> None:
    for number, (name, text, _) in enumerate(BROKEN.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_config(folder, URL, [])
        if text:
            (folder / name).write_text(text)
        else:
            (folder / name).unlink()
    for number, (name, _, words) in enumerate(BROKEN.values()):
        told = said("check", str(tmp_path / str(number) / "gateway.yaml"))
        assert told.exit_code == 1
        assert words in told.stderr
        assert str(tmp_path / str(number) / name) in told.stderr


def test_what_stands_in_a_complaint_is_no_markup(tmp_path: Path) -> None:
    folder = tmp_path / "[bold]x[/]"
    folder.mkdir(parents=True)
    told = said("check", str(write_config(folder, URL, [regex("a*", id="x")])))
    assert told.exit_code == 1
    assert f"{folder}/rules.yaml:" in told.stderr
