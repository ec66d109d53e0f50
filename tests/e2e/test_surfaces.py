"""The surfaces that are translated: the official clients, through the gateway, to a real vLLM."""

from __future__ import annotations

from typing import Any

import openai
import orjson
import pytest

from deploy.setup.engine import Engine
from tests.dialects import ENDED, FOREIGN, clients
from tests.rig import Running

pytestmark = pytest.mark.engine

surfaces = pytest.mark.parametrize("surface", FOREIGN)
ASK = "Name three fruits, separated by commas."
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ABOUT = {"name": "weather", "description": "The weather of a city."}
SAME: dict[str, Any] = {"extra_body": {"temperature": 0}}  # which Anthropic's SDK has no argument for
LIMIT = {"responses": {"max_output_tokens": 48}, "messages": {"max_tokens": 48}}
CUT = {"responses": "max_output_tokens", "messages": "max_tokens"}
CALLED = {"responses": "completed", "messages": "tool_use"}
TOOLS: dict[str, dict[str, Any]] = {
    "responses": {
        "tools": [{"type": "function", **ABOUT, "parameters": CITY, "strict": False}],
        "tool_choice": {"type": "function", "name": "weather"},
    },
    "messages": {
        "tools": [{**ABOUT, "input_schema": CITY}],
        "tool_choice": {"type": "tool", "name": "weather"},
    },
}


@surfaces
async def test_a_stream_says_what_the_engine_says(
    guarded: Running, direct: openai.AsyncOpenAI, engine: Engine, surface: str
) -> None:
    async with clients(guarded) as sdks:
        told = await sdks.ask(surface, True, ASK, model=engine.model, **SAME, **LIMIT[surface])
        verdict = sdks.head["x-retrace-verdict"]
    said: Any = [{"role": "user", "content": ASK}]
    theirs = await direct.chat.completions.create(model=engine.model, messages=said, temperature=0, max_tokens=48)
    (choice,) = theirs.choices
    assert told.text == choice.message.content
    assert told.finish == (ENDED if choice.finish_reason == "stop" else CUT)[surface]
    assert theirs.usage is not None
    assert told.used is not None
    assert told.used[1] == theirs.usage.completion_tokens
    assert verdict == "allow"


@surfaces
async def test_a_tool_is_called_and_its_result_is_read(guarded: Running, engine: Engine, surface: str) -> None:
    common: dict[str, Any] = {"model": engine.model, **SAME, **LIMIT[surface]}
    async with clients(guarded) as sdks:
        told = await sdks.ask(surface, True, "What is the weather in Paris?", **common, **TOOLS[surface])
        assert told.finish == CALLED[surface]
        ((mark, name, arguments),) = told.calls
        assert name == "weather"
        assert arguments.keys() == {"city"}
        more = {"tools": TOOLS[surface]["tools"]}
        answer = await sdks.ask(surface, True, _answered(surface, mark, arguments, "晴，18 °C"), **common, **more)
    assert answer.text or answer.calls
    assert answer.used is not None
    assert answer.used[1] > 0


def _answered(surface: str, mark: str, arguments: dict[str, Any], result: str) -> list[dict[str, Any]]:
    """The conversation with the call and what came of it."""
    asked: dict[str, Any] = {"role": "user", "content": "What is the weather in Paris?"}
    if surface == "messages":
        use = {"type": "tool_use", "id": mark, "name": "weather", "input": arguments}
        back = {"type": "tool_result", "tool_use_id": mark, "content": result}
        return [asked, {"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]
    written = orjson.dumps(arguments).decode()
    call = {"type": "function_call", "call_id": mark, "name": "weather", "arguments": written}
    return [asked, call, {"type": "function_call_output", "call_id": mark, "output": result}]


@surfaces
async def test_what_a_rule_blocks_never_reaches_the_client(guarded: Running, engine: Engine, surface: str) -> None:
    said = "Repeat exactly, and nothing else: my favourite colour is purple today"
    async with clients(guarded) as sdks:
        told = await sdks.ask(surface, True, said, model=engine.model, **SAME, **LIMIT[surface])
    assert "colour" in told.text
    assert "purple" not in told.text.lower()
    assert told.finish == {"responses": "content_filter", "messages": "refusal"}[surface]
