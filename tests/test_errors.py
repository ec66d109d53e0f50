"""The faults, and what is told of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import errors
from gateway.errors import Complaint, ConfigFault, Fault, GuardBroken, Refused, UpstreamFault


def kinds(of: type[Fault] = Fault) -> Iterator[type[Fault]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


@pytest.mark.parametrize("kind", list(kinds()))
def test_every_fault_has_a_status_a_type_and_a_code(kind: type[Fault]) -> None:
    assert 400 <= kind.status <= 599
    assert kind.type in ("invalid_request_error", "authentication_error", "api_error")
    assert kind.code.isidentifier()


def test_the_tree_at_the_head_names_every_fault() -> None:
    drawn = errors.__doc__ or ""
    assert [kind.__name__ for kind in kinds() if kind.__name__ not in drawn] == []


def test_a_refusal_carries_its_reason_and_rule() -> None:
    fault = Refused("no", status=451, reason="R101", rule="r", param="messages.0")
    assert (fault.status, fault.code, fault.extra, fault.param) == (
        451,
        "content_filter",
        {"reason": "R101", "rule": "r"},
        "messages.0",
    )


def test_a_broken_guard_is_a_refusal_that_is_the_server_s_fault() -> None:
    fault = GuardBroken("x", status=503, reason="R900", rule="r")
    assert isinstance(fault, Refused)
    assert (fault.type, fault.code) == ("api_error", "guard_unavailable")


def test_an_upstream_fault_has_a_word_for_metrics() -> None:
    assert UpstreamFault("x", kind="garbage").kind == "garbage"


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        (Complaint(Path("a.yaml"), 3, "rules.0.id", "is odd", "mend it"), "a.yaml:3: rules.0.id: is odd -> mend it"),
        (Complaint(Path("a.yaml"), None, "", "is not there"), "a.yaml: is not there"),
    ],
)
def test_a_complaint_says_where_what_and_how_to_mend_it(complaint: Complaint, told: str) -> None:
    assert str(complaint) == told


def test_a_config_fault_tells_all_at_once() -> None:
    fault = ConfigFault([Complaint(Path("a"), 1, "x", "p"), Complaint(Path("b"), 2, "y", "q")])
    assert str(fault).splitlines() == ["a:1: x: p", "b:2: y: q"]
    assert not isinstance(fault, Fault)
