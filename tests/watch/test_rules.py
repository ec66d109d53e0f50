"""The alerts: each is tested by promtool, says what is wrong and what to do, and in both languages."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from deploy.setup.prometheus import Programs, ensure
from tests.watch import plans


@pytest.fixture(scope="module")
def promtool() -> Path:
    programs: Programs = ensure()
    return programs.promtool


def told(promtool: Path, *words: str) -> str:
    """What promtool says; it must be content."""
    done = subprocess.run([promtool, *words], cwd=plans.PROMETHEUS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_prometheus_reads_the_configuration_and_all_rules(promtool: Path) -> None:
    said = told(promtool, "check", "config", "prometheus.yml")
    assert f"{len(plans.RULE_FILES)} rule files found" in said
    assert len(plans.rules()) == sum(map(int, re.findall(r"(\d+) rules found", said)))


@pytest.mark.long
@pytest.mark.parametrize("file", plans.TEST_FILES, ids=lambda path: path.stem)
def test_alerts_fire_keep_still_and_end_as_their_tests_say(promtool: Path, file: Path) -> None:
    assert "SUCCESS" in told(promtool, "test", "rules", str(file))


@pytest.mark.long
def test_an_alert_that_would_never_fire_is_found_out(promtool: Path, tmp_path: Path) -> None:
    """The tests can fail: a rule whose condition is gone, one that doesn't wait, one that ends at once."""
    text = (plans.PROMETHEUS / "rules" / "engine.yml").read_text(encoding="utf-8")
    broken = {
        "condition": text.replace('up{job="retrace-engine"} == 0', "vector(0) > 1"),
        "for": re.sub(r" +for: .*\n", "", text),
        "keep": re.sub(r" +keep_firing_for: .*\n", "", text),
    }
    tests = (plans.PROMETHEUS / "tests" / "engine.yml").read_text(encoding="utf-8").replace("../rules/", "")
    (tmp_path / "figures.yml").write_text((plans.PROMETHEUS / "rules" / "figures.yml").read_text(encoding="utf-8"))
    (tmp_path / "test.yml").write_text(tests)
    for how, rules in broken.items():
        assert rules != text
        (tmp_path / "engine.yml").write_text(rules)
        done = subprocess.run([promtool, "test", "rules", tmp_path / "test.yml"], capture_output=True, check=False)
        assert done.returncode != 0, how


@pytest.mark.parametrize("name", plans.alerts())
def test_each_alert_is_tested_to_fire_to_keep_still_and_to_end(name: str) -> None:
    mine = [check for check in plans.checks() if f'alertname="{name}", alertstate="firing"' in check["expr"]]
    silent = [check["expr"] for check in mine if not check["exp_samples"]]
    assert len(silent) < len(mine), "it never fires"
    assert any(expr.startswith("ALERTS") for expr in silent), "it never ends"
    if "for" in plans.alerts()[name]:
        assert any("count_over_time" in expr for expr in silent), "it never keeps still"


@pytest.mark.parametrize("name", plans.alerts())
def test_each_alert_says_what_is_wrong_and_what_to_do(name: str) -> None:
    rule = plans.alerts()[name]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    words = rule["annotations"]
    assert set(words) == {"summary", "summary_zh", "runbook", "runbook_zh"}
    for key, text in words.items():
        chinese = len(re.findall(r"[一-鿿]", text))
        assert (chinese > 5) is key.endswith("_zh"), key
    assert len(words["runbook"]) > 80
    assert "{{" not in words["runbook"] + words["runbook_zh"]
    assert re.findall(r"{{.*?}}", words["summary"]) == re.findall(r"{{.*?}}", words["summary_zh"])
    assert re.findall(r"`[^`]*`", words["runbook"]) == re.findall(r"`[^`]*`", words["runbook_zh"])


def test_an_alert_that_wakes_people_is_rare() -> None:
    critical = [name for name, rule in plans.alerts().items() if rule["labels"]["severity"] == "critical"]
    assert 0 < len(critical) <= len(plans.alerts()) / 3


def test_shares_want_traffic_and_outlast_their_cause() -> None:
    for name, rule in plans.alerts().items():
        if "retrace:" in rule["expr"]:
            assert ">= " in rule["expr"], f"{name} hangs on a share of next to nothing"
            assert "for" in rule, name
            assert "keep_firing_for" in rule, name
