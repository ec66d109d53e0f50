"""What gateway.yaml says of the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.audit.settings import Auditing
from gateway.config import Source, build
from gateway.errors import ConfigFault
from tests.rig import write_config


def built(folder: Path, **fields: Any) -> Auditing | None:
    return build(Source(write_config(folder, ["http://127.0.0.1:1"], [], **fields))).file.audit


def test_there_is_none_unless_the_file_says_so(tmp_path: Path) -> None:
    assert built(tmp_path) is None


def test_an_empty_one_has_sensible_ways(tmp_path: Path) -> None:
    spec = built(tmp_path, audit={})
    assert spec is not None
    assert (spec.text, spec.fsync, spec.folder) == ("redacted", "batch", Path("audit"))
    assert spec.bounds == (64 << 20, 16, "batch", 0.1)


def test_a_keyed_hash_needs_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETRACE_AUDIT_KEY", raising=False)
    with pytest.raises(ConfigFault) as told:
        built(tmp_path, audit={"text": "hash"})
    (complaint,) = told.value.complaints
    assert (complaint.file.name, complaint.field) == ("gateway.yaml", "audit")
    assert complaint.line
    assert "export RETRACE_AUDIT_KEY" in complaint.problem + complaint.fix
    monkeypatch.setenv("RETRACE_AUDIT_KEY", "a secret")
    spec = built(tmp_path, audit={"text": "hash"})
    assert spec is not None
    assert spec.key == b"a secret"


@pytest.mark.parametrize("wrong", [{"text": "all"}, {"keep": 0}, {"rotate_mb": 0}, {"fsync": "never"}, {"where": "x"}])
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigFault) as told:
        built(tmp_path, audit=wrong)
    (complaint,) = told.value.complaints
    assert complaint.line
    assert complaint.field.startswith("audit")
