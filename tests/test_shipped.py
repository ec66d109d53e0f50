"""The rules that come with the gateway are whole where it is installed, and a copy of them is somebody's own."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from gateway import shipped
from gateway.config import Source, build

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("package", ["gateway", "rules"])
def test_all_that_is_read_goes_with_the_package(package: str, tmp_path: Path) -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert f"{package}*" in told["packages"]["find"]["include"]
    here = tmp_path / package
    shutil.copytree(ROOT / package, here, ignore=shutil.ignore_patterns("*.py", *shipped._WRITTEN))
    packed = {path for pattern in told["package-data"][package] for path in here.glob(pattern)}
    assert packed == {path for path in here.rglob("*") if path.is_file()}
    assert packed


@pytest.mark.long
def test_a_copy_is_served_as_the_original_is(tmp_path: Path) -> None:
    shipped.copy(tmp_path / "deep" / "rules")
    own = build(Source(tmp_path / "deep" / "rules" / "gateway.yaml"))
    assert own.rules.keys() == build(Source(shipped.CONFIG)).rules.keys()
    assert (tmp_path / "deep" / "rules" / "packs" / "finance" / "finance.yaml").is_file()


def test_what_a_gateway_has_written_is_nobody_s_to_begin_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = tmp_path / "served"
    shutil.copytree(shipped.RULES, served)
    for name in ("policies.yaml", "policies.yaml.lock", "tuned.yaml"):
        (served / name).write_text("x")
    monkeypatch.setattr(shipped, "RULES", served)
    shipped.copy(tmp_path / "own")
    assert {path.name for path in (tmp_path / "own").iterdir()} == {
        path.name for path in served.iterdir() if not path.name.startswith(("policies", "tuned"))
    }


def test_nothing_that_lies_there_is_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    with pytest.raises(FileExistsError) as told:
        shipped.copy(tmp_path)
    assert told.value.filename == str(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
