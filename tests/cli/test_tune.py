"""`retrace tune`: the curve, and what is written of it."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.commands import retrace
from tests.rig import write_config

URL = ["http://127.0.0.1:9"]


def test_tune_shows_the_curve_writes_the_best_and_takes_it_back(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, URL, []))
    text = " ".join(f"Clause {n} of {n * n} is settled in {n * 7 % 31} days." for n in range(90))
    sample, tuned = tmp_path / "sample.jsonl", tmp_path / "tuned.yaml"
    sample.write_text("".join(json.dumps({"prompt": f"{n} {text}"}) + "\n" for n in range(5)))
    shown = retrace("tune", str(sample), "-c", config)
    assert (shown.returncode, "->" in shown.stdout, tuned.exists()) == (0, True, False), shown.stderr
    assert retrace("tune", str(sample), "-c", config, "--write").returncode == 0
    assert yaml.safe_load(tuned.read_text())["sample"] == "sample.jsonl, 5 requests"
    assert retrace("check", config).returncode == 0
    assert retrace("tune", str(sample), "-c", config, "--reset").returncode == 0
    assert not tuned.exists()
    sample.write_text("nonsense\n")
    wrong = retrace("tune", str(sample), "-c", config)
    assert (wrong.returncode, "sample.jsonl:1" in wrong.stderr) == (1, True)
