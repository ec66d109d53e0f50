"""`retrace try`: it judges as the gateway would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.inside import said
from tests.commands import retrace
from tests.rig import regex, write_config
from tests.verifier import slow

URL = ["http://127.0.0.1:9"]


def test_try_judges_and_says_so_with_its_exit_code(tmp_path: Path) -> None:
    rules = [
        regex("bomb", side="input", id="bomb"),
        regex("secret", side="input", action="mask", id="mask"),
        regex("odd", side="input", action="tag", id="tag", reason="R102"),
        regex("answer", id="out"),
        regex("vip", side="input", id="vip", when={"tenant": "vip"}),
    ]
    config = ("-c", str(write_config(tmp_path, URL, rules)))
    cases: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = [
        (("a bomb",), 2, ("BLOCK", "R101 sensitive.content", "bomb", "2-6")),
        (("my secret [b]x[/b]",), 0, ("MASK", "my *** [b]x[/b]")),
        (("odd",), 0, ("TAG", "R102 personal.data")),
        (("an answer", "--side", "output"), 2, ("BLOCK", "out")),
        (("an answer for a vip",), 0, ("ALLOW",)),
        (("vip", "--tenant", "vip"), 2, ("BLOCK", "vip")),
    ]
    for words, code, shown in cases:
        told = said("try", *words, *config)
        assert told.exit_code == code, (words, told.stdout, told.stderr)
        for word in shown:
            assert word in told.stdout


@pytest.mark.long
def test_what_comes_through_a_pipe_is_judged_too(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, URL, [regex("bomb", side="input")]))
    told = retrace("try", "-", "-c", config, told="from a pipe: bomb")
    assert told.returncode == 2
    assert "BLOCK" in told.stdout


def test_rules_that_take_their_time_are_named_and_not_asked(tmp_path: Path) -> None:
    config = ("-c", str(write_config(tmp_path, URL, [slow("http://127.0.0.1:9/", id="asks")])))
    told = said("try", "一段文字", *config)
    assert told.exit_code == 0
    assert "not asked, since they take their time: asks" in told.stdout
