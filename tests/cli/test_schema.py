"""`retrace schema`: for editors."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.inside import said


def test_schema_prints_and_writes_what_editors_need(tmp_path: Path) -> None:
    told, wrong = said("schema", "rules"), said("schema", "nonsense")
    assert told.exit_code == 0
    assert "properties" in json.loads(told.stdout)
    assert wrong.exit_code == 1
    assert "gateway" in wrong.stderr
    assert said("schema", "--write", str(tmp_path / "new")).exit_code == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["gateway.json", "reasons.json", "refine.json", "rules.json", "tiers.json", "watch.json"]
