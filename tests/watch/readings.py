"""Readings for tests of the controller: figures with bounds, looked at every so often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gateway.watch.acts import Act
from gateway.watch.controller import Controller
from gateway.watch.series import CodeReading, Figure, Reading

EVERY = 15.0


def figure(value: float, off: float = 0.01, count: int = 200) -> Figure:
    """A value with bounds `off` to both sides."""
    return Figure(value, value - off, value + off, count)


def code(ld: float | None = -0.3, cs: float | None = 0.93, share: float = 0.5, off: float = 0.01) -> CodeReading:
    speed = None if ld is None else figure(ld, off)
    return CodeReading(speed, None if cs is None else figure(cs, off), share, speed)


def reading(
    at: float, chr_: float | None = 0.4, ld: float | None = -0.3, cs: float | None = 0.93, **more: Any
) -> Reading:
    """A good one, unless told otherwise."""
    off = more.pop("off", 0.01)
    hits, speed, likeness = (None if value is None else figure(value, off) for value in (chr_, ld, cs))
    codes = more.pop("codes", {"R101": code(), "R203": code()})
    return Reading(at, hits, speed, likeness, codes, frozenset(more.pop("faults", ())), **more)


def looks(start: float, minutes: float, every: float = EVERY) -> Iterator[float]:
    """The times of looks over some minutes, the first at `start`."""
    for number in range(int(minutes * 60 / every) + 1):
        yield start + number * every


def run(controller: Controller, start: float, minutes: float, **figures: Any) -> list[Act]:
    """All acts while the figures are these."""
    return [act for at in looks(start, minutes) for act in controller.step(reading(at, **figures))]


def told(acts: list[Act]) -> list[tuple[str, str]]:
    return [(act.what, act.code) for act in acts]
