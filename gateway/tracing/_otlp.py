"""Spans over the wire, by OpenTelemetry's own exporter. The only file that knows its library.

Whoever gathers them is not trusted: he is given a bounded time, no more of his answer is read than a line or two, and
a redirect is not followed.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Sequence
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from gateway.tracing._span import Span
from gateway.tracing.file import Tracing

LONGEST = 1 << 16  # bytes of an answer; whoever says more is not listened to

_KINDS = {"server": SpanKind.SERVER, "client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}
_SCOPE = InstrumentationScope("retrace")
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_TELLS = "opentelemetry.exporter.otlp.proto.http.trace_exporter"  # a line for each batch: ours tells of changes


class _Session(requests.Session):
    """Goes nowhere but where it is sent, and reads little."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False

    def request(self, *args: Any, **more: Any) -> requests.Response:
        response = super().request(*args, **{**more, "stream": True})
        if response.raw.read(LONGEST, decode_content=False) and response.raw.read(1):
            response.close()
        if 300 <= response.status_code < 400:
            raise requests.exceptions.InvalidURL("it sent a redirect")
        return response


class Exporter:
    """Carries spans away. Blocks, so it has a thread of its own."""

    def __init__(self, spec: Tracing) -> None:
        logging.getLogger(_TELLS).setLevel(logging.CRITICAL)
        name = spec.service or os.environ.get("OTEL_SERVICE_NAME") or "retrace-gateway"
        self._resource = Resource.create({"service.name": name, "service.instance.id": secrets.token_hex(8)})
        self._exporter = OTLPSpanExporter(
            endpoint=spec.url, headers=spec.headers, timeout=spec.timeout_seconds, session=_Session()
        )

    def carry(self, spans: Sequence[Span]) -> bool:
        """Whether they were taken, within the time that there is."""
        return self._exporter.export(self.written(spans)) is SpanExportResult.SUCCESS

    def written(self, spans: Sequence[Span]) -> list[ReadableSpan]:
        """The spans as the library has them."""
        return [self._made(span) for span in spans]

    def stop(self) -> None:
        """Whoever waits to try again gives up."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _made(self, span: Span) -> ReadableSpan:
        state = TraceState.from_header([span.state]) if span.state else None
        parent = SpanContext(span.trace, span.parent, span.remote, _SAMPLED) if span.parent else None
        return ReadableSpan(
            name=span.name,
            context=SpanContext(span.trace, span.id, False, _SAMPLED, state),
            parent=parent,
            resource=self._resource,
            attributes=span.attributes,
            events=[Event(event.name, timestamp=event.at) for event in span.events],
            kind=_KINDS[span.kind],
            status=Status(StatusCode.ERROR, span.fault) if span.fault else Status(StatusCode.UNSET),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=_SCOPE,
        )
