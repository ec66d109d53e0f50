"""How large the house's parts are, what they say of themselves, and what they never do."""

from __future__ import annotations

import ast
import statistics

from tests.house.sources import SOURCES, lines, tree, walk

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
