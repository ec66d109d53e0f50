"""The official OpenAI client, as it comes, with nothing changed but its base_url."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import orjson
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from tests.cases.test_fail_mode import failing, put
from tests.rig import (
    DONE,
    RawUpstream,
    Running,
    Script,
    Seen,
    answers,
    chat_stream,
    chunk,
    completion,
    delta,
    event,
    gateway,
    quiet,
    raw_answer,
    regex,
    stream_head,
    streams,
    text_stream,
    upstream,
    usage_event,
)

HI: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hi"}]
BAD: list[ChatCompletionMessageParam] = [{"role": "user", "content": "the bad word"}]
GUARD = [regex("bad word", side="input"), regex("secret word", id="out"), regex("private", id="mask", action="mask")]


@asynccontextmanager
async def client(
    folder: Path, script: Script, rules: list[dict[str, Any]] | None = None, **fields: Any
) -> AsyncIterator[tuple[openai.AsyncOpenAI, RawUpstream, Running]]:
    async with (
        upstream(script) as (url, up),
        gateway(folder, [url], GUARD if rules is None else rules, **fields) as running,
        openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="sk-any") as sdk,
    ):
        yield sdk, up, running
        await quiet(running)


async def requests(running: Running) -> float:
    """How many requests the gateway has answered."""
    told = await running.metrics()
    return sum(value for name, value in told.items() if name.startswith("retrace_requests_total"))


async def test_an_answer_in_one_piece(tmp_path: Path) -> None:
    async with client(tmp_path, answers(completion("hello private you"))) as (sdk, up, _):
        answer = await sdk.chat.completions.create(model="m", messages=HI, temperature=0.5, seed=7)
        assert answer.choices[0].message.content == "hello *** you"
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage is not None
        assert answer.usage.total_tokens == 12
        assert up.calls[0].json == {"model": "m", "messages": HI, "temperature": 0.5, "seed": 7}


async def test_raw_headers_say_what_the_rules_said(tmp_path: Path) -> None:
    async with client(tmp_path, answers(completion("hello private"))) as (sdk, _, _r):
        raw = await sdk.chat.completions.with_raw_response.create(model="m", messages=HI)
        assert raw.headers["x-retrace-verdict"] == "mask"
        assert raw.headers["x-retrace-reason"] == "R101"
        assert raw.headers["x-retrace-id"].startswith("rt-")
        assert raw.headers["x-request-id"] == raw.headers["x-retrace-id"]
        assert raw.parse().choices[0].message.content == "hello ***"


@pytest.mark.parametrize("usage", [True, False])
async def test_a_stream(tmp_path: Path, usage: bool) -> None:
    async with client(tmp_path, streams(chat_stream("hel", "lo priv", "ate you"))) as (sdk, _, _r):
        options: Any = {"stream_options": {"include_usage": True}} if usage else {}
        parts = [p async for p in await sdk.chat.completions.create(model="m", messages=HI, stream=True, **options)]
        assert "".join(p.choices[0].delta.content or "" for p in parts if p.choices) == "hello *** you"
        assert [p.choices[0].finish_reason for p in parts if p.choices][-1] == "stop"
        assert [p.usage.total_tokens for p in parts if p.usage] == ([12] if usage else [])


async def test_the_streaming_helper_and_two_choices(tmp_path: Path) -> None:
    events = [delta("a", 0), delta("b", 1), delta(" one", 0), delta(" secret word two", 1)]
    events += [delta(None, 0, "stop"), delta(None, 1, "stop"), usage_event(), DONE]
    async with client(tmp_path, streams(events)) as (sdk, _, _r):
        async with sdk.chat.completions.stream(model="m", messages=HI, n=2) as stream:
            await stream.until_done()
            final = stream.current_completion_snapshot
        assert [choice.message.content for choice in final.choices] == ["a one", "b "]
        assert [choice.finish_reason for choice in final.choices] == ["stop", "content_filter"]


TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {"name": "mail", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}},
}


async def test_tool_calls_streamed_and_whole(tmp_path: Path) -> None:
    def call(**function: Any) -> bytes:
        return delta(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}])

    events = [call(name="mail", arguments=""), call(arguments='{"to": "a pri'), call(arguments='vate man"}')]
    whole = {"id": "call_1", "type": "function", "function": {"name": "mail", "arguments": '{"to": "private"}'}}

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.json.get("stream"):
            await streams([*events, delta(finish="tool_calls"), DONE])(seen, writer)
        else:
            await answers(completion("", tool_calls=[whole]))(seen, writer)

    async with client(tmp_path, script) as (sdk, up, _):
        async with sdk.chat.completions.stream(model="m", messages=HI, tools=[TOOL]) as stream:
            message = (await stream.get_final_completion()).choices[0]
        assert message.finish_reason == "tool_calls"
        assert message.message.tool_calls is not None
        made: Any = message.message.tool_calls[0]
        assert orjson.loads(made.function.arguments) == {"to": "a *** man"}
        answer = await sdk.chat.completions.create(model="m", messages=HI, tools=[TOOL])
        calls: Any = answer.choices[0].message.tool_calls
        assert orjson.loads(calls[0].function.arguments) == {"to": "***"}
        assert up.calls[-1].json["tools"] == [TOOL]


async def test_logprobs_pass_through(tmp_path: Path) -> None:
    entry = {"token": "hi", "logprob": -0.5, "bytes": [104, 105], "top_logprobs": []}
    told = {"content": [entry], "refusal": None}
    events = [event([{"index": 0, "delta": {"content": "hi"}, "logprobs": told, "finish_reason": None}])]
    async with client(tmp_path, streams([*events, delta(finish="stop"), DONE])) as (sdk, _, _r):
        stream = await sdk.chat.completions.create(model="m", messages=HI, stream=True, logprobs=True)
        parts = [part async for part in stream]
        assert parts[0].choices[0].logprobs is not None
        assert parts[0].choices[0].logprobs.model_dump() == told


async def test_completions_and_models_and_embeddings(tmp_path: Path) -> None:
    listed = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]}
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.path == "/v1/models":
            await answers(orjson.dumps(listed))(seen, writer)
        elif seen.path == "/v1/embeddings":
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            await answers(orjson.dumps({"object": "list", "data": [vector], "model": "m", "usage": usage}))(
                seen, writer
            )
        else:
            await streams(text_stream("hello ", "private"))(seen, writer)

    async with client(tmp_path, script) as (sdk, _, _r):
        assert [model.id async for model in sdk.models.list()] == ["m"]
        made = await sdk.embeddings.create(model="m", input="hi", encoding_format="float")
        assert made.data[0].embedding == [0.5, 0.25]
        stream = await sdk.completions.create(model="m", prompt="hi", stream=True)
        assert "".join([part.choices[0].text async for part in stream if part.choices]) == "hello ***"


@pytest.mark.parametrize("stream", [True, False])
async def test_a_blocked_prompt_is_a_bad_request_that_is_not_tried_again(tmp_path: Path, stream: bool) -> None:
    async with client(tmp_path, answers(completion("x"))) as (sdk, up, running):
        with pytest.raises(openai.BadRequestError) as caught:
            await sdk.chat.completions.create(model="m", messages=BAD, stream=stream)
        assert caught.value.code == "content_filter"
        assert caught.value.status_code == 400
        assert caught.value.param == "messages.0.content"
        assert "[R101] Not this." in str(caught.value)
        assert caught.value.request_id is not None
        assert up.calls == []
        assert await requests(running) == 1


async def test_a_broken_guard_is_not_tried_again_either(tmp_path: Path) -> None:
    async with client(tmp_path, answers(completion("x")), []) as (sdk, up, running):
        put(running, failing("crash", "block", "input"))
        with pytest.raises(openai.InternalServerError) as caught:
            await sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        assert caught.value.status_code == 503
        assert caught.value.code == "guard_unavailable"
        assert up.calls == []
        assert await requests(running) == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_a_blocked_answer_ends_as_the_content_filter(tmp_path: Path, stream: bool) -> None:
    script = (
        streams(chat_stream("it is a sec", "ret word", " you see")) if stream else answers(completion("a secret word"))
    )
    async with client(tmp_path, script) as (sdk, up, _):
        if stream:
            parts = [p async for p in await sdk.chat.completions.create(model="m", messages=HI, stream=True)]
            assert "".join(p.choices[0].delta.content or "" for p in parts) == "it is a "
            assert parts[-1].choices[0].finish_reason == "content_filter"
        else:
            answer = await sdk.chat.completions.create(model="m", messages=HI)
            assert answer.choices[0].message.content == "a "
            assert answer.choices[0].finish_reason == "content_filter"
        assert len(up.calls) == 1


async def test_a_canned_answer_raises_nothing(tmp_path: Path) -> None:
    rules = [regex("bad word", side="input", respond="answer")]
    async with client(tmp_path, answers(completion("x")), rules) as (sdk, up, _):
        answer = await sdk.chat.completions.create(model="m", messages=BAD)
        assert answer.choices[0].message.content == "Not this."
        parts = [part async for part in await sdk.chat.completions.create(model="m", messages=BAD, stream=True)]
        assert "".join(part.choices[0].delta.content or "" for part in parts) == "Not this."
        assert parts[-1].choices[0].finish_reason == "content_filter"
        assert up.calls == []


DEATHS: dict[str, Script] = {
    "cut in the body": raw_answer(stream_head(), chunk(delta("half ")), b""),
    "ends too early": streams([delta("half ")]),
    "garbage": streams([delta("half "), b"data: {{{\n\n"]),
    "says so itself": streams([delta("half "), b'data: {"error": {"message": "out of memory", "code": 500}}\n\n']),
    "silent": raw_answer(stream_head(), chunk(delta("half ")), hang=True),
}


@pytest.mark.parametrize("death", DEATHS)
async def test_an_upstream_that_dies_in_the_stream_raises(tmp_path: Path, death: str) -> None:
    backend = {"timeouts": {"idle": 0.2}}
    async with client(tmp_path, DEATHS[death], backend=backend) as (sdk, up, _):
        got: list[str | None] = []

        async def read() -> None:
            async for part in await sdk.chat.completions.create(model="m", messages=HI, stream=True):
                got.extend(choice.delta.content for choice in part.choices)

        with pytest.raises(openai.APIError) as caught:
            await read()
        assert got == ["half "]
        assert caught.value.message
        assert len(up.calls) == 1


async def test_a_dead_upstream_is_told_with_its_status(tmp_path: Path) -> None:
    async with client(tmp_path, raw_answer(b""), backend={"retries": 0}) as (sdk, _, _r):
        with pytest.raises(openai.InternalServerError) as caught:
            await sdk.with_options(max_retries=0).chat.completions.create(model="m", messages=HI)
        assert caught.value.status_code == 502
        assert caught.value.code == "upstream_error"


async def test_an_unguarded_surface_is_not_found(tmp_path: Path) -> None:
    async with client(tmp_path, answers(b"{}")) as (sdk, up, running):
        with pytest.raises(openai.NotFoundError) as caught:
            await sdk.images.generate(model="m", prompt="hi")
        assert caught.value.code == "surface_not_guarded"
        assert up.calls == []
        assert await requests(running) == 1


async def test_the_rate_limit_of_the_upstream_is_honoured_by_the_sdk(tmp_path: Path) -> None:
    """The SDK waits as long as retry-after says, then it gets its answer."""
    seen = 0

    async def script(call: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:
            body = b'{"error":{"message":"slow down","type":"rate_limit","param":null,"code":"rate_limit"}}'
            await answers(body, 429, {"retry-after-ms": "30", "retry-after": "1"})(call, writer)
        else:
            await answers(completion("hi"))(call, writer)

    async with client(tmp_path, script) as (sdk, up, _):
        answer = await sdk.chat.completions.create(model="m", messages=HI)
        assert answer.choices[0].message.content == "hi"
        assert len(up.calls) == 2
