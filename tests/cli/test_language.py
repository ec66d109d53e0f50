"""A person is spoken to in the language of his terminal, unless he asks for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli._language import spoken
from tests.assess.samples import chatter, lines, write
from tests.cli.inside import said


@pytest.mark.parametrize(
    ("env", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
    ],
)
def test_the_terminal_s_language_is_spoken(env: dict[str, str], lang: str) -> None:
    assert spoken(env) == lang


def test_another_is_spoken_if_it_is_asked_for(tmp_path: Path) -> None:
    log = str(write(tmp_path / "log", lines(chatter(20), "bodies")))
    assert "不值得" in said("assess", log, "--lang", "zh").stdout
    assert "Not worth it" in said("assess", log, "--lang", "en").stdout
