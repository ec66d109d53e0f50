"""The order of last use."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.stores._ring import Ring


@given(st.lists(st.tuples(st.sampled_from(["new", "use", "remove", "back"]), st.integers(0, 30)), max_size=60))
def test_the_first_is_always_the_least_lately_used(steps: list[tuple[str, int]]) -> None:
    ring = Ring()
    order: list[int] = []
    away: list[int] = []
    for what, number in steps:
        if what == "new":
            order.append(ring.new())
        elif what == "back" and away:
            order.append(away.pop())
            ring.append(order[-1])
        elif order and what in ("use", "remove"):
            slot = order.pop(number % len(order))
            ring.remove(slot)
            if what == "use":
                ring.append(slot)
                order.append(slot)
            else:
                away.append(slot)
        assert ring.first == (order[0] if order else 0)
    for slot in order:
        assert ring.first == slot
        ring.remove(slot)
    assert ring.first == 0
