"""How the house is built, read from its source: who may know whom, and that each part has its tests."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

import pytest

from tests.house.sources import MODULES, ONLY, ROOT, SOURCES, imports, ours, tree

ROOMS = ("checks", "probes", "surfaces", "backends", "stores", "gates", "tiers", "anchors", "symptoms")
# Each module may know those of the levels before its own, and no others. A room is one level: within it, every file
# may know the room itself (its `__init__`) and its furniture (`_...`).
LEVELS: Sequence[frozenset[str]] = (
    frozenset({"types", "errors", "plug", "leaves", "headers", "chunks", "breaker", "vocabulary", "files", "shipped"}),
    frozenset({"watch.pairs", "watch.bounds", "watch.alike", "traceparent", "addresses", "globs"}),
    frozenset({"marks", "tracing.file", "sample"}),
    frozenset({"tracing.intent"}),
    frozenset(ROOMS),
    frozenset({"rules", "keys", "yamlfile", "metrics", "fleet", "context", "similar", "reports", "pulse"}),
    frozenset({"doctor.http", "doctor.servers", "doctor.folders", "doctor.feedback"}),
    frozenset({"watch.series", "watch.prints"}),
    frozenset({"refine.caution", "overlay"}),
    frozenset({"donors", "terms", "wording", "refine.wording", "refine.docket", "refine.memo", "refine.backlog"}),
    frozenset({"assess.log", "assess.memory", "assess.tally", "assess.likeness"}),
    frozenset({"assess.verdict", "doctor.answers"}),
    frozenset({"assess.wording"}),
    frozenset({"watch.control", "watch.acts", "watch.trying", "watch.versions", "tuned"}),
    frozenset({"watch.levers", "watch.trials", "watch.register"}),
    frozenset({"watch.controller", "watch.evidence"}),
    frozenset({"watch.umpire"}),
    frozenset({"audit.settings", "audit.proof", "audit.search"}),
    frozenset({"audit.story", "audit.summary"}),
    frozenset({"audit.page", "audit.browser"}),
    frozenset({"retrace", "tune", "refine.reply", "refine.domains", "refine.guards"}),
    frozenset({"refine.edits"}),
    frozenset({"judge", "ledger", "upstream", "refine.file", "refine.ask", "refine.panel", "watch.file"}),
    frozenset({"window", "refine.matter", "watch.cases", "explain", "mainfile"}),
    frozenset({"calls", "config", "refine.result", "jury", "watch.shadow"}),
    frozenset({"doctor.visit"}),
    frozenset({"anchored", "witness", "audit.looked", "audit.record"}),
    frozenset({"waiting", "inlet", "reload", "refine.refiner", "audit.auditor", "watch.hand", "watch.watchman"}),
    frozenset({"tracing.journey", "tracing.sampler", "genai", "watch.keeper"}),
    frozenset({"tracing.spans"}),
    frozenset({"tracing.tracer"}),
    frozenset({"outbox", "metered"}),
    frozenset({"relay"}),
    frozenset({"refine.review", "rewind", "beside"}),
    frozenset({"resume", "closing"}),
    frozenset({"carry"}),
    frozenset({"flow"}),
    frozenset({"heads", "preparing"}),
    frozenset({"pipeline"}),
    frozenset({"server"}),
    frozenset({"workers"}),
    frozenset({"cli"}),
)
WINGS = ("refine", "audit", "watch", "tracing", "assess", "doctor")  # their modules stand in LEVELS by whole names
# The second house, which runs inside the engine: it knows none of the first's, and the first none of it.
ENGINE = "kv"
ENGINE_LEVELS: Sequence[frozenset[str]] = (
    frozenset({"nouns", "settings", "stats", "rope", "layout", "ngram", "_crc", "_names"}),
    frozenset({"align", "ask", "locate", "shield", "_held", "_schema"}),
    frozenset({"plan", "scribe", "_index", "_database", "_disk", "_files"}),
    frozenset({"desk", "_room", "_wire"}),
    frozenset({"_upkeep", "_intake", "airlock", "capture", "inject"}),
    frozenset({"pool", "prom"}),
    frozenset({"worker", "api", "ban"}),
    frozenset({"connector"}),
    frozenset({"scheduler"}),
)
# Tested where torch or an engine is, under a name of their own.
ELSEWHERE = {
    "kv.airlock": "engine/test_plugin.py",
    "kv.ban": "engine/unit/test_ban.py",
    "kv.capture": "engine/unit/test_capture_and_inject.py",
    "kv.connector": "engine/test_plugin.py",
    "kv.inject": "engine/unit/test_capture_and_inject.py",
    "kv.layout": "engine/unit/test_layout.py",
    "kv.prom": "engine/test_plugin.py",
    "kv.rope": "engine/unit/test_rope.py",
    "kv.scheduler": "engine/test_faults.py",
    "kv.worker": "engine/test_faults.py",
}
# Within a room, besides furniture: a kind with other defaults, a reader of frames.
KIN = {
    ("backends.vllm", "backends.openai"),
    ("surfaces.stencil", "surfaces.sse"),
    ("surfaces._translated", "surfaces.chat"),
}


def level(module: str) -> int:
    top, _, inner = module.partition(".")
    name, table = (inner, ENGINE_LEVELS) if top == ENGINE else (module if top in WINGS else top, LEVELS)
    if top in WINGS and (not inner or inner.startswith("_")):
        return level("rules")  # the wing itself, and its furniture
    found = [number for number, names in enumerate(table) if name in names]
    assert found, f"gateway/{module} has no level: give it one in LEVELS"
    return found[0]


def allowed(importer: str, imported: str) -> bool:
    importer = importer.removesuffix(".__init__")
    room, other = importer.split(".")[0], imported.split(".")[0]
    if room == other and room in (*ROOMS, "cli"):
        inner = imported.partition(".")[2]
        return not inner or inner.startswith("_") or (importer, imported) in KIN
    if room == other and room in WINGS and imported.partition(".")[2].startswith("_"):
        return True
    if importer == "plug" or (room == ENGINE) != (other == ENGINE):
        return False
    return level(imported) < level(importer)


def test_a_module_knows_only_those_below_it() -> None:
    known = {
        name: [module for module in ours(name) if not allowed(name, module)] for name in SOURCES if name != "__init__"
    }
    assert {name: wrong for name, wrong in known.items() if wrong} == {}


def test_the_nouns_and_faults_know_nothing_of_ours() -> None:
    assert {module: list(ours(module)) for module in LEVELS[0]} == {module: [] for module in LEVELS[0]}


def test_the_room_of_checks_knows_the_nouns_alone() -> None:
    known = {module for name in SOURCES if name.startswith("checks.") for module in ours(name)}
    assert {module for module in known if not module.startswith("checks")} <= {"types", "plug", "errors"}


@pytest.mark.parametrize("library", sorted(ONLY))
def test_a_foreign_library_is_known_in_one_place(library: str) -> None:
    users = {
        "cli" if name.startswith("cli.") else name.removesuffix(".__init__")
        for name in SOURCES
        for module in imports(name)
        if module == library or module.startswith(library + ".")
    }
    assert users <= ONLY[library]
    assert users, f"nobody uses {library} any more"


def test_the_workers_know_one_word_of_the_metrics_library() -> None:
    names = [
        alias.name
        for node in ast.walk(tree("workers"))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prometheus_client")
        for alias in node.names
    ]
    assert names == ["mark_process_dead"]


def is_tested(name: str) -> bool:
    if name in ELSEWHERE:
        return ROOT.joinpath("tests", ELSEWHERE[name]).exists()
    *rooms, file = name.split(".")
    folder = ROOT.joinpath("tests", *rooms)
    return any((folder / f"test_{spelled}.py").exists() for spelled in {file, file.lstrip("_")})


def test_each_file_has_its_tests() -> None:
    assert [name for name in SOURCES if not name.endswith("__") and not is_tested(name)] == []


@cache
def needs_engine(name: str) -> bool:
    """Whether a module, or one it is made of, needs what only the engine's environment has."""
    known = set(imports(name))
    return bool(known & {"torch", "vllm"}) or any(needs_engine(other) for other in ours(name) if other in SOURCES)


HERE = [name for name in MODULES if name != ENGINE and not (name.startswith(f"{ENGINE}.") and needs_engine(name))]


@cache
def imported_alone() -> dict[str, str]:
    """What goes wrong if a module is the first of ours that a program imports; one process, emptied in between."""
    script = """
import gc, importlib, json, sys, traceback
gc.disable()  # what is emptied out is much, and looked through again and again
told = {}
for number, name in enumerate(json.loads(sys.argv[1])):
    if number % 50 == 49:
        gc.collect()
    for known in [known for known in sys.modules if known == "gateway" or known.startswith("gateway.")]:
        del sys.modules[known]
    try:
        importlib.import_module(f"gateway.{name}")
        told[name] = ""
    except BaseException:
        told[name] = traceback.format_exc()
print(json.dumps(told))
"""
    command = [sys.executable, "-W", "error", "-c", script, json.dumps(HERE)]
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # each is read a hundred times, so let it be compiled once
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, check=True)
    assert done.stderr == b""
    told: dict[str, str] = json.loads(done.stdout)
    return told


@pytest.mark.long
def test_each_module_can_be_the_first_to_be_imported() -> None:
    told = imported_alone()
    assert told.keys() >= set(HERE)
    assert {name: told[name] for name in HERE if told[name]} == {}


def test_an_engine_can_import_the_package_without_the_web_stack() -> None:
    script = "import gateway, sys; sys.exit(any(m in sys.modules for m in ('aiohttp', 'pydantic', 'orjson', 're2')))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
    assert SOURCES["__init__"].read_text(encoding="utf-8") == ""
