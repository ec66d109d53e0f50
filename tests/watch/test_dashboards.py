"""Dashboards have the shape that Grafana reads, speak both languages, and no panel lies on top of another."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.watch import plans

BOARDS = plans.boards()
SOURCE = {
    "type": "object",
    "required": ["type", "uid"],
    "properties": {"type": {"const": "prometheus"}, "uid": {"const": "${datasource}"}},
}
PLACE = {
    "type": "object",
    "required": ["h", "w", "x", "y"],
    "properties": {
        "h": {"type": "integer", "minimum": 1},
        "w": {"type": "integer", "minimum": 1, "maximum": 24},
        "x": {"type": "integer", "minimum": 0, "maximum": 23},
        "y": {"type": "integer", "minimum": 0},
    },
}
TARGET = {
    "type": "object",
    "required": ["refId", "datasource", "expr", "legendFormat"],
    "properties": {
        "refId": {"pattern": "^[A-Z]$"},
        "datasource": SOURCE,
        "expr": {"type": "string", "minLength": 1},
        "legendFormat": {"type": "string"},
        "instant": {"type": "boolean"},
    },
    "additionalProperties": False,
}
ROW = {
    "type": "object",
    "required": ["id", "type", "title", "collapsed", "gridPos", "panels"],
    "properties": {
        "type": {"const": "row"},
        "collapsed": {"const": False},
        "gridPos": PLACE,
        "panels": {"maxItems": 0},
    },
}
PANEL = {
    "type": "object",
    "required": [
        *("id", "type", "title", "description", "datasource", "gridPos", "fieldConfig", "options", "targets"),
    ],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "type": {"enum": ["stat", "timeseries", "bargauge"]},
        "title": {"type": "string", "minLength": 1},
        "description": {"type": "string", "minLength": 1},
        "datasource": SOURCE,
        "gridPos": PLACE,
        "fieldConfig": {
            "type": "object",
            "required": ["defaults", "overrides"],
            "properties": {
                "defaults": {
                    "type": "object",
                    "required": ["unit"],
                    "properties": {"unit": {"enum": ["short", "s", "bytes", "percentunit", "reqps"]}},
                },
                "overrides": {"type": "array"},
            },
        },
        "options": {"type": "object"},
        "targets": {"type": "array", "minItems": 1, "items": TARGET},
    },
    "additionalProperties": False,
}
BOARD = {
    "type": "object",
    "required": [
        *("uid", "title", "description", "tags", "timezone", "schemaVersion", "version", "refresh", "time"),
        *("annotations", "templating", "links", "panels"),
    ],
    "properties": {
        "uid": {"pattern": "^retrace-[a-z]{3,30}$"},
        "id": False,  # a database gives it
        "title": {"pattern": "^ReTrace: "},
        "tags": {"const": ["retrace"]},
        "schemaVersion": {"type": "integer", "minimum": 36, "maximum": 42},
        "time": {"type": "object", "required": ["from", "to"]},
        "annotations": {"type": "object", "required": ["list"]},
        "templating": {
            "type": "object",
            "required": ["list"],
            "properties": {"list": {"items": {"type": "object", "required": ["name", "type", "query", "current"]}}},
        },
        "panels": {
            "type": "array",
            "minItems": 8,
            "items": {"if": {"properties": {"type": {"const": "row"}}}, "then": ROW, "else": PANEL},
        },
    },
}


def test_each_part_of_the_house_has_its_dashboard() -> None:
    assert set(BOARDS) == {"overview", "retrace", "refine", "rules", "watch"}


@pytest.mark.parametrize("name", BOARDS)
def test_it_has_the_shape_that_grafana_reads(name: str) -> None:
    assert [fault.message for fault in Draft202012Validator(BOARD).iter_errors(BOARDS[name])] == []
    assert BOARDS[name]["uid"] == f"retrace-{name}"


def test_a_dashboard_out_of_shape_is_found_out() -> None:
    panel = {**next(panel for _, panel in plans.panels()), "targets": []}
    wrong = {**BOARDS["rules"], "panels": [*BOARDS["rules"]["panels"], panel], "id": 7}
    assert len(list(Draft202012Validator(BOARD).iter_errors(wrong))) == 2


@pytest.mark.parametrize("name", BOARDS)
def test_its_panels_are_numbered_and_nothing_lies_on_top_of_another(name: str) -> None:
    panels: list[dict[str, Any]] = BOARDS[name]["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, two in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= two["x"] or two["x"] + two["w"] <= one["x"]
        below = one["y"] + one["h"] <= two["y"] or two["y"] + two["h"] <= one["y"]
        assert beside or below


@pytest.mark.parametrize("name", BOARDS)
def test_it_speaks_both_languages(name: str) -> None:
    board = BOARDS[name]
    texts = [board["title"], board["description"]]
    texts += [text for panel in board["panels"] for text in (panel["title"], panel.get("description", panel["title"]))]
    for text in texts:
        assert re.search(r"[一-鿿]", text), text
        assert re.search(r"[A-Za-z]{2}", text), text


@pytest.mark.parametrize("name", BOARDS)
def test_it_asks_for_the_gateways_that_were_chosen(name: str) -> None:
    """What a gateway exports is picked by instance; engines and shares are of all."""
    for panel in BOARDS[name]["panels"]:
        for target in panel.get("targets", ()):
            for metric, labels in plans.selectors(target["expr"]):
                of_one = metric.startswith("retrace_") and not metric.startswith("retrace_kv_")
                assert ("instance" in labels) is (of_one or metric == "up"), (panel["title"], metric)


def test_grafana_is_told_where_all_of_it_is() -> None:
    folder = plans.GRAFANA / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text("utf-8"))["datasources"]
    (provider,) = yaml.safe_load((folder / "dashboards" / "retrace.yml").read_text("utf-8"))["providers"]
    assert source["type"] == "prometheus"
    assert source["url"] == "${RETRACE_PROMETHEUS_URL}"
    assert provider["type"] == "file"
    assert provider["options"]["path"] == "${RETRACE_DASHBOARDS}"
