"""`retrace schema`: for editors."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import at_once


def test_schema_prints_and_writes_what_editors_need(tmp_path: Path) -> None:
    told, wrong, wrote = at_once(
        ("schema", "rules"), ("schema", "nonsense"), ("schema", "--write", str(tmp_path / "new"))
    )
    assert told.returncode == 0
    assert "properties" in json.loads(told.stdout)
    assert wrong.returncode == 1
    assert "gateway" in wrong.stderr
    assert wrote.returncode == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["gateway.json", "reasons.json", "refine.json", "rules.json", "tiers.json", "watch.json"]
