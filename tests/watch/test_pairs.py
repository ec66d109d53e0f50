"""The noun of a measurement."""

from __future__ import annotations

from gateway.watch.pairs import NEW, NOW, Pair


def test_what_is_not_known_of_a_pair_is_none() -> None:
    pair = Pair(at=0.0, reason="R101", arm=NOW, mode="prefix", first=(0.5, 1.0), total=(1.0, 2.0), fair=True)
    assert (pair.alike, pair.top1, pair.kl) == (None, None, None)
    assert pair._replace(arm=NEW).arm == "new"
