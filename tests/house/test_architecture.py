"""How the house is built, read from its source: who may know whom, how large its parts are, what it never does."""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOME = ROOT / "gateway"
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
    frozenset({"nouns", "settings", "stats", "rope", "layout", "ngram", "_crc"}),
    frozenset({"align", "ask", "locate", "shield", "_files", "_schema"}),
    frozenset({"plan", "scribe", "_index", "_database", "_disk"}),
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


def level(module: str) -> int:
    top, _, inner = module.partition(".")
    name, table = (inner, ENGINE_LEVELS) if top == ENGINE else (module if top in WINGS else top, LEVELS)
    if top in WINGS and (not inner or inner.startswith("_")):
        return level("rules")  # the wing itself, and its furniture
    found = [number for number, names in enumerate(table) if name in names]
    assert found, f"gateway/{module} has no level: give it one in LEVELS"
    return found[0]


def walk(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[str, ast.AST]]:
    """Every node of a kind in the whole house, and the file it stands in."""
    for name in SOURCES:
        for node in ast.walk(tree(name)):
            if isinstance(node, kind):
                yield name, node


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
import importlib, json, sys, traceback
told = {}
for name in json.loads(sys.argv[1]):
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


def test_each_module_can_be_the_first_to_be_imported() -> None:
    told = imported_alone()
    assert told.keys() >= set(HERE)
    assert {name: told[name] for name in HERE if told[name]} == {}


def test_an_engine_can_import_the_package_without_the_web_stack() -> None:
    script = "import gateway, sys; sys.exit(any(m in sys.modules for m in ('aiohttp', 'pydantic', 'orjson', 're2')))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
    assert SOURCES["__init__"].read_text(encoding="utf-8") == ""


MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = {"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray"}


def test_no_module_keeps_state() -> None:
    """Tables in capitals are constants by agreement; anything else that could change must belong to somebody."""
    kept = []
    for name in SOURCES:
        for node in tree(name).body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            value = node.value
            made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in MAKERS
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if (made or isinstance(value, MUTABLE)) and any(not n.isupper() and n != "__all__" for n in names):
                kept.append(f"{name}.{names}")
    kept += [f"{name}: global" for name, _ in walk(ast.Global)]
    assert kept == []


def test_no_table_in_capitals_is_ever_written_to() -> None:
    written = []
    for name, node in walk((ast.Subscript, ast.Call, ast.AugAssign)):
        match node:
            case ast.Subscript(value=ast.Name(id=table), ctx=ast.Store() | ast.Del()) if table.isupper():
                written.append(f"{name}.{table}")
            case ast.AugAssign(target=ast.Name(id=table)) if table.isupper():
                written.append(f"{name}.{table}")
            case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr=verb)) if table.isupper():
                if verb in ("append", "add", "update", "setdefault", "pop", "clear", "extend", "insert", "remove"):
                    written.append(f"{name}.{table}.{verb}")
    assert written == []


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_long_and_most_are_short() -> None:
    sizes = {name: lines(path) for name, path in SOURCES.items() if lines(path)}
    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert statistics.median(sizes.values()) <= 120


def test_no_function_is_long() -> None:
    long = {}
    for name, node in walk((ast.FunctionDef, ast.AsyncFunctionDef)):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        size = (node.end_lineno or 0) - node.lineno + 1
        if size > 40 and (name, node.name) not in DECLARATIONS:
            long[f"{name}.{node.name}"] = size
    assert long == {}


DECLARATIONS = {("vocabulary", "__init__")}  # a list of what is counted, statement after statement: nothing to follow


def test_every_module_says_what_it_promises() -> None:
    assert [name for name in SOURCES if lines(SOURCES[name]) and not ast.get_docstring(tree(name))] == []


def test_only_the_judge_and_the_jury_catch_everything() -> None:
    """Elsewhere a broad `except` must raise in the end whatever it caught."""
    broad = []
    for name, node in walk(ast.ExceptHandler):
        assert isinstance(node, ast.ExceptHandler)
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        everything = any(
            kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
            for kind in caught
        )
        if everything and not isinstance(node.body[-1], ast.Raise):
            broad.append(name)
    assert set(broad) == {"judge", "jury"}


def test_no_fault_is_swallowed_without_a_word() -> None:
    silent = []
    for name, node in walk(ast.ExceptHandler):
        assert isinstance(node, ast.ExceptHandler)
        if all(
            isinstance(step, ast.Pass) or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
            for step in node.body
        ):
            silent.append(f"{name}:{node.lineno}")
    assert silent == []


def test_nothing_is_printed_and_nothing_evaluated() -> None:
    called = [
        f"{name}:{node.lineno} {node.func.id}"
        for name, node in walk(ast.Call)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("print", "eval", "exec", "breakpoint")
    ]
    assert called == []


# Names that are not ours to choose: those of OpenTelemetry's conventions for generative AI.
CONVENTIONS = {
    "gen_ai_client_token_usage",
    "gen_ai_server_request_duration_seconds",
    "gen_ai_server_time_to_first_token_seconds",
}


def metrics() -> dict[str, str]:
    """Each attribute of the vocabulary that counts something, and the name that Prometheus knows it by."""
    found = {}
    for node in ast.walk(tree("vocabulary")):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr=attribute)],
                value=ast.Call(
                    func=ast.Name(id="Counter" | "Gauge" | "Histogram"), args=[ast.Constant(value=name), *_]
                ),
            ):
                assert attribute not in found
                found[attribute] = str(name)
    return found


def test_each_metric_is_named_once_and_begins_with_the_house_s_name() -> None:
    names = Counter(metrics().values())
    assert names
    ours = {name for name in names if name.startswith("retrace_")}
    assert names.keys() - ours == CONVENTIONS
    assert [name for name, count in names.items() if count > 1] == []
    made = [
        node
        for node in ast.walk(tree("vocabulary"))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Counter", "Gauge", "Histogram")
    ]
    assert len(made) == len(metrics())


def test_each_metric_is_used() -> None:
    read = Counter(
        node.attr
        for _, node in walk(ast.Attribute)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    assert [attribute for attribute in metrics() if not read[attribute]] == []


def test_each_thing_that_metrics_can_note_is_noted_somewhere() -> None:
    (kind,) = [node for node in tree("metrics").body if isinstance(node, ast.ClassDef)]
    methods = {node.name for node in kind.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    used = {node.attr for name, node in walk(ast.Attribute) if isinstance(node, ast.Attribute) and name != "metrics"}
    assert methods - used == set()


def test_each_reason_code_that_the_house_names_is_defined() -> None:
    defined = yaml.safe_load((ROOT / "rules" / "reasons.yaml").read_text(encoding="utf-8"))["reasons"]
    named = {
        str(node.value)
        for _, node in walk(ast.Constant)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"R\d{3}", node.value)
    }
    assert named
    assert named - set(defined) == set()
