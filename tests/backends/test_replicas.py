"""Which replica takes the next call."""

from __future__ import annotations

from gateway.backends._replicas import Replicas


def test_the_least_busy_healthy_one_is_picked() -> None:
    replicas = Replicas(["a", "b", "c"])
    a, b, c = replicas.all
    a.in_flight, b.in_flight, c.in_flight = 2, 1, 0
    c.healthy = False
    assert replicas.pick() is b
    b.in_flight = 5
    assert replicas.pick() is a


def test_equal_ones_take_turns() -> None:
    replicas = Replicas(["a", "b", "c"])
    assert [replicas.pick().url for _ in range(6)] == ["a", "b", "c"] * 2  # type: ignore[union-attr]


def test_one_not_tried_yet_goes_before_one_that_was() -> None:
    replicas = Replicas(["a", "b"])
    a, b = replicas.all
    b.in_flight = 9
    assert replicas.pick(["a"]) is b
    assert replicas.pick(["a", "b"]) is a
    b.healthy = False
    assert replicas.pick(["a"]) is a  # better the same again than none


def test_none_if_all_are_down() -> None:
    replicas = Replicas(["a", "b"])
    for replica in replicas.all:
        replica.healthy = False
    assert replicas.pick() is None
