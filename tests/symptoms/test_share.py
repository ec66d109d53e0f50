"""What is sure of a share decides, and nothing else."""

from __future__ import annotations

import pytest

from gateway.symptoms import Light, Said
from gateway.symptoms._share import Share
from gateway.watch.bounds import wilson

FIX = Said("mend it", "修")


@pytest.mark.parametrize(
    ("count", "light"), [(0, Light.GREEN), (3, Light.GREEN), (30, Light.YELLOW), (60, Light.RED), (100, Light.RED)]
)
def test_few_raise_no_alarm(count: int, light: Light) -> None:
    sign = Share(count, 100, ()).sign("log", Said("seen", "看到"), 0.1, 0.5, FIX)
    assert (sign.light, sign.about, sign.seen) == (light, "log", Said("seen", "看到"))
    assert (sign.fix == FIX) is (light is not Light.GREEN)


def test_the_bounds_themselves_count() -> None:
    share = Share(20, 100, ())
    assert share.least == wilson(20, 100)[0]
    assert share.sign("log", FIX, share.least, 1.0, FIX).light is Light.YELLOW
    assert share.sign("log", FIX, 0.0, share.least, FIX).light is Light.RED


def test_it_tells_its_words() -> None:
    assert Share(3, 4, [("可能", 2), ("perhaps", 1)]).listed == "可能 2, perhaps 1"
    assert Share(3, 4, ()).listed == "-"
    assert Share(3, 4, ()).rate == 0.75
