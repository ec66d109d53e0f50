"""The tree of spans that an exchange leaves: a real gateway, and a real receiver of OTLP."""

from __future__ import annotations

import asyncio
import math
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.marks import Mark, Trace
from gateway.traceparent import caller
from gateway.tracing._span import Span
from gateway.tracing.journey import Journey, Kin, Late
from gateway.tracing.spans import late
from gateway.tracing.spans import spans as spans_of
from gateway.types import Reuse
from tests.answering import in_turn, says
from tests.dialects import before, refused
from tests.plugin import REPORT, engine, in_front
from tests.refine.rigs import ANSWER, RATE, both, reads
from tests.rig import (
    Script,
    answers,
    chunk,
    completion,
    delta,
    gateway,
    raw_answer,
    regex,
    rule,
    stream_head,
    until,
    upstream,
)
from tests.tracing.receiver import CLIENT, INTERNAL, SERVER, Told, receiver, the, tree
from tests.tracing.rigs import BAD, EVERYWHERE, GOOD, REWIND, reading, rewound, traced
from tests.verifier import PASS, flags, slow, verifier

streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
LONG = " ".join(f"paragraph {n} of the manual, word for word." for n in range(300))
SECRET = "xyzzy-what-a-client-wrote"


def named(surface: str) -> str:
    """What an exchange is called whose model the configuration does not name."""
    return "text_completion" if surface == "completions" else "chat"


async def test_an_exchange_leaves_a_span_and_one_for_each_of_its_stages(tmp_path: Path) -> None:
    async with receiver() as gatherer:
        script, tracing = says("all ", "fine"), {"endpoint": gatherer.url}
        async with before(tmp_path, script, tracing=tracing) as (sdks, _):
            for number, (surface, stream) in enumerate(EVERYWHERE):
                await sdks.ask(surface, stream, extra_headers={"x-retrace-session": "s"})
                spans, name = await gatherer.trace(number), named(surface)
                told = tree(spans)
                assert told == [name, ".admit", ".judge", ".open", f"..{name}", ".relay"], (surface, stream)
                _check_root(spans[0], surface, stream)
                _check_stages(spans)
    assert gatherer.resources[0]["service.name"] == "retrace-gateway"


def _check_root(root: Told, surface: str, stream: bool) -> None:
    facts = root.facts
    expected = {
        "gen_ai.operation.name": named(surface),
        "gen_ai.provider.name": "vllm",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.response.finish_reasons": ["stop"],
        "http.response.status_code": 200,
        "retrace.surface": surface,
        "retrace.tenant": "default",
        "retrace.backend": "up",
        "retrace.verdict": "allow",
        "retrace.reason_codes": [],
        "retrace.attempts": 1,
        "retrace.reasoning_intent": "answer",
    }
    assert {name: facts.get(name) for name in expected} == expected, (surface, stream)
    assert (root.kind, root.parent, root.error) == (SERVER, "", "")
    assert root.events == (["first_token"] if stream else [])
    assert ("gen_ai.response.time_to_first_chunk" in facts) is stream
    assert facts["retrace.exchange"].startswith("rt-")
    assert facts["gen_ai.conversation.id"] == facts["retrace.session"] != "s"
    assert abs(root.end / 1e9 - time.time()) < 600


def _check_stages(spans: list[Told]) -> None:
    root, (call,) = spans[0], [span for span in spans if span.kind == CLIENT]
    assert (call.facts["server.address"], call.facts["http.response.status_code"]) == ("127.0.0.1", 200)
    assert call.facts["retrace.attempt"] == 1
    assert all(span.kind == INTERNAL for span in spans if span not in (root, call))
    assert all(root.start <= span.start <= span.end <= root.end for span in spans)


async def test_a_rewind_tells_where_it_was_cut_and_why(tmp_path: Path) -> None:
    async with (
        receiver() as gatherer,
        before(tmp_path, rewound, [REWIND], tracing={"endpoint": gatherer.url}) as (sdks, _),
    ):
        for number, (surface, stream) in enumerate(EVERYWHERE):
            await sdks.ask(surface, stream, "说说")
            spans, name = await gatherer.trace(number), named(surface)
            first = [name, ".admit", ".judge", ".open", f"..{name}", ".relay"]
            assert tree(spans) == [*first, "..rewind", "...open", f"....{name}"], (surface, stream)
            facts, whole = the(spans, "rewind").facts, spans[0].facts
            assert (facts["retrace.reason_code"], facts["retrace.rule"]) == ("R101", "output.regex")
            assert (facts["retrace.anchor"], facts["retrace.attempt"]) == ("word", 2)
            assert whole["retrace.wasted_tokens"] == facts["retrace.wasted_tokens"] >= 1
            assert (whole["retrace.verdict"], whole["retrace.reason_codes"]) == ("rewind", ["R101"])
            assert (whole["retrace.attempts"], whole["retrace.anchors"]) == (2, ["word"])


@streamed
async def test_a_second_reading_is_told_tier_by_tier(tmp_path: Path, stream: bool) -> None:
    async with receiver() as gatherer:
        script = both(says(ANSWER), reads(RATE))
        async with reading(tmp_path, script, gatherer) as (running, _):
            async with await running.chat("What is the rate?", stream=stream) as response:
                await response.read()
            spans = await gatherer.trace()
    told = tree(spans)
    review = next(line for line in told if line.endswith("review"))
    below = told[told.index(review) + 1 :]
    assert [line.lstrip(".") for line in below] == ["tier", "read", "chat"]
    tier, read, facts = the(spans, "tier").facts, the(spans, "read").facts, the(spans, "review").facts
    assert (tier["retrace.tier"], tier["retrace.decision"], tier["retrace.why"]) == ("business", "force", "always")
    assert (facts["retrace.outcome"], facts["retrace.corrections"]) == ("corrected", 1)
    assert {span.facts["retrace.reasoning_intent"] for span in spans if span.name in ("tier", "read", "review")} == {
        "refine"
    }
    assert read["retrace.backend"] == "up"
    assert spans[0].facts["retrace.refined"] == ["corrected"]


@streamed
async def test_rules_that_take_their_time_are_told_on_both_sides(tmp_path: Path, stream: bool) -> None:
    async with verifier(lambda _: PASS) as (url, asked), receiver() as gatherer:
        rules = [slow(url), slow(url, side="output", id="output.external")]
        async with before(tmp_path, says("fine"), rules, tracing={"endpoint": gatherer.url}) as (sdks, _):
            await sdks.ask("chat", stream)
            spans = await gatherer.trace()
    told = [line for line in tree(spans) if line.lstrip(".") in ("hear", "close", "probe")]
    assert [line.lstrip(".") for line in told] == ["hear", "probe", "close", "probe"]
    probes = [span for span in spans if span.name == "probe"]
    assert {span.facts["retrace.rule"] for span in probes} == {"input.external", "output.external"}
    assert {span.facts["retrace.said"] for span in probes} == {"pass"}
    assert {span.facts["retrace.reasoning_intent"] for span in probes} == {"probe"}
    assert {span.kind for span in probes} == {CLIENT}
    parents = {found.span for seen in asked.calls if (found := caller(seen.headers))}
    assert parents == {int(span.id, 16) for span in probes}


async def test_what_an_engine_gave_back_comes_late_to_the_same_trace(tmp_path: Path) -> None:
    async with receiver() as gatherer, engine(answers(completion("fine"))) as (url, _, plugin):
        fields: dict[str, Any] = {"retrace": {"capture": "all"}, "tracing": {"endpoint": gatherer.url}}
        async with in_front(tmp_path, [url], [], **fields) as running:
            plugin.report = {**REPORT, "captured_tokens": 640, "injected_tokens": 512, "mode": "prefix"}
            await running.chat(LONG)
            first = await gatherer.trace(late="reuse")
            await running.chat(LONG)
            second = await gatherer.trace(1, late="reuse")
    assert tree(first)[:6] == ["chat", ".admit", ".judge", ".open", "..plan", "..chat"]
    facts = the(first, "reuse").facts
    assert the(first, "reuse").parent == first[0].id
    assert (facts["retrace.capture_verdict"], facts["retrace.reason"]) == ("kept", "accepted")
    assert (facts["retrace.captured_tokens"], facts["retrace.injected_tokens"]) == (640, 512)
    settled = the(first, "settle").facts
    assert (settled["retrace.reason"], settled["retrace.kept"]) == ("accepted", True)
    planned = the(second, "plan").facts
    assert planned["retrace.donor"] == facts["retrace.capture"]
    assert planned["retrace.expected_tokens"] > 50
    assert the(second, "reuse").facts["retrace.donor"] == facts["retrace.capture"]


async def test_the_answer_s_own_report_is_counted_on_the_exchange(tmp_path: Path) -> None:
    """A draft that is rewound is settled while its exchange goes on: what the engine says then is of the whole."""
    late = in_turn(BAD, _after(0.3, GOOD))
    async with receiver() as gatherer, engine(late) as (url, _, plugin):
        fields: dict[str, Any] = {"tracing": {"endpoint": gatherer.url}}
        async with in_front(tmp_path, [url], [REWIND], **fields) as running:
            plugin.report = {**REPORT, "injected_tokens": 64, "mode": "prefix"}
            async with await running.chat("说说", stream=True) as response:
                await response.read()
            spans = await gatherer.trace()
    assert spans[0].facts["retrace.injected_tokens"] == 64


def _after(seconds: float, script: Script) -> Script:
    async def late(seen: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await script(seen, writer)

    return late


@streamed
async def test_calls_and_thoughts_are_told_by_their_names_alone(tmp_path: Path, stream: bool) -> None:
    script = says(thinks=SECRET, calls=[("call_1", "lookup", f'{{"q":"{SECRET}"}}')], finish="tool_calls")
    async with traced(tmp_path, script) as (running, gatherer):
        async with await running.chat(SECRET, stream=stream) as response:
            await response.read()
        spans = await gatherer.trace()
        assert spans[0].facts["retrace.tool_call_id"] == ["call_1"]
        assert spans[0].facts["retrace.reasoning_intent"] == "tool_call"
        assert SECRET.encode() not in b"".join(gatherer.bodies)


async def test_no_word_of_anybody_s_is_in_any_trace(tmp_path: Path) -> None:
    """Not in what is found, not in what is cut away, not in names of models that nobody serves, not in sessions."""
    rules = [
        regex(SECRET, action="mask", side="input"),
        {**regex("稳赚", action="rewind"), "id": "output.gains"},
        rule({"type": "words", "words": [SECRET]}, action="tag"),
    ]
    async with traced(tmp_path, in_turn(BAD, says(f"收益 {SECRET}")), rules) as (running, gatherer):
        sent = {"x-retrace-session": SECRET, "x-request-id": SECRET}
        async with await running.chat(f"tell {SECRET}", stream=True, headers=sent) as response:
            await response.read()
        await gatherer.trace()
        await running.chat(model=f"{SECRET}\x00", headers={"x-retrace-explain": SECRET})
        await running.http.get(f"{running.url}/v1/models?{SECRET}")
        await running.http.post(f"{running.url}/v1/chat/completions", data=SECRET)
        await until(lambda: len(gatherer.roots) == 4, 5)
        assert SECRET.encode() not in b"".join(gatherer.bodies)


async def test_a_model_that_is_refused_is_not_named(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(b'{"error": {"message": "no such model"}}', 404)) as (running, gatherer):
        await running.chat(model=SECRET)
        (root, *_) = await gatherer.trace()
    assert "gen_ai.request.model" not in root.facts
    assert root.facts["http.response.status_code"] == 404


async def test_a_model_that_the_configuration_names_stands_in_the_span_s_name(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(completion("fine")), backend={"models": ["m", "other-*"]}) as (
        running,
        gatherer,
    ):
        await running.chat()
        await running.chat(model="other-1")
        await until(lambda: len(gatherer.roots) == 2, 5)
    assert [root.name for root in gatherer.roots] == ["chat m", "chat"]


# What goes wrong.


async def test_a_block_is_no_error_and_says_its_reason(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(completion("fine")), [regex("bomb", side="input")]) as (running, gatherer):
        await running.chat("a bomb")
        spans = await gatherer.trace()
    assert tree(spans) == ["chat", ".admit", ".judge"]
    assert {span.error for span in spans} == {""}
    assert the(spans, "judge").facts["error.type"] == "content_filter"
    facts = spans[0].facts
    assert (facts["http.response.status_code"], facts["retrace.verdict"]) == (400, "block")
    assert facts["retrace.reason_codes"] == ["R101"]


async def test_a_replica_that_is_gone_is_told_with_the_one_that_served(tmp_path: Path) -> None:
    gone = "http://127.0.0.1:9"
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, _):
        fields: dict[str, Any] = {"tracing": {"endpoint": gatherer.url}, "backend": {"health_seconds": 60}}
        async with gateway(tmp_path, [gone, url], **fields) as running:
            for _ in range(2):  # one of them is first asked of the replica that is gone, unless that is known already
                await running.chat()
            await until(lambda: len(gatherer.roots) == 2, 5)
    calls = [span for span in gatherer.spans if span.kind == CLIENT]
    faults = {span.facts.get("error.type", "") for span in calls}
    assert faults <= {"", "unreachable"}
    assert {root.error for root in gatherer.roots} == {""}


async def test_a_fault_of_the_upstream_is_the_error_of_the_exchange(tmp_path: Path) -> None:
    async with traced(tmp_path, raw_answer(b"")) as (running, gatherer):
        async with await running.chat() as response:
            assert response.status == 502
        spans = await gatherer.trace()
    assert (spans[0].error, spans[0].facts["error.type"]) == ("broken_off", "broken_off")
    assert spans[0].facts["http.response.status_code"] == 502


async def test_a_stream_that_breaks_off_is_an_error_whatever_its_status(tmp_path: Path) -> None:
    async with receiver() as gatherer:

        async def torn(_seen: Any, writer: asyncio.StreamWriter) -> None:
            writer.write(stream_head() + chunk(delta("never ")))
            await writer.drain()
            writer.close()

        async with before(tmp_path, torn, tracing={"endpoint": gatherer.url}) as (sdks, _):
            with refused():
                await sdks.ask("chat", True)
            spans = await gatherer.trace()
    assert spans[0].facts["http.response.status_code"] == 200
    assert spans[0].error == the(spans, "relay").error == "broken_off"


async def test_a_probe_that_fails_says_how(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(completion("fine")), [slow("http://127.0.0.1:9/v", on_error="allow")]) as (
        running,
        gatherer,
    ):
        await running.chat()
        spans = await gatherer.trace()
    assert the(spans, "probe").error == "unreachable"
    assert spans[0].error == ""


async def test_a_slow_rule_that_blocks_ends_the_call_beside_it(tmp_path: Path) -> None:
    async with (
        verifier(flags("secret")) as (url, _),
        receiver() as gatherer,
        upstream(_hangs) as (up, _),
        gateway(tmp_path, [up], [slow(url)], tracing={"endpoint": gatherer.url}) as running,
    ):
        await running.chat("the secret")
        spans = await gatherer.trace()
    assert (the(spans, "probe").facts["retrace.said"], spans[0].facts["retrace.verdict"]) == ("flag", "block")
    assert [span.error for span in spans] == [""] * len(spans)


async def _hangs(_seen: Any, _writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


# What only a journey put together by hand can show.


def passed(*marks: Mark, trace: Trace | None = None, **fields: Any) -> list[Span]:
    """The spans of a chat that took a second."""
    trace = trace or Trace()
    trace.marks += marks
    return spans_of(Journey(trace, 1.0, 2.0, 100.0, None, "chat", 200, "up", "r", Kin("vllm", True))._replace(**fields))


def mark(name: str, number: int, parent: int, **facts: Any) -> Mark:
    return Mark(name, 1.2, 1.4, number, parent, facts)


def test_times_are_nanoseconds_since_1970() -> None:
    root, judge = passed(mark("judge", 2, 1))
    assert (root.start, root.end) == (101_000_000_000, 102_000_000_000)
    assert (judge.start, judge.end) == (101_200_000_000, 101_400_000_000)


def test_a_stage_whose_parent_was_lost_belongs_to_the_exchange() -> None:
    root, stage = passed(mark("call", 2, 77))
    assert stage.parent == root.id


def test_the_intent_of_a_stage_is_that_of_what_it_is_part_of() -> None:
    made = passed(mark("review", 2, 0), mark("read", 3, 2), mark("call", 4, 3), mark("call", 5, 0))
    about = {span.id: span.attributes["retrace.reasoning_intent"] for span in made[1:]}
    assert [about[number] for number in (2, 3, 4, 5)] == ["refine", "refine", "refine", "answer"]


@pytest.mark.parametrize(
    ("scores", "sums", "expected"),
    [
        ([0.9, 0.25], {"nats": 1.0, "tokens": 2.0}, 0.25),  # the classifier is heard first; of several the least sure
        ([], {"nats": 1.0, "tokens": 2.0}, math.exp(-0.5)),
        ([], {"nats": 0.0, "tokens": 0.0}, None),
        ([], {}, None),
    ],
)
def test_how_sure_of_an_answer_somebody_was(scores: list[float], sums: dict[str, float], expected: float) -> None:
    trace = Trace()
    trace.sums = sums
    told = [mark("tier", n + 2, 0, confidence_score=score) for n, score in enumerate(scores)]
    root, *_ = passed(*told, trace=trace, exchange="rt-1")
    assert root.attributes.get("retrace.confidence_score") == (pytest.approx(expected) if expected else None)


def test_what_was_lost_of_a_trace_is_told() -> None:
    trace = Trace()
    trace.lost = 3
    root, *_ = passed(trace=trace, exchange="rt-1")
    assert root.attributes["retrace.marks_lost"] == 3


def test_what_an_engine_says_late_stands_by_itself() -> None:
    span = late(Late(7, 8, "a=1", Reuse("rt-1", "c", "http://r", "kept", "R101", injected=5, declined="moved"), 3.0))
    assert (span.trace, span.parent, span.start, span.end) == (7, 8, 3_000_000_000, 3_000_000_000)
    assert (span.attributes["retrace.injected_tokens"], span.attributes["retrace.declined"]) == (5, "moved")
    assert "retrace.donor" not in span.attributes


async def test_log_probabilities_that_are_followed_make_a_confidence(tmp_path: Path) -> None:
    logprobs = {"content": [{"token": "fine", "logprob": -0.5, "top_logprobs": []}]}
    script = answers(orjson.dumps(_with(logprobs)))
    rules = [rule({"type": "entropy"}, action="monitor")]
    async with traced(tmp_path, script, rules) as (running, gatherer):
        await running.chat()
        (root, *_) = await gatherer.trace()
    assert root.facts["retrace.confidence_score"] == pytest.approx(math.exp(-0.5))


def _with(logprobs: dict[str, Any]) -> Any:
    told = orjson.loads(completion("fine"))
    told["choices"][0]["logprobs"] = logprobs
    return told
