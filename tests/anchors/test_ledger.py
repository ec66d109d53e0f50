"""What was said of a text, and what is forgotten."""

from __future__ import annotations

from gateway.anchors._ledger import Ledger
from gateway.anchors._marks import Closed, Marks


def filled() -> Ledger:
    ledger = Ledger()
    for position in (0, 3, 3, 7, 12):
        ledger.offer(position)
    for span in (Closed(1, 5), Closed(6, 9)):
        ledger.close(span)
    return ledger


def test_what_concerns_a_part() -> None:
    assert filled().marks(0, 20) == Marks([3, 7, 12], [Closed(1, 5), Closed(6, 9)])
    assert filled().marks(5, 7) == Marks([7], [Closed(6, 9)])


def test_what_ends_before_is_forgotten() -> None:
    ledger = filled()
    ledger.forget(7)
    assert ledger.marks(0, 20) == Marks([7, 12], [Closed(6, 9)])
