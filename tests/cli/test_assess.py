"""`retrace assess`: the verdict on a log, in words, as JSON, as exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assess.samples import SHAPES, Asked, chatter, combined, day, lines, strangers, write
from tests.cli.inside import said
from tests.commands import retrace


@pytest.mark.parametrize("shape", ["bodies", "litellm", "retrace"])
def test_documents_that_come_again_pay_whoever_wrote_the_log(tmp_path: Path, shape: str) -> None:
    log = write(tmp_path / "log.jsonl.gz", lines(day(), shape))
    told = said("assess", str(log), "--json")
    assert told.exit_code == 0, told.stdout
    found = json.loads(told.stdout)
    assert (found["answer"], found["format"]) == ("yes", shape)
    assert found["figures"]["reject_rate"] == pytest.approx(0.2)
    assert found["savings"]["all"]["share"] > found["savings"]["rejected"]["share"] > 0.3
    assert found["figures"]["qps"] == pytest.approx(1 / 3, rel=0.01)
    assert found["plan"]["mode"] == "splice"
    assert found["saved_tokens_per_hour"] > 0


@pytest.mark.parametrize(
    ("asked", "why"), [(strangers(), "too_little"), (chatter(), "short")], ids=["strangers", "chatter"]
)
def test_traffic_that_shares_nothing_does_not_pay(tmp_path: Path, asked: list[Asked], why: str) -> None:
    told = said("assess", str(write(tmp_path / "log", lines(asked, "bodies"))), "--json")
    assert told.exit_code == 4
    found = json.loads(told.stdout)
    assert (found["answer"], found["plan"]) == ("no", None)
    assert why in found["why"]


def test_an_access_log_without_words_earns_a_trial_at_most(tmp_path: Path) -> None:
    told = said("assess", str(write(tmp_path / "log", lines(day(), "nginx"))), "--lang", "zh")
    assert told.exit_code == 3
    assert "很可能值得" in told.stdout
    assert "retrace.sample" in told.stdout
    combined_ = said("assess", str(write(tmp_path / "log", [combined(one) for one in day()])), "--json")
    assert (combined_.exit_code, json.loads(combined_.stdout)["savings"]) == (4, {})


def test_a_person_reads_figures_reasons_and_settings(tmp_path: Path) -> None:
    log = write(tmp_path / "log", [*lines(day(), "bodies"), b"{"])
    config = tmp_path / "config.json"
    config.write_text('{"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}')
    told = said("assess", str(log), "--lang", "en", "--model-config", str(config), "--prefill-rate", "1000")
    assert told.exit_code == 0
    for words in ("Yes, it will pay", "256 B/token", "RETRACE_POOL_TTL=", "s of prefill an hour", "mode: splice"):
        assert words in told.stdout
    assert "log:201" in told.stderr


def test_every_format_can_be_named_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    for shape in SHAPES:
        log = write(tmp_path / shape, lines(day(40), shape))
        told = said("assess", str(log), "--format", shape, "--json", "--kv-bytes-per-token", "1000")
        assert json.loads(told.stdout)["kv_bytes_per_token"] == 1000
    wrong = said("assess", str(tmp_path / "bodies"), "--format", "xml")
    assert (wrong.exit_code, "litellm" in wrong.stderr) == (1, True)


@pytest.mark.long
def test_rotated_logs_come_through_a_pipe_to_a_process_of_its_own() -> None:
    told = retrace("assess", "/dev/stdin", "--json", told="\n".join(line.decode() for line in lines(day(), "bodies")))
    found = json.loads(told.stdout)
    assert (told.returncode, found["figures"]["requests"]) == (0, 200)


def test_a_bad_log_is_told_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("some words\n")
    told = said("assess", str(tmp_path / "log"))
    assert told.exit_code == 1
    assert f"{tmp_path}/log:1" in told.stderr
