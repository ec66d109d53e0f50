"""A model that is not what its manifest says is never used, and the fault says what to do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from classifiers import manifest
from classifiers.manifest import FILE, Manifest, ModelFault

SAID = Manifest("context", "context-hash", {"seed": 1}, {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of two files."""
    home = tmp_path / "context"
    home.mkdir()
    (home / "a.bin").write_bytes(bytes(range(200)))
    (home / "b.txt").write_text("退款", encoding="utf-8")
    manifest.write(home, SAID, ["a.bin", "b.txt"])
    return home


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


DAMAGE: dict[str, Callable[[Path], None]] = {
    r"its sha256 is not [0-9a-f]{64}": flipped,
    r"has 199 bytes instead of 200": cut_short,
    r"is missing": Path.unlink,
}


def test_what_was_written_can_be_read(folder: Path) -> None:
    model = manifest.load(folder)
    assert model.manifest == SAID
    assert (model.read("a.bin"), model.text("b.txt")) == (bytes(range(200)), "退款")


@pytest.mark.parametrize("wrong", DAMAGE)
def test_damage_is_told_with_the_file_and_the_fix(folder: Path, wrong: str) -> None:
    DAMAGE[wrong](folder / "a.bin")
    with pytest.raises(ModelFault, match=f"{re.escape(str(folder / 'a.bin'))}: .*{wrong}") as told:
        manifest.load(folder)
    assert "Run `make train-context`, or restore it from the repository." in str(told.value)


def test_a_folder_without_manifest_is_no_model(folder: Path) -> None:
    (folder / FILE).unlink()
    with pytest.raises(ModelFault, match=rf"{FILE}: is missing"):
        manifest.load(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": "x"}', '{"files": 1}', "\x00"])
def test_a_manifest_that_is_none_is_a_fault_too(folder: Path, content: str) -> None:
    (folder / FILE).write_text(content, encoding="utf-8")
    with pytest.raises(ModelFault, match=FILE):
        manifest.load(folder)


@pytest.mark.parametrize("said", [None, {}, {"sha256": 1, "bytes": 2}, {"sha256": "ab"}])
def test_a_file_that_is_wrongly_described_is_a_fault(folder: Path, said: object) -> None:
    told = json.loads((folder / FILE).read_text(encoding="utf-8"))
    told["files"]["a.bin"] = said
    (folder / FILE).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelFault):
        manifest.load(folder)


def test_a_file_that_the_manifest_does_not_know_is_not_given_out(folder: Path) -> None:
    (folder / "c.bin").write_bytes(b"x")
    with pytest.raises(ModelFault, match=r"c\.bin: the manifest of context knows no such file"):
        manifest.load(folder).read("c.bin")


def test_a_file_changed_after_it_was_verified_is_given_out_as_it_was(folder: Path) -> None:
    model = manifest.load(folder)
    flipped(folder / "a.bin")
    assert model.read("a.bin") == bytes(range(200))


def test_no_name_leads_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "secret").write_text("x")
    told = json.loads((folder / FILE).read_text(encoding="utf-8"))
    told["files"]["../secret"] = told["files"].pop("a.bin")
    (folder / FILE).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelFault, match="names a file outside"):
        manifest.load(folder)


@pytest.mark.parametrize("model", sorted(path.name for path in manifest.MODELS.iterdir() if path.is_dir()))
def test_every_model_that_is_shipped_is_whole_and_says_what_it_is(model: str) -> None:
    home = manifest.MODELS / model
    shipped = manifest.load(home)
    assert shipped.manifest.name == model
    assert {path.name for path in home.iterdir()} == {*shipped.files, FILE, "README.md"}
    assert shipped.manifest.trained_on["sources"]
    assert shipped.manifest.metrics


def test_a_copy_of_a_model_is_a_model(tmp_path: Path) -> None:
    shutil.copytree(manifest.MODELS / "context", tmp_path / "context")
    assert manifest.load(tmp_path / "context").manifest == manifest.load(manifest.MODELS / "context").manifest
