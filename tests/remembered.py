"""A Retrace that remembers captures, exchanges that ask it for a donor, and a capture that writes down its verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.backends import Outcome, Plan
from gateway.metrics import Metrics
from gateway.retrace import Retrace
from gateway.rules import Inject
from gateway.stores.memory import Plug as Memory
from gateway.terms import Terms
from gateway.types import Action, Draft, Exchange, Finding, Principal

LONG = "a document about settlement days " * 60


def exchange(tenant: str = "t", model: str = "m", choices: int = 1) -> Exchange:
    return Exchange("rt-1", "chat", model, Principal(tenant), (), choices=choices)


def body(*texts: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}


def policies(**inject: Mapping[str, Any]) -> Terms:
    return Terms(policies={code: Inject.model_validate(given) for code, given in inject.items()})


def fresh(metrics: Metrics | None = None) -> Retrace:
    """One that remembers nothing yet."""
    of = Retrace(metrics or Metrics())
    asyncio.run(of.apply(Memory(most=100)))
    return of


def plan(of: Retrace, asked_for: Mapping[str, Any], terms: Terms, **who: Any) -> Plan:
    return asyncio.run(of.plan(exchange(**who), asked_for, 100, terms))


def captured(of: Retrace, asked_for: Mapping[str, Any], name: str, reason: str, terms: Terms, **who: Any) -> None:
    """An exchange whose capture the engine has kept."""
    plan(of, asked_for, terms, **who).told(Outcome(name, "http://a", "kept", reason, None))


def page(metrics: Metrics) -> dict[str, float]:
    """The figures on captures and what came of them."""
    lines = [line for line in metrics.page().decode().splitlines() if line[0] != "#" and "_created" not in line]
    figures = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
    ours = ("captures", "injected", "recomputed", "declined")
    return {name: value for name, value in figures.items() if name.startswith(tuple(f"retrace_{x}_" for x in ours))}


@dataclass
class Verdicts:
    """A capture that writes down what it hears."""

    heard: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    report: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def keep(self, reason: str, terms: Mapping[str, Any]) -> None:
        self.heard.append(("keep", reason, terms))

    def drop(self, reason: str) -> None:
        self.heard.append(("drop", reason, {}))


def halted(reason: str) -> Draft:
    return Draft(finish={0: "content_filter"}, halted={0: Finding("r", reason, Action.BLOCK, 0, 1)})
