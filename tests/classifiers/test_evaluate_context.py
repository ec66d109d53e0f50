"""The table is computed from the test split at thresholds of the dev split, and the last line is JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from classifiers import evaluate_context
from classifiers.evaluate_context import Method, domains, judge, others, ours, radii, summary, table, times
from classifiers.training import data
from classifiers.training.data import Pair
from tests.classifiers.folder import write_data
from tests.classifiers.models import ngrams

# A text is a number; two are the more alike the nearer they are.
NUMBERS = Method("numbers", float, lambda a, b: -abs(a - b))


def pairs(split: data.Split, like: list[int], unlike: list[int]) -> list[Pair]:
    def some(far: list[int], same: bool) -> list[Pair]:
        return [Pair("0", str(n), same, "like" if same else "hard", "toy.en", split) for n in far]

    return some(like, True) + some(unlike, False)


def test_the_threshold_is_chosen_on_dev_and_applied_to_test() -> None:
    rows = pairs("dev", [1], [5, 6, 7]) + pairs("test", [1, 4, 8], [3, 9]) + pairs("train", [0], [0])
    (line,) = judge([NUMBERS], rows)
    assert (line.set, line.negatives, line.like, line.unlike) == ("toy.en", "hard", 3, 2)
    assert line.recall == {"5%": pytest.approx(2 / 3, abs=1e-4), "1%": pytest.approx(2 / 3, abs=1e-4)}
    assert line.false == {"5%": 0.5, "1%": 0.5}


def test_the_table_has_a_row_for_each_kind_and_a_column_for_each_method() -> None:
    rows = pairs("dev", [1], [5]) + pairs("test", [1], [5])
    lines = list(judge([NUMBERS, NUMBERS._replace(name="again")], rows))
    *_, head, _rule, row = table(lines).split("\n")
    assert head == "| set | negatives | like | unlike | numbers | again |"
    assert row.startswith("| toy.en | hard | 1 | 1 | 1.00 (0.00) / 1.00 (0.00) · 1.00 |")
    assert summary(lines)["toy.en"]["hard"]["again"]["auc"] == 1


def test_times_are_told_for_each_method() -> None:
    told = times([NUMBERS], ["1", "2"])
    assert 0 <= told["numbers"]["p50"] <= told["numbers"]["p99"]


def test_how_far_to_look_counts_like_pairs_and_those_of_other_topics() -> None:
    codes = Method("code", int, lambda a, b: 0)
    one, other = evaluate_context.APART[0]
    rows = [Pair("0", "1", True, "like", one, "test"), Pair("255", "255", True, "like", other, "test")]
    within = {row.split(" | ")[1]: row.split(" | ")[2:] for row in radii([codes], rows).split("\n")[2:]}
    assert within["0 bits"] == ["0.50", "0.0e+00 |"]
    assert within["7 bits"] == ["1.00", "5.0e-01 |"]


@pytest.mark.parametrize("method", [*ours(), *others()], ids=lambda method: method.name)
def test_every_method_finds_a_text_most_like_itself(method: Method) -> None:
    seen = [method.see(text) for text in ("how do I get a refund", "what is the weather like", "今天天气怎么样")]
    for one in seen:
        assert max(seen, key=lambda other: method.alike(one, other)) is one


def test_domains_are_counted_by_set(tmp_path: Path) -> None:
    write_data(tmp_path)
    told = domains(ngrams(), data.pairs(tmp_path)).split("\n")
    assert told[0] == "| set | texts | general | finance | ecommerce | education |"
    assert len(told) == 4


def test_the_command_prints_a_table_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(tmp_path)
    monkeypatch.setattr(sys, "argv", ["evaluate_context", "--data", str(tmp_path)])
    evaluate_context.main()
    *_, last = capsys.readouterr().out.strip().split("\n")
    told = json.loads(last)
    assert told["sets"].keys() == {"shop.zh", "shop.en"}
    assert told["time_ms"].keys() == {method.name for method in [*ours(), *others()]}
