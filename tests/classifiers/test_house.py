"""What may know what: the run time is light, and nobody here knows the gateway."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import classifiers

HOME = Path(classifiers.__file__ or "").parent
FILES = {".".join(path.relative_to(HOME).with_suffix("").parts): path for path in sorted(HOME.rglob("*.py"))}
RUN_TIME = [name for name in FILES if not name.startswith(("training", "evaluate", "baselines")) and name != "__init__"]
LIGHT = {"numpy", "onnxruntime", "tokenizers", "fasttext"}
# At run time, each in one file.
ONLY = {"onnxruntime": {"session"}, "tokenizers": {"session", "rows"}, "fasttext": {"ngrams"}}
HEAVY = ("torch", "onnx", "gateway", "classifiers.training", "datasketch", "simhash")


def imports(name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("name", FILES)
def test_nobody_knows_the_gateway(name: str) -> None:
    assert [module for module in imports(name) if module.split(".")[0] in ("gateway", "deploy")] == []


@pytest.mark.parametrize("name", RUN_TIME)
def test_the_run_time_is_light(name: str) -> None:
    foreign = {module.split(".")[0] for module in imports(name)} - set(sys.stdlib_module_names) - {"classifiers"}
    assert foreign <= LIGHT
    assert [module for module in imports(name) if module.startswith("classifiers.training")] == []


@pytest.mark.parametrize("library", ONLY)
def test_a_library_is_known_in_one_file(library: str) -> None:
    assert {name for name in RUN_TIME if library in {m.split(".")[0] for m in imports(name)}} == ONLY[library]


def test_nothing_of_training_is_there_when_the_models_are_used() -> None:
    script = f"""
import sys
from classifiers.encoder import Encoder
from classifiers.ngrams import Ngrams
from classifiers.refine import Asked, Assessor
Encoder().code("x"), Ngrams().code("x"), Assessor().risks([Asked("x", "", "x")])
print([name for name in sys.modules if any(name == h or name.startswith(h + ".") for h in {HEAVY!r})])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=HOME.parent)
    assert done.stdout.strip() == "[]"


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_long_and_most_are_short() -> None:
    assert {name: lines(path) for name, path in FILES.items() if lines(path) > 300} == {}
    assert statistics.median(map(lines, FILES.values())) <= 120


def test_no_function_is_long_and_every_file_says_what_it_promises() -> None:
    long: list[str] = []
    silent: list[str] = []
    for name, path in FILES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        silent += [] if ast.get_docstring(tree) else [name]
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        long += [f"{name}.{node.name}" for node in functions if (node.end_lineno or 0) - node.lineno >= 40]
    assert (long, silent) == ([], [])


def test_the_shipped_models_of_the_context_hash_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (HOME / "models" / "context").iterdir()}
    assert sum(sizes.values()) <= 9 << 20
    assert sizes["ngrams.ftz"] <= 2 << 20


def test_the_shipped_classifier_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (HOME / "models" / "refine").iterdir()}
    assert sizes["reader.onnx"] <= 28_000_000
    assert sum(sizes.values()) <= 32_000_000
