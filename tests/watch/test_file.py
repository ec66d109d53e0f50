"""rules/watch.yaml: what it may say, and what is said of it if it is wrong."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway import config
from gateway.config import Source, build
from gateway.errors import ConfigFault
from gateway.watch.file import Shadowing, WatchFile
from tests.rig import write_config

SHIPPED = Path(config.__file__).parent.parent / "rules" / "watch.yaml"


def test_the_shipped_file_is_what_it_says_and_off_until_it_is_named(tmp_path: Path) -> None:
    shipped = WatchFile.model_validate(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))
    assert shipped.shadow == Shadowing()
    path = write_config(tmp_path, ["http://127.0.0.1:1"], [])
    assert build(Source(path)).watch is None
    (tmp_path / "watch.yaml").write_text(SHIPPED.read_text(encoding="utf-8"), encoding="utf-8")
    path = write_config(tmp_path, ["http://127.0.0.1:1"], [], watch="watch.yaml")
    house = build(Source(path))
    assert house.watch == shipped
    assert tmp_path / "watch.yaml" in house.watched


def test_more_is_repeated_when_the_hour_says_so() -> None:
    shadow = Shadowing.model_validate(
        {"rate": 0.1, "weights": [{"window": "22:00-06:00", "weight": 4}, {"window": "06:00-24:00", "weight": 0.5}]}
    )
    assert shadow.share(datetime(2026, 1, 1, 23)) == pytest.approx(0.4)
    assert shadow.share(datetime(2026, 1, 1, 5, 59)) == pytest.approx(0.4)
    assert shadow.share(datetime(2026, 1, 1, 6)) == pytest.approx(0.05)
    assert Shadowing(rate=0.1).share(datetime(2026, 1, 1, 6)) == 0.1
    assert shadow.model_copy(update={"rate": 0.9}).share(datetime(2026, 1, 1, 23)) == 1


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ({"shadow": {"rate": 2}}, "shadow.rate"),
        ({"shadow": {"weights": [{"window": "25:00-26:00", "weight": 1}]}}, "window"),
        ({"shadow": {"weights": [{"window": "01:00-02:00", "weight": -1}]}}, "weight"),
        ({"shadow": {"sample": 1}}, "sample"),
        ({"figures": {"confidence": 1}}, "confidence"),
        ({"every_seconds": 0}, "every_seconds"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, words: dict[str, Any], where: str) -> None:
    (tmp_path / "watch.yaml").write_text(yaml.safe_dump(words))
    path = write_config(tmp_path, ["http://127.0.0.1:1"], [], watch="watch.yaml")
    with pytest.raises(ConfigFault) as caught:
        build(Source(path))
    (complaint,) = caught.value.complaints
    assert complaint.file == tmp_path / "watch.yaml"
    assert where in str(complaint)


def test_a_file_that_is_not_there_is_a_complaint(tmp_path: Path) -> None:
    path = write_config(tmp_path, ["http://127.0.0.1:1"], [], watch="nothing.yaml")
    with pytest.raises(ConfigFault, match=r"nothing\.yaml"):
        build(Source(path))
