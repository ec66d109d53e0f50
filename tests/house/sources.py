"""The house's source, read: its modules, what each imports, and every node of its syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / "gateway"
# Foreign libraries, and the only files that may know them.
ONLY = {
    "aiohttp.web": {"server"},
    "aiohttp": {"doctor.http", "server", "backends._http", "probes.external"},
    "re2": {"checks._matcher", "tiers._patterns", "anchors.entity"},
    "ahocorasick_rs": {"checks.words"},
    "stdnum": {"checks.pii"},
    "jsonschema": {"checks.schema"},
    "prometheus_client": {"vocabulary", "metrics", "workers"},
    "yaml": {"yamlfile", "backends.scripted"},
    "watchfiles": {"reload"},
    "redis": {"stores._link"},
    "opentelemetry": {"tracing._otlp"},
    "requests": {"tracing._otlp"},
    "numpy": {
        "chunks",
        "kv.layout",
        "stores._keys",
        "stores._table",
        "stores._codes",
        "stores.memory",
        "watch.bounds",
        "watch._compare",
    },
    "classifiers": {"doctor.visit", "similar", "retrace", "cli", "refine.refiner", "tiers._model"},
    "uvloop": {"workers"},
    "rapidfuzz": {"watch.alike"},
    "vllm": {"kv.airlock"},
    "torch": {"kv.airlock", "kv.ban", "kv.capture", "kv.inject", "kv.layout", "kv.rope"},
    "starlette": {"kv.api"},
    "zstandard": {"kv._disk"},
    "sqlite3": {"kv._database", "kv._index", "kv._intake", "kv.api", "kv.pool", "audit._index", "audit.search", "cli"},
    "jinja2": {"audit.page"},
    "typer": {"cli"},
    "rich": {"cli"},
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(HOME).with_suffix("").parts)


SOURCES = {name_of(path): path for path in sorted(HOME.rglob("*.py"))}
MODULES = sorted(name.removesuffix(".__init__") for name in SOURCES if name != "__init__")


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(SOURCES[name].read_text(encoding="utf-8"))


@cache
def imports(name: str) -> list[str]:
    """Every module that a file names, also inside functions; `from gateway import x` names gateway.x."""
    return list(_imports(name))


def _imports(name: str) -> Iterator[str]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports relatively"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                known = inner.removeprefix("gateway.") in MODULES or inner in ONLY
                yield inner if known else module


def ours(name: str) -> Iterator[str]:
    for module in imports(name):
        if module.startswith("gateway."):
            yield module.removeprefix("gateway.")


def walk(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[str, ast.AST]]:
    """Every node of a kind in the whole house, and the file it stands in."""
    for name in SOURCES:
        for node in ast.walk(tree(name)):
            if isinstance(node, kind):
                yield name, node


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
