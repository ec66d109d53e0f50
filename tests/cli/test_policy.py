"""`retrace policy`: what it shows, and what a person's word changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.config import House, Source, build
from gateway.watch import evidence, register
from gateway.watch.pairs import Pair
from gateway.watch.trials import Evidence
from gateway.watch.trying import Trying
from gateway.watch.versions import PolicyFile
from tests.cli.inside import said
from tests.rig import REASONS, regex, write_config

URL = ["http://127.0.0.1:9"]
RULES = [regex("wrong", id="facts", reason="R101"), regex("form", id="form", reason="R307")]


def configured(folder: Path, rules: list[dict[str, Any]] | None = None, **inject: dict[str, Any]) -> str:
    """A folder of files with trials; `inject` by reason code."""
    path = write_config(folder, URL, RULES if rules is None else rules, watch="watch.yaml")
    (folder / "watch.yaml").write_text("{}\n")
    reasons = {code: {**reason, "inject": inject.get(code, {})} for code, reason in REASONS.items()}
    (folder / "reasons.yaml").write_text(yaml.safe_dump({"reasons": reasons}, allow_unicode=True))
    return str(path)


def noted(config: str) -> House:
    """As a gateway leaves it that has run with an engine."""
    house = build(Source(Path(config)))
    register.change(Path(config).parent / "policies.yaml", lambda _known: (house.standing.state, None))
    return build(Source(Path(config)))


def test_the_list_says_what_is_in_force_and_that_nothing_was_noted_yet(tmp_path: Path) -> None:
    config = configured(tmp_path, R307={"sensitive": "allow"})
    told = said("policy", "list", "-c", config)
    assert told.exit_code == 0
    assert "prefix sensitive=allow" in told.stdout
    assert "accepted drafts" in told.stdout
    assert "nothing is noted yet" in told.stdout
    noted(config)
    again = said("policy", "list", "-c", config)
    assert "nothing is noted yet" not in again.stdout
    assert "first sight" in again.stdout


def test_a_code_whose_rules_changed_is_off_until_confirm_which_says_what_changed(tmp_path: Path) -> None:
    noted(configured(tmp_path))
    config = configured(tmp_path, [regex("right", id="facts", reason="R101"), RULES[1]])
    shown = said("policy", "list", "-c", config).stdout
    assert "OFF, its rules changed (facts: looks for something else): retrace policy confirm R101" in shown
    assert build(Source(Path(config))).terms.policy("R101").mode == "none"
    assert "nothing is reused of R101 (facts: looks for something else)" in said("check", str(tmp_path)).stderr
    told = said("policy", "confirm", "R101", "-c", config)
    assert told.exit_code == 0
    assert "facts: looks for something else" in told.stdout
    assert build(Source(Path(config))).terms.policy("R101").mode == "prefix"
    assert "confirmed" in said("policy", "list", "-c", config).stdout
    assert "had not changed" in said("policy", "confirm", "R101", "-c", config).stdout


def test_all_can_be_confirmed_at_once(tmp_path: Path) -> None:
    noted(configured(tmp_path))
    config = configured(tmp_path, [regex("a", id="facts", reason="R101"), regex("b", id="form", reason="R307")])
    assert set(build(Source(Path(config))).standing.unconfirmed) == {"R101", "R307"}
    none = said("policy", "confirm", "-c", config)
    assert (none.exit_code, "--all" in none.stderr) == (2, True)
    assert said("policy", "confirm", "--all", "-c", config).exit_code == 0
    assert build(Source(Path(config))).standing.unconfirmed == {}
    over = said("policy", "confirm", "--all", "-c", config)
    assert (over.exit_code, "no code waits" in over.stderr) == (0, True)


def tried(folder: Path) -> str:
    """A folder where a policy is being tried."""
    noted(configured(folder))
    config = configured(folder, R101={"mode": "splice"})
    noted(config)
    return config


def test_a_trial_is_shown_with_the_figures_of_both_arms(tmp_path: Path) -> None:
    config = tried(tmp_path)
    standing = build(Source(Path(config))).standing
    told = said("policy", "trial", "-c", config).stdout
    assert "R101: 10% of the sessions since" in told
    assert "now: prefix" in told
    assert "new: splice" in told
    assert "nothing was put away yet" in told
    seen = Evidence(standing.trials["R101"].key)
    for number in range(40):
        seen.add(
            Pair(1.0, "R101", "new" if number % 2 else "now", "splice", (0.5, 1.0), (1.0, 2.0), True, 0.9), Trying()
        )
        seen.visit("now", number % 20 == 0)
    seen.shown.append("late")
    seen.chance["unlike"] = 0.25
    (tmp_path / "policies.yaml.evidence").write_bytes(evidence.dumped({seen.key: seen}))
    told = said("policy", "trial", "R101", "-c", config).stdout
    assert "LD -50.0% [" in told
    assert "of 20 against -50.0% [" in told
    assert "shown to be no worse than its margin" in told
    assert "CS 0.900 [" in told
    assert "p 0.25, worse from 0.0028 down" in told
    assert "drop-off 0.00% [0.00%, 100.00%] of 0 against 5.00% [" in told


def test_a_trial_can_be_ended_by_hand_and_that_taken_back(tmp_path: Path) -> None:
    config = tried(tmp_path)
    told = said("policy", "trial", "R101", "--back", "-c", config)
    assert (told.exit_code, "not tried any more" in told.stdout) == (0, True)
    standing = build(Source(Path(config))).standing
    assert (standing.policies["R101"].mode, standing.trials, set(standing.turned_back)) == ("prefix", {}, {"R101"})
    assert "which was turned back" in said("policy", "list", "-c", config).stdout
    assert "still in reasons.yaml: R101" in said("policy", "trial", "-c", config).stdout
    assert said("policy", "trial", "R101", "--accept", "-c", config).exit_code == 0
    standing = build(Source(Path(config))).standing
    assert (standing.policies["R101"].mode, standing.turned_back) == ("splice", frozenset())
    assert standing.state.codes["R101"].why == "by hand"
    over = said("policy", "trial", "R101", "--accept", "-c", config)
    assert (over.exit_code, "no policy is being tried" in over.stderr) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("confirm", "R999"),
        ("trial", "R999"),
        ("trial", "--accept"),
        ("trial", "R101", "--accept", "--back"),
    ],
)
def test_what_can_t_be_meant_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    told = said("policy", *words, "-c", configured(tmp_path))
    assert (told.exit_code, (tmp_path / "policies.yaml").exists()) == (2, False)


def test_a_broken_state_file_is_told_with_its_line_and_stays_as_it_is(tmp_path: Path) -> None:
    config = configured(tmp_path)
    (tmp_path / "policies.yaml").write_text("codes:\n  R101: {why: guess}\n")
    for words in (("list",), ("confirm", "R101"), ("trial",)):
        told = said("policy", *words, "-c", config)
        assert (told.exit_code, "policies.yaml:2" in told.stderr) == (1, True)
    assert (tmp_path / "policies.yaml").read_text() == "codes:\n  R101: {why: guess}\n"
    doubted = said("check", str(tmp_path)).stderr
    assert "nothing is reused at all" in doubted
    assert "policies.yaml:2" in doubted


def test_where_it_can_t_be_written_the_fix_is_told(tmp_path: Path) -> None:
    config = configured(tmp_path)
    (tmp_path / "policies.yaml.lock").mkdir()
    told = said("policy", "confirm", "R101", "-c", config)
    assert (told.exit_code, "retrace.policies" in told.stderr) == (1, True)
    assert register.read(tmp_path / "policies.yaml") in (None, PolicyFile())
