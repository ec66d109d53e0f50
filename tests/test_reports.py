"""An engine's report is another program's word: understood as far as it makes sense, and taken out of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from gateway import reports
from gateway.errors import UpstreamFault
from gateway.kv import nouns
from gateway.reports import OTHER, Report, read, without_report
from tests.plugin import REPORT
from tests.rig import completion


def test_both_halves_of_the_house_use_the_same_words() -> None:
    assert {word.value for word in nouns.Decline} == reports.DECLINED
    assert {word.value for word in nouns.Mode} == reports.MODES


def test_what_the_plugin_reports_is_understood() -> None:
    told = nouns.Report(512, 300, 45, nouns.Mode.SPLICE, nouns.Decline.CACHED.value)
    assert read(told.to_dict()) == Report(512, 300, 45, "splice", "cached")
    assert read({}) == Report(mode=OTHER)


@pytest.mark.parametrize("declined", sorted(reports.DECLINED))
def test_some_donors_are_gone_for_good(declined: str) -> None:
    gone = ("unknown_donor", "not_kept", "tenant", "adapter", "fingerprint")
    assert read({"declined": declined}).gone is (declined in gone)


@pytest.mark.parametrize("count", [-5, "5", None, 1.5, [5]])
def test_a_count_that_is_none_counts_nothing(count: object) -> None:
    assert read({"injected_tokens": count}).injected == 0


@pytest.mark.parametrize("word", ["odd" * 99, ["prefix"], 7, None, {}])
def test_no_word_of_an_engine_becomes_ours(word: object) -> None:
    told = read({"mode": word, "declined": word})
    assert told.mode == OTHER
    assert told.declined in (None, OTHER)


@dataclass
class Noted:
    """A capture, as far as a report is noted with it."""

    report: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def keep(self, reason: str, terms: Mapping[str, Any]) -> None: ...

    def drop(self, reason: str) -> None: ...


def reported(**report: Any) -> bytes:
    answer = orjson.loads(completion("hi"))
    return orjson.dumps({**answer, "kv_transfer_params": {"retrace": {**REPORT, **report}}})


def test_the_report_is_taken_out_of_an_answer_and_noted() -> None:
    capture = Noted()
    assert orjson.loads(without_report(reported(injected_tokens=7), capture)) == orjson.loads(completion("hi"))
    assert capture.report == {**REPORT, "injected_tokens": 7}


@pytest.mark.parametrize(
    "raw",
    [
        completion("hi"),
        completion('it says "kv_transfer_params": {"retrace": {}}'),
        completion("hi")[:-1] + b', "kv_transfer_params": null}',
        b'"kv_transfer_params"',
        b'["kv_transfer_params"]',
        b'{"kv_transfer_params": ',
    ],
)
def test_an_answer_without_one_is_left_as_it_is(raw: bytes) -> None:
    capture = Noted()
    assert without_report(raw, capture) is raw
    assert capture.report is None


def test_what_another_connector_put_there_is_taken_out_too() -> None:
    capture = Noted()
    for told in (b'{"remote_host": "10.0.0.7"}', b'"x"', b'{"retrace": 7}'):
        raw = completion("hi")[:-1] + b',"kv_transfer_params":' + told + b"}"
        assert orjson.loads(without_report(raw, capture)) == orjson.loads(completion("hi"))
        assert capture.report is None


def test_an_answer_that_can_t_be_written_again_is_the_upstream_s_fault() -> None:
    deep = b"[" * 500 + b"]" * 500
    with pytest.raises(UpstreamFault, match="nested too deeply"):
        without_report(b'{"kv_transfer_params":{},"a":' + deep + b"}", Noted())
