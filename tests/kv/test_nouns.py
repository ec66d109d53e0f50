"""The nouns are what they say from birth, and a report is what travels."""

from __future__ import annotations

from gateway.kv.nouns import Mode, Report, Span, State
from tests.kv.entries import SIZE, entry


def test_a_span_knows_its_end_and_its_shift() -> None:
    assert Span(10, 70, 5).end == 75
    assert Span(10, 70, 5).shift == 60
    assert Span(70, 10, 5).shift == -60


def test_an_entry_counts_its_bytes_to_the_byte_and_an_expired_one_has_none() -> None:
    kept = entry(range(5 * SIZE + 3))
    assert (kept.blocks, kept.bytes) == (5, 5 * 64)
    assert entry(range(5 * SIZE), state=State.EXPIRED).bytes == 0


def test_a_report_is_plain_data() -> None:
    assert Report(captured_tokens=128, mode=Mode.SPLICE, declined=None).to_dict() == {
        "captured_tokens": 128,
        "injected_tokens": 0,
        "recomputed_tokens": 0,
        "mode": "splice",
        "declined": None,
    }
