"""The noun of a span: what is not said of it is the quiet case."""

from __future__ import annotations

from gateway.tracing._span import Span


def test_a_span_of_which_no_more_is_said_went_well_and_is_ours() -> None:
    span = Span("judge", "internal", 1, 2, 3, 4, 5, {})
    assert (span.fault, span.events, span.remote, span.state) == ("", (), False, "")
