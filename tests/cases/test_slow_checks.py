"""Cases on checks that take their time: beside the prefill on the way in, before anything leaves on the way out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.rules import Rule
from gateway.surfaces import sse
from tests.answering import says
from tests.dialects import FILTERED, SURFACES, TALKING, before, refused
from tests.plugin import asked, engine, in_front, settled
from tests.refine.rigs import ANSWER, RATE, after, both, reads, refining
from tests.rig import (
    CHAT,
    answers,
    chat_stream,
    chunk,
    completion,
    delta,
    gateway,
    payloads,
    quiet,
    raw_answer,
    regex,
    said,
    shaped,
    silent,
    stream_head,
    streams,
    until,
    upstream,
)
from tests.verifier import FLAG, PASS, flags, slow, verifier

surfaces = pytest.mark.parametrize("surface", SURFACES)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
BAD = pytest.mark.parametrize(("asks", "told"), [("tell me the secret", "Not this."), ("说出秘密", "此内容不可。")])
SECRETS = flags("secret", "秘密")


# On the way in.


@streamed
@surfaces
@BAD
async def test_a_request_that_a_service_rejects_is_refused_like_any(
    tmp_path: Path, surface: str, stream: bool, asks: str, told: str
) -> None:
    async with verifier(SECRETS) as (url, service), before(tmp_path, silent, [slow(url)]) as (sdks, up):
        with refused() as caught:
            await sdks.ask(surface, stream, asks)
        assert caught[0].status == 400
        assert caught[0].message == f"[R101] {told}"
        assert caught[0].reason == "R101"
        await until(lambda: all(call.closed.is_set() for call in up.calls))
        assert service.seen[0].json["text"] == asks


@streamed
@surfaces
async def test_nothing_leaves_before_the_verdict_and_then_all_of_it(tmp_path: Path, surface: str, stream: bool) -> None:
    async with (
        verifier(SECRETS, 0.1) as (url, service),
        before(tmp_path, says("好", " then"), [slow(url)]) as (sdks, up),
    ):
        work = asyncio.ensure_future(sdks.ask(surface, stream, "天气如何"))
        await until(lambda: up.calls and service.seen)  # the call is out while the service thinks
        assert sdks.heads == []
        assert (await work).text == "好 then"
        assert sdks.head["x-retrace-verdict"] == "allow"


@pytest.mark.parametrize("keep_alive", [None, 0.02])
async def test_a_rejected_request_says_nothing_of_an_answer_that_was_there_first(
    tmp_path: Path, keep_alive: float | None
) -> None:
    limits = {"keep_alive_seconds": keep_alive}
    script = streams(chat_stream("the ", "answer"))
    async with (
        verifier(SECRETS, 0.1) as (url, _),
        upstream(script) as (there, up),
        gateway(tmp_path, [there], [slow(url)], limits=limits) as running,
    ):
        async with await running.chat("秘密", stream=True) as response:
            body = await response.read()
        told = await running.metrics()
        await quiet(running)
    assert len(up.calls) == 1
    assert b"answer" not in body
    if keep_alive:
        assert response.status == 200
        assert body.startswith(b": keep-alive")
        error = payloads(body.replace(sse.KEEP_ALIVE, b""))[-1]["error"]
    else:
        assert response.status == 400
        assert response.headers["x-retrace-reason"] == "R101"
        assert response.headers["x-should-retry"] == "false"
        error = shaped(body)
    assert (error["code"], error["retrace"]) == ("content_filter", {"reason": "R101", "rule": "input.external"})
    assert told['retrace_verdicts_total{action="block",reason="R101",rule="input.external",side="input"}'] == 1
    assert told['retrace_probes_total{rule="input.external",said="flag"}'] == 1


@streamed
async def test_what_the_engine_has_computed_of_it_is_kept_under_the_reason(tmp_path: Path, stream: bool) -> None:
    for number, script in enumerate(
        (silent, streams(chat_stream("one ", "two")) if stream else answers(completion("one two")))
    ):
        folder = tmp_path / str(number)  # the other service is another rule, and this is not to be a changed one
        folder.mkdir()
        async with (
            verifier(SECRETS, 0.05) as (url, _),
            engine(script) as (there, up, plugin),
            in_front(folder, [there], [slow(url)]) as running,
        ):
            assert (await running.chat("the secret", stream=stream)).status == 400
            ((method, body),) = await settled(up, plugin)
            assert (method, body["reason"]) == ("POST", "R101")
            await quiet(running)
        assert asked(up.calls[0])


@pytest.mark.parametrize("asks", ["秘密", "天气"])
@pytest.mark.parametrize("delay", [0.0, 0.05])
async def test_a_refusal_goes_before_whatever_went_wrong_upstream(tmp_path: Path, asks: str, delay: float) -> None:
    async with (
        verifier(SECRETS, delay) as (url, _),
        upstream(after(0.02, raw_answer(b""))) as (there, _),
        gateway(tmp_path, [there], [slow(url)], backend={"retries": 0}) as running,
    ):
        response = await running.chat(asks)
        assert response.status == (400 if asks == "秘密" else 502)
        told = await running.metrics()
        if delay or asks == "天气":
            assert told['retrace_upstream_errors_total{backend="up",kind="broken_off"}'] == 1
        await quiet(running)


@pytest.mark.parametrize(("on_error", "status"), [("block", 503), ("tag", 200), ("allow", 200)])
async def test_a_service_that_cannot_say_is_a_broken_guard(tmp_path: Path, on_error: str, status: int) -> None:
    rules = [slow("http://127.0.0.1:9/verify", on_error=on_error)]
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url], rules) as running:
        response = await running.chat("hi")
        told = await running.metrics()
        await quiet(running)
    assert response.status == status
    assert response.headers["x-retrace-verdict"] == {"block": "block", "tag": "tag", "allow": "allow"}[on_error]
    assert response.headers.get("x-retrace-reason") == (None if on_error == "allow" else "R900")
    assert told['retrace_guard_broken_total{rule="input.external"}'] == 1


async def test_a_tag_is_told_in_the_head(tmp_path: Path) -> None:
    async with verifier(SECRETS) as (url, _), before(tmp_path, says("ok"), [slow(url, "tag")]) as (sdks, _):
        assert (await sdks.ask("chat", True, "秘密")).text == "ok"
        assert (sdks.head["x-retrace-verdict"], sdks.head["x-retrace-reason"]) == ("tag", "R101")


async def test_a_fast_rule_goes_first_and_nobody_is_asked(tmp_path: Path) -> None:
    rules = [slow("http://127.0.0.1:9/"), regex("bad", side="input", reason="R201")]
    async with before(tmp_path, says("x"), rules) as (sdks, up):
        with refused() as told:
            await sdks.ask("chat", False, "a bad word")
        assert told[0].reason == "R201"
        assert up.calls == []


async def test_a_service_reads_what_fast_rules_have_masked(tmp_path: Path) -> None:
    masks = regex("[0-9]{4}", action="mask", side="input")
    async with verifier(lambda _: PASS) as (url, service), before(tmp_path, says("x"), [masks, slow(url)]) as (sdks, _):
        await sdks.ask("messages", True, "卡号 4111")
    assert service.seen[0].json["text"] == "卡号 ***"


async def test_a_client_that_leaves_meanwhile_ends_both(tmp_path: Path) -> None:
    async with (
        upstream(silent) as (url, service),
        upstream(silent) as (there, up),
        gateway(tmp_path, [there], [slow(url)]) as running,
    ):
        work = asyncio.ensure_future(running.chat("hi"))
        await until(lambda: up.calls and service.calls)
        work.cancel()
        await until(lambda: up.calls[0].closed.is_set() and service.calls[0].closed.is_set())
        await quiet(running)


# On the way out.


@streamed
@surfaces
@pytest.mark.parametrize("text", ["It is a secret plan", "这是一个秘密计划"])
async def test_an_answer_that_a_service_rejects_says_nothing(
    tmp_path: Path, surface: str, stream: bool, text: str
) -> None:
    script = says(*(text[n : n + 3] for n in range(0, len(text), 3)))
    async with (
        verifier(SECRETS) as (url, service),
        before(tmp_path, script, [slow(url, side="output")]) as (sdks, _),
    ):
        told = await sdks.ask(surface, stream)
        assert (told.text, told.finish) == ("", FILTERED[surface])
        assert sdks.head["x-retrace-delivery"] == "hold"
        if not stream:
            assert (sdks.head["x-retrace-verdict"], sdks.head["x-retrace-reason"]) == ("block", "R101")
    assert [seen.json["text"] for seen in service.seen] == [text]
    assert (service.seen[0].json["side"], service.seen[0].json["role"]) == ("output", "assistant")


@streamed
@surfaces
@pytest.mark.parametrize("action", ["block", "tag", "monitor"])
async def test_an_answer_that_passes_is_what_the_model_said(
    tmp_path: Path, surface: str, stream: bool, action: str
) -> None:
    async with verifier(SECRETS if action == "block" else lambda _: FLAG) as (url, _):
        rules = [slow(url, action, "output")]
        async with before(tmp_path, says("一切", " is ", "well"), rules) as (sdks, _):
            told = await sdks.ask(surface, stream)
            assert (told.text, told.used) == ("一切 is well", (7, 5))
            verdict = "tag" if action == "tag" and not stream else "allow"
            assert sdks.head["x-retrace-verdict"] == verdict
            counted = await sdks.running.metrics()
        if action != "block":
            name = f'retrace_verdicts_total{{action="{action}",reason="R101",rule="output.external",side="output"}}'
            assert counted[name] == 1


async def test_a_stream_is_held_and_kept_alive_until_it_was_heard(tmp_path: Path) -> None:
    async with verifier(SECRETS, 0.1) as (url, _):
        fields = {"limits": {"keep_alive_seconds": 0.02}}
        async with before(tmp_path, says("all ", "well"), [slow(url, side="output")], **fields) as (sdks, _):
            body = await sdks.running.ask("/v1/chat/completions", {**CHAT, "stream": True})
    assert body.startswith(b": keep-alive")
    assert body.rindex(b": keep-alive") < body.index(b"all ")
    assert said(body.replace(sse.KEEP_ALIVE, b"")) == "all well"


@streamed
@pytest.mark.parametrize("surface", TALKING)
async def test_neither_calls_nor_words_of_a_rejected_answer_leave(tmp_path: Path, surface: str, stream: bool) -> None:
    script = says("a secret ", calls=[("call_1", "send", '{"to": "everyone"}')], finish="tool_calls")
    async with verifier(SECRETS) as (url, _), before(tmp_path, script, [slow(url, side="output")]) as (sdks, _):
        if stream:
            told = await sdks.ask(surface, stream)
            assert (told.text, told.finish, told.calls) == ("", FILTERED[surface], ())
        bodies = {"responses": {"model": "m", "input": "hi"}, "messages": {**CHAT, "max_tokens": 9}}
        path = {"chat": "chat/completions"}.get(surface, surface)
        got = await sdks.running.ask(f"/v1/{path}", {**bodies.get(surface, CHAT), "stream": stream})
        assert b"everyone" not in got
        assert b"secret" not in got


@streamed
async def test_what_a_fast_rule_let_leave_before_it_halted_is_heard_too(tmp_path: Path, stream: bool) -> None:
    rules = [regex("deadly", reason="R307")]
    for decide, left in ((SECRETS, ""), (lambda _: PASS, "a secret and ")):
        async with verifier(decide) as (url, service):
            both_rules = [*rules, slow(url, side="output")]
            async with before(tmp_path, says("a secret ", "and ", "deadly ", "end"), both_rules) as (sdks, _):
                told = await sdks.ask("chat", stream)
                assert (told.text.rstrip(), told.finish) == (left.rstrip(), "content_filter")
            assert service.seen[0].json["text"].rstrip() == "a secret and"


async def test_each_choice_is_heard_by_itself(tmp_path: Path) -> None:
    events = [delta("the secret", 0), delta("the weather", 1), delta(finish="stop"), delta(finish="stop", index=1)]
    async with (
        verifier(SECRETS) as (url, _),
        upstream(streams([*events, b"data: [DONE]\n\n"])) as (there, _),
        gateway(tmp_path, [there], [slow(url, side="output")]) as running,
    ):
        body = await running.ask("/v1/chat/completions", {**CHAT, "stream": True, "n": 2})
    assert (said(body, 0), said(body, 1)) == ("", "the weather")
    ends = {c["index"]: c["finish_reason"] for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]}
    assert ends == {0: "content_filter", 1: "stop"}


@pytest.mark.parametrize("text", ["the secret ", "the weather "])
async def test_of_a_torn_answer_nothing_passes_unheard(tmp_path: Path, text: str) -> None:
    torn = raw_answer(stream_head() + chunk(delta(text)))
    async with (
        verifier(SECRETS) as (url, _),
        upstream(torn) as (there, _),
        gateway(tmp_path, [there], [slow(url, side="output")]) as running,
    ):
        async with await running.chat(stream=True) as response:
            body = await response.read()
        await quiet(running)
    assert said(body) == ("" if "secret" in text else text)
    assert payloads(body)[-1]["error"]["code"] == "upstream_error"


@streamed
@pytest.mark.parametrize("on_error", ["block", "tag", "allow"])
async def test_a_service_that_is_gone_at_the_end(tmp_path: Path, on_error: str, stream: bool) -> None:
    rules = [slow("http://127.0.0.1:9/", side="output", on_error=on_error)]
    async with before(tmp_path, says("all ", "well"), rules) as (sdks, _):
        told = await sdks.ask("chat", stream)
    assert (told.text, told.finish) == (("", "content_filter") if on_error == "block" else ("all well", "stop"))


@streamed
async def test_a_service_may_have_an_answer_read_once_more(tmp_path: Path, stream: bool) -> None:
    async with verifier(lambda _: FLAG) as (url, _):
        rules = [slow(url, "refine", "output")]
        script = says(*(ANSWER[n : n + 9] for n in range(0, len(ANSWER), 9)))
        async with refining(tmp_path, both(script, reads(RATE)), rules, tiers=[], delivery="hold") as (
            running,
            readings,
        ):
            body = await running.ask("/v1/chat/completions", {**CHAT, "stream": stream})
            assert len(readings()) == 1
    assert b"5.75 percent" in body


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"action": "mask"}, "may be monitor, tag, refine or block"),
        ({"action": "rewind", "side": "output"}, "may be monitor, tag, refine or block"),
        ({"respond": "answer"}, "`respond: answer` is for checks that do not"),
        ({"side": "output", "when": {"role": "tool_call"}}, "reads answers only"),
    ],
)
def test_what_cannot_be_done_in_time_is_refused_at_load(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Rule.model_validate({**slow("http://h/"), **fields})
