"""What alerts and dashboards ask for is there to be asked for: names, labels, and the words that labels hold."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from gateway.kv.stats import COUNTERS, GAUGES
from gateway.metrics import Metrics
from tests.watch import plans

HOUSE = plans.ROOT / "gateway"
SCRAPED = {"job", "instance"}  # Prometheus's own labels
ENGINE = {"engine", "model_name"}  # those that vLLM gives all its figures
NUMBERS = {"le", "status"}  # labels whose values are made, not written down


@cache
def exported() -> dict[str, frozenset[str]]:
    """Every name that a scrape gives, and the labels it has."""
    known: dict[str, frozenset[str]] = {
        "up": frozenset(),
        "ALERTS": frozenset({"alertname", "alertstate", "severity"}),
        **dict.fromkeys(plans.recorded(), frozenset()),
    }
    for node in ast.walk(ast.parse((HOUSE / "vocabulary.py").read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[ast.Constant(value=str(name)), _, *rest]) if name.startswith(
                "retrace_"
            ):
                labels = {str(label.value) for part in rest for label in getattr(part, "elts", ())}
                known |= _names(kind, name, labels)
    for what, (label, _) in {**COUNTERS, **GAUGES}.items():
        kind = "Counter" if what in COUNTERS else "Gauge"
        known |= _names(kind, f"retrace_kv_{what}", ENGINE | ({label} if label else set()))
    return known


def _names(kind: str, name: str, labels: set[str]) -> dict[str, frozenset[str]]:
    told = frozenset(labels)
    if kind == "Histogram":
        return {f"{name}_bucket": told | {"le"}, f"{name}_sum": told, f"{name}_count": told}
    return {f"{name}_total" if kind == "Counter" else name: told}


@cache
def words() -> set[str]:
    """Every short text that the gateway's source holds."""
    texts: set[str] = set()
    for path in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 40:
                texts.add(node.value)
    return texts


def test_the_vocabulary_was_read() -> None:
    assert exported()["retrace_requests_total"] == {"surface", "stream", "status"}
    assert exported()["retrace_time_to_first_token_seconds_bucket"] == {"surface", "le"}
    assert exported()["retrace_kv_captures_cut_total"] == ENGINE | {"why"}
    assert len(exported()) > 60


@pytest.mark.parametrize("query", plans.queries(), ids=lambda query: query.who)
def test_all_that_is_asked_for_exists(query: plans.Query) -> None:
    found = plans.selectors(query.text)
    assert found
    for metric, labels in found:
        assert metric in exported(), f"{query.who} asks for {metric}, which nobody exports"
        assert set(labels) <= exported()[metric] | SCRAPED, f"{metric} has no such label"
        for label, value in labels.items():
            if label not in NUMBERS | SCRAPED and metric not in ("up", "ALERTS"):
                assert set(value.split("|")) <= words(), f"nobody writes {label}={value}"
    shared = set().union(*(exported()[metric] for metric, _ in found)) | SCRAPED
    assert plans.grouped(query.text) <= shared


def test_the_limit_of_a_slow_first_token_is_a_bucket() -> None:
    metrics = Metrics()
    metrics.observe_stream("chat", 1.0, 0)
    page = metrics.page().decode()
    limits = {
        labels["le"]
        for query in plans.queries()
        for metric, labels in plans.selectors(query.text)
        if metric == "retrace_time_to_first_token_seconds_bucket" and "le" in labels
    }
    assert len(limits) == 1
    (limit,) = limits
    assert f'retrace_time_to_first_token_seconds_bucket{{le="{limit}",surface="chat"}} 1.0' in page


@pytest.mark.parametrize("name", plans.alerts())
def test_a_summary_names_labels_that_the_alert_has(name: str) -> None:
    rule = plans.alerts()[name]
    named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
    if grouped := plans.grouped(rule["expr"]):
        assert named <= grouped
    elif "retrace:" in rule["expr"] or "sum(" in rule["expr"]:
        assert named == set()
    else:
        (selector,) = plans.selectors(rule["expr"])
        assert named <= exported()[selector.metric] | SCRAPED


@pytest.mark.parametrize(
    ("board", "panel"), list(plans.panels()), ids=lambda it: it if isinstance(it, str) else it["title"]
)
def test_a_legend_names_labels_that_the_query_has(board: str, panel: dict[str, object]) -> None:
    targets = panel["targets"]
    assert isinstance(targets, list)
    for target in targets:
        named = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        assert named <= plans.grouped(target["expr"]), (board, panel["title"])


def test_every_metric_that_the_runbooks_name_exists() -> None:
    named = {
        word
        for rule in plans.alerts().values()
        for text in rule["annotations"].values()
        for word in re.findall(r"retrace[_:][\w:]+\w", text)
    }
    assert named
    assert named <= set(exported()) | {name.removesuffix("_bucket") for name in exported()}
