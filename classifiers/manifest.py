"""A model's folder and the manifest in it: what the files must be, what they were made of, how good they are.

Nothing of a folder is used before all of it was compared with the manifest, and a file is given out as the bytes that
were compared. What doesn't fit is a ModelFault that names the file, what is wrong with it, and what to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

FILE: Final = "manifest.json"
MODELS: Final = Path(__file__).parent / "models"
MOST: Final = 64 << 20  # bytes that a file of a model may have


class ModelFault(Exception):
    """A model can't be used. Its text says which file, what is wrong, and the fix."""

    def __init__(self, path: Path, wrong: str) -> None:
        super().__init__(f"{path}: {wrong}. Run `make train-{path.parent.name}`, or restore it from the repository.")
        self.path = path
        self.wrong = wrong


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says beside the files' hashes."""

    name: str
    kind: str
    trained_on: Mapping[str, Any]  # sources, licences, hash of the data, seeds
    metrics: Mapping[str, Any]  # by set


@dataclass(frozen=True, slots=True)
class Model:
    """A folder whose files are what the manifest says."""

    folder: Path
    manifest: Manifest
    files: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """A file that holds text."""
        return self.read(name).decode()

    def read(self, name: str) -> bytes:
        """A file's bytes. ModelFault if the model has none of that name."""
        if name not in self.files:
            raise ModelFault(self.folder / name, f"the manifest of {self.manifest.name} knows no such file")
        return self.files[name]

    def fault(self, name: str, error: Exception) -> ModelFault:
        """For a file that is what it should be, and still can't be loaded."""
        return ModelFault(self.folder / name, f"can't be loaded ({type(error).__name__}: {error})")


def load(folder: Path) -> Model:
    """The folder, verified. ModelFault if anything is missing or not as it should be."""
    told = _read_manifest(folder / FILE)
    try:
        manifest = Manifest(told["name"], told["kind"], told["trained_on"], told["metrics"])
        expected = {str(name): (file["sha256"], file["bytes"]) for name, file in told["files"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelFault(folder / FILE, f"lacks or misstates {error}") from error
    outside = [name for name in expected if Path(name).name != name]
    if outside:
        raise ModelFault(folder / FILE, f"names a file outside its folder ({outside[0]})")
    files = {name: _verified(folder / name, *said) for name, said in expected.items()}
    return Model(folder, manifest, MappingProxyType(files))


def write(folder: Path, manifest: Manifest, names: list[str]) -> None:
    """State what these files of the folder are now."""
    files = {name: _stated((folder / name).read_bytes()) for name in sorted(names)}
    told = {
        "name": manifest.name,
        "kind": manifest.kind,
        "files": files,
        "trained_on": dict(manifest.trained_on),
        "metrics": dict(manifest.metrics),
    }
    (folder / FILE).write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _stated(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(_read(path))
    except ValueError as error:
        raise ModelFault(path, f"is no JSON ({error})") from error
    if not isinstance(told, dict):
        raise ModelFault(path, "is no JSON object")
    return told


def _verified(path: Path, digest: str, size: int) -> bytes:
    content = _read(path)
    if len(content) != size:
        raise ModelFault(path, f"has {len(content)} bytes instead of {size}")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelFault(path, f"has the right size, but its sha256 is not {digest}")
    return content


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MOST:
            raise ModelFault(path, f"has {size} bytes, more than any file of a model may have ({MOST})")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelFault(path, "is missing") from error
    except OSError as error:
        raise ModelFault(path, f"can't be read ({error.strerror})") from error
