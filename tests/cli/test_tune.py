"""`retrace tune`: the curve, and what is written of it."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from gateway import tuned
from gateway.overlay import Noted, Overlay
from gateway.terms import Lookup
from tests.cli.inside import said
from tests.rig import write_config

URL = ["http://127.0.0.1:9"]


def test_tune_shows_the_curve_writes_the_best_and_takes_it_back(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, URL, []))
    text = " ".join(f"Clause {n} of {n * n} is settled in {n * 7 % 31} days." for n in range(90))
    sample, tuned = tmp_path / "sample.jsonl", tmp_path / "tuned.yaml"
    sample.write_text("".join(json.dumps({"prompt": f"{n} {text}"}) + "\n" for n in range(5)))
    shown = said("tune", str(sample), "-c", config)
    assert (shown.exit_code, "->" in shown.stdout, tuned.exists()) == (0, True, False), shown.stderr
    assert said("tune", str(sample), "-c", config, "--write").exit_code == 0
    assert yaml.safe_load(tuned.read_text())["sample"] == "sample.jsonl, 5 requests"
    assert said("check", config).exit_code == 0
    assert said("tune", str(sample), "-c", config, "--reset").exit_code == 0
    assert not tuned.exists()
    sample.write_text("nonsense\n")
    wrong = said("tune", str(sample), "-c", config)
    assert (wrong.exit_code, "sample.jsonl:1" in wrong.stderr) == (1, True)


def test_without_a_sample_it_says_what_to_write(tmp_path: Path) -> None:
    told = said("tune", "-c", str(write_config(tmp_path, URL, [])))
    assert (told.exit_code, "--show" in told.stderr) == (2, True)


def test_what_the_controller_holds_is_shown_and_taken_back_without_a_sample(tmp_path: Path) -> None:
    config, file = str(write_config(tmp_path, URL, [], watch="watch.yaml")), tmp_path / "tuned.yaml"
    (tmp_path / "watch.yaml").write_text("control: {mode: act}\n")
    tuned.write_lookup(file, Lookup(chunk_bits=9), "s.jsonl")
    tuned.write_hand(
        file, Overlay(fallback=1764518887.0, acts=(Noted(at=1764518887.0, what="fallback", why="CS 0.5"),))
    )
    shown = said("tune", "--show", "-c", config)
    assert shown.exit_code == 0, shown.stderr
    assert "chunk_bits 9" in shown.stdout
    assert "CS 0.5" in shown.stdout
    reset = said("tune", "--reset", "--show", "-c", config)
    assert (reset.exit_code, file.exists()) == (0, False)
    assert "it holds nothing in force" in reset.stdout


def test_a_broken_file_is_told_with_its_line_and_can_be_taken_back(tmp_path: Path) -> None:
    config, file = str(write_config(tmp_path, URL, [])), tmp_path / "tuned.yaml"
    file.write_text("hand:\n  bits: many\n")
    shown = said("tune", "--show", "-c", config)
    assert (shown.exit_code, "tuned.yaml:2" in shown.stderr) == (1, True)
    assert said("tune", "--reset", "-c", config).exit_code == 0
    assert not file.exists()
