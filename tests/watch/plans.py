"""What deploy/ says of watching: rules, their tests, dashboards, each read once and as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
GRAFANA = ROOT / "deploy" / "grafana"
RULE_FILES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TEST_FILES = sorted((PROMETHEUS / "tests").glob("*.yml"))
BOARD_FILES = sorted((GRAFANA / "dashboards").glob("*.json"))


class Query(NamedTuple):
    """PromQL that somebody relies on: who, and what it is."""

    who: str
    text: str


@cache
def rules() -> list[dict[str, Any]]:
    """All rules, alerts and recorded figures, in order."""
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in RULE_FILES]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


@cache
def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def recorded() -> set[str]:
    return {rule["record"] for rule in rules() if "record" in rule}


@cache
def checks() -> list[dict[str, Any]]:
    """What the rules' own tests expect."""
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in TEST_FILES]
    return [check for file in files for test in file["tests"] for check in test["promql_expr_test"]]


@cache
def boards() -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in BOARD_FILES}


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every panel that shows something, by its dashboard."""
    for name, board in boards().items():
        yield from ((name, panel) for panel in board["panels"] if panel["type"] != "row")


def queries() -> list[Query]:
    """All that is asked anywhere."""
    asked = [Query(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()]
    for name, panel in panels():
        asked += [Query(f"{name}: {panel['title']}", target["expr"]) for target in panel["targets"]]
    for name, board in boards().items():
        asked += [Query(f"{name}: {one['name']}", one["expr"]) for one in board["annotations"]["list"]]
    return asked


OF_ITSELF = ("figure", "shadow", "acts", "hand", "policy", "trials", "audit", "trace_", "probe")


def of_itself(query: Query) -> bool:
    """Whether it asks for what a gateway tells of its own watch, log, traces and helpers."""
    names = tuple(f"retrace_{part}" for part in OF_ITSELF)
    return any(selector.metric.startswith(names) for selector in selectors(query.text))


def settled(text: str, interval: str = "2s", span: str = "1m") -> str:
    """A dashboard's query as Grafana sends it, for all gateways."""
    return text.replace("$__rate_interval", interval).replace("$__range", span).replace("$instance", ".*")


class Selector(NamedTuple):
    """A metric that a query reads, and the labels it picks by."""

    metric: str
    labels: dict[str, str]


_WORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "offset", "bool"}
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_ASIDE = re.compile(r'\[[^\]]*\]|\boffset \S+|(?<=[,(])\s*"[^"]*"')  # windows, and texts that are no matcher's
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?(?!\s*\(|[\w:])")
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')


def selectors(text: str) -> list[Selector]:
    """What a query reads."""
    bare = _ASIDE.sub(" ", _GROUPED.sub(" ", settled(text)))
    found = [match for match in _SELECTOR.finditer(bare) if match[1] not in _WORDS]
    return [Selector(match[1], dict(_MATCHER.findall(match[2] or ""))) for match in found]


def grouped(text: str) -> set[str]:
    """The labels by which a query puts things together."""
    return {name.strip() for names in _GROUPED.findall(text) for name in names.split(",") if name.strip()}
