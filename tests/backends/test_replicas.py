"""Which replica takes the next call."""

from __future__ import annotations

from gateway.backends._replicas import BUSIER, Replicas


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


def test_the_one_wished_for_is_taken_unless_it_is_down_tried_or_clearly_busier() -> None:
    replicas = Replicas(["a", "b"])
    a, b = replicas.all
    for _ in range(3):
        assert replicas.pick(wished="b") is b  # not by turns
    b.in_flight = BUSIER
    assert replicas.pick(wished="b") is b
    a.in_flight, b.in_flight = 1, BUSIER + 1
    assert replicas.pick(wished="b") is b
    b.in_flight += 1
    assert replicas.pick(wished="b") is a
    b.in_flight = 0
    assert replicas.pick(["b"], wished="b") is a
    a.in_flight = 9
    assert replicas.pick(["a", "b"], wished="a") is b  # who was tried has no wish left
    a.in_flight, b.healthy = 0, False
    assert replicas.pick(wished="b") is a
    assert replicas.pick(wished="gone") is a


def test_a_wish_is_a_turn_like_any_other() -> None:
    replicas = Replicas(["a", "b"])
    a, b = replicas.all
    assert [replicas.pick(wished=url) for url in ("a", None, "b", None)] == [a, b, b, a]


def test_none_if_all_are_down() -> None:
    replicas = Replicas(["a", "b"])
    for replica in replicas.all:
        replica.healthy = False
    assert replicas.pick() is None
