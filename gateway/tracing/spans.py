"""A journey becomes spans: one for the exchange, one for each stage of its road. Pure.

Names are those of OpenTelemetry's conventions for generative AI and HTTP where they have one, else `retrace.*`:
https://opentelemetry.io/docs/specs/semconv/gen-ai/. `retrace.confidence_score` is how sure of the answer the classifier
of risky answers was (1 minus its calibrated probability of an error); where it did not speak and a rule follows tokens,
it is the geometric mean of the probabilities that the model gave its own tokens. `retrace.reasoning_intent`: intent.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from gateway.marks import Fact, Mark, new
from gateway.tracing import intent
from gateway.tracing._span import Event, Span
from gateway.tracing.journey import Journey, Late, facts

OPERATIONS = {"chat": "chat", "messages": "chat", "responses": "chat", "completions": "text_completion"}  # by surface
OF_OURS = "retrace."

_NAMES = {  # facts that conventions have a name for; the others are of ours
    "status": "http.response.status_code",
    "address": "server.address",
    "port": "server.port",
    "response_model": "gen_ai.response.model",
}
_CALLS = {"call", "probe"}  # stages that ask somebody else
_INTENTS = {"hear": "probe", "close": "probe", "probe": "probe", "review": "refine", "tier": "refine", "read": "refine"}
_NO_FAULT = {"CancelledError", "content_filter"}  # the client has left, or a rule did what it is for


def spans(journey: Journey) -> list[Span]:
    """The exchange itself first, then its stages in the order in which they ended."""
    marks = {mark.id: mark for mark in journey.trace.marks}
    return [_root(journey), *(_stage(journey, mark, marks) for mark in marks.values())]


def late(told: Late) -> Span:
    """What an engine says of a capture, at the moment at which it was heard."""
    at = _nanoseconds(told.at)
    told_of = {OF_OURS + name: fact for name, fact in facts(told.reuse).items()}
    return Span("reuse", "internal", told.trace, new(64), told.root, at, at, told_of, state=told.state)


def _root(journey: Journey) -> Span:
    trace, offset = journey.trace, journey.offset
    fault = _fault(journey)
    known = dict(_whole(journey))
    if fault:
        known["error.type"] = fault
    first = [Event("first_token", _nanoseconds(journey.began + journey.first + offset))] if journey.first else []
    caller = trace.caller
    return Span(
        _name(journey),
        "server",
        trace.id,
        trace.root,
        caller.span if caller else 0,
        _nanoseconds(journey.began + offset),
        _nanoseconds(journey.ended + offset),
        known,
        fault,
        first,
        remote=caller is not None,
        state=caller.state if caller else "",
    )


def _stage(journey: Journey, mark: Mark, marks: Mapping[int, Mark]) -> Span:
    trace = journey.trace
    known = {_NAMES.get(name, OF_OURS + name): fact for name, fact in mark.facts.items()}
    known["retrace.reasoning_intent"] = about = _intent(journey, mark, marks)
    name = mark.name
    if name == "call" and journey.surface in OPERATIONS:
        asked = _asked(journey, own=about not in ("refine", "probe"))
        known, name = known | asked, str(asked["gen_ai.operation.name"])
    fault = "" if mark.fault in _NO_FAULT else mark.fault
    if mark.fault:
        known["error.type"] = mark.fault
    return Span(
        name,
        "client" if mark.name in _CALLS else "internal",
        trace.id,
        mark.id,
        mark.parent if mark.parent in marks else trace.root,
        _nanoseconds(mark.start + journey.offset),
        _nanoseconds(mark.end + journey.offset),
        known,
        fault,
        state=trace.caller.state if trace.caller else "",
    )


def _name(journey: Journey) -> str:
    """What the exchange is called: a name from the configuration, or none."""
    operation = OPERATIONS.get(journey.surface, journey.surface)
    return f"{operation} {journey.model}" if journey.kin.known else operation


def _asked(journey: Journey, own: bool) -> dict[str, Fact]:
    """What is said of every question to a model. `own`: it is the client's, put to the model that it named."""
    asked: dict[str, Fact] = {"gen_ai.operation.name": OPERATIONS[journey.surface] if own else "chat"}
    if journey.kin.provider:
        asked["gen_ai.provider.name"] = journey.kin.provider
    if own and journey.model and _is_served(journey):
        asked["gen_ai.request.model"] = journey.model
    return asked


def _is_served(journey: Journey) -> bool:
    """Whether the model's name is more than a client's word: the configuration names it, or the endpoint that answered
    (which may know it by a longer name)."""
    served = journey.trace.facts.get("response_model")
    return journey.kin.known or (isinstance(served, str) and served.startswith(journey.model))


def _whole(journey: Journey) -> Iterator[tuple[str, Fact]]:
    """What is known of the whole exchange."""
    yield "http.response.status_code", journey.status
    yield "retrace.surface", journey.surface
    if not journey.exchange:
        return
    yield from _asked(journey, own=True).items()
    yield from _counted(journey)
    for name in ("exchange", "tenant", "tier", "revision", "backend", "verdict", "stream"):
        yield OF_OURS + name, getattr(journey, name)
    if journey.session:
        yield "gen_ai.conversation.id", journey.session
        yield "retrace.session", journey.session
    yield "retrace.reason_codes", tuple(journey.reasons)
    yield "retrace.rules", tuple(journey.rules)
    yield "retrace.anchors", tuple(cut.anchor for cut in journey.cuts)
    yield "retrace.attempts", 1 + len(journey.cuts)
    yield "retrace.wasted_tokens", sum(cut.wasted for cut in journey.cuts)
    if journey.outcomes:
        yield "retrace.refined", tuple(journey.outcomes)
    yield from _heard(journey)


def _counted(journey: Journey) -> Iterator[tuple[str, Fact]]:
    if journey.usage is not None:
        yield "gen_ai.usage.input_tokens", journey.usage.prompt
        yield "gen_ai.usage.output_tokens", journey.usage.completion
    if journey.finish:
        yield "gen_ai.response.finish_reasons", tuple(journey.finish)
    if journey.first is not None:
        yield "gen_ai.response.time_to_first_chunk", journey.first
    injected = [mark.facts["injected_tokens"] for mark in journey.trace.marks if mark.name == "reuse"]
    if injected:
        yield "retrace.injected_tokens", sum(count for count in injected if isinstance(count, int))


def _heard(journey: Journey) -> Iterator[tuple[str, Fact]]:
    trace = journey.trace
    for name, fact in trace.facts.items():
        yield _NAMES.get(name, OF_OURS + name), fact
    yield "retrace.reasoning_intent", intent.intent(trace.heard)
    called = intent.calls(trace.heard)
    if called:
        yield "retrace.tool_call_id", called
    sure = _confidence(journey)
    if sure is not None:
        yield "retrace.confidence_score", sure
    if trace.lost:
        yield "retrace.marks_lost", trace.lost


def _confidence(journey: Journey) -> float | None:
    told = [mark.facts["confidence_score"] for mark in journey.trace.marks if "confidence_score" in mark.facts]
    if told:
        return min(float(score) for score in told if isinstance(score, float))
    tokens = journey.trace.sums.get("tokens", 0.0)
    return math.exp(-journey.trace.sums["nats"] / tokens) if tokens else None


def _intent(journey: Journey, mark: Mark, marks: Mapping[int, Mark]) -> Fact:
    """Its own, else that of the stage it is part of, else that of the exchange."""
    at: Mark | None = mark
    while at is not None:
        own = at.facts.get("reasoning_intent") or _INTENTS.get(at.name)
        if own:
            return own
        at = marks.get(at.parent)
    return intent.intent(journey.trace.heard)


def _fault(journey: Journey) -> str:
    """What went wrong with an exchange that ended otherwise than it should: the first of its stages that failed and
    was not made good."""
    failed = [mark.fault for mark in journey.trace.marks if mark.fault and mark.fault not in _NO_FAULT]
    if journey.status >= 500:
        return failed[-1] if failed else str(journey.status)
    broken = [mark.fault for mark in journey.trace.marks if mark.name == "relay" and mark.fault not in ("", *_NO_FAULT)]
    return broken[-1] if broken and journey.status < 400 else ""


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
