"""The names that the house gives to the outside: its metrics and its reason codes."""

from __future__ import annotations

import ast
import re
from collections import Counter

import yaml

from tests.house.sources import ROOT, tree, walk

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
