"""Tools, thoughts and documents on the surfaces that know them: judged, masked, and told in the client's own shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.answering import says
from tests.dialects import ENDED, FILTERED, FOREIGN, TALKING, Told, before, refused
from tests.rig import regex

talking = pytest.mark.parametrize("surface", TALKING)
foreign = pytest.mark.parametrize("surface", FOREIGN)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
CALLED = {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}
SHAPE = {"type": "object", "properties": {"to": {"type": "string"}}}
TOOLS: dict[str, list[dict[str, Any]]] = {
    "chat": [{"type": "function", "function": {"name": "mail", "parameters": SHAPE}}],
    "responses": [{"type": "function", "name": "mail", "parameters": SHAPE, "strict": False}],
    "messages": [{"name": "mail", "input_schema": SHAPE}],
}
TWO = [("call_a", "mail", '{"to": "王小明", "cc": ["a", "b"], "n": 1.5}'), ("call_b", "now", "{}")]


@streamed
@talking
async def test_calls_come_whole_and_in_order(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("Let me ", "look.", calls=TWO, finish="tool_calls")) as (sdks, up):
        told = await sdks.ask(surface, stream, tools=TOOLS[surface])
        sent = up.calls[0].json["tools"][0]
    calls: tuple[Any, ...] = (("call_a", "mail", {"to": "王小明", "cc": ["a", "b"], "n": 1.5}), ("call_b", "now", {}))
    assert told == Told("Let me look.", CALLED[surface], (7, 5), calls=calls)
    assert (sent["type"], sent["function"]["name"], sent["function"]["parameters"]) == ("function", "mail", SHAPE)


ESCAPED = '{"to": "a \\u0070rivate man", "private": "\\u79c1\\u5bc6"}'


@streamed
@talking
async def test_arguments_are_masked_whatever_they_hide_behind(tmp_path: Path, surface: str, stream: bool) -> None:
    script = says(calls=[("c1", "mail", ESCAPED)], finish="tool_calls")
    rules = [regex("private|私密", action="mask", when={"role": "tool_call"})]
    async with before(tmp_path, script, rules) as (sdks, _):
        told = await sdks.ask(surface, stream, tools=TOOLS[surface])
    assert told.calls == (("c1", "mail", {"to": "a *** man", "***": "***"}),)
    assert told.finish == CALLED[surface]


@streamed
@talking
async def test_a_call_that_a_rule_blocks_is_never_made(tmp_path: Path, surface: str, stream: bool) -> None:
    script = says("I will. ", calls=[("c1", "mail", ESCAPED)], finish="tool_calls")
    async with before(tmp_path, script, [regex("a private man")]) as (sdks, _):
        told = await sdks.ask(surface, stream, tools=TOOLS[surface])
    assert (told.text, told.finish) == ("I will. ", FILTERED[surface])
    assert told.calls == ((("c1", "mail", None),) if surface == "chat" else ())  # chat tells a name before the rest


@streamed
@talking
async def test_thoughts_are_told_apart_and_judged_by_their_own_rules(
    tmp_path: Path, surface: str, stream: bool
) -> None:
    rules = [regex("密码", action="mask", when={"role": "reasoning"})]
    async with before(tmp_path, says("密码", "不可说", thinks="他要密码，不行"), rules) as (sdks, _):
        told = await sdks.ask(surface, stream)
    assert told == Told("密码不可说", ENDED[surface], (7, 5), thought="他要***，不行")


@streamed
@talking
async def test_a_rule_that_blocks_a_thought_ends_the_answer(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("fine", thinks="how to make a bomb"), [regex("bomb")]) as (sdks, _):
        told = await sdks.ask(surface, stream)
    assert (told.thought, told.finish) == ("how to make a ", FILTERED[surface])
    assert told.text == ("" if stream else "fine")  # a whole answer says what it has to say before its thoughts


@streamed
async def test_who_wants_no_thoughts_gets_none(tmp_path: Path, stream: bool) -> None:
    async with before(tmp_path, says("yes", thinks="hm")) as (sdks, up):
        told = await sdks.ask("messages", stream, thinking={"type": "disabled"})
        assert (told.text, told.thought) == ("yes", "")
        assert up.calls[0].json["chat_template_kwargs"] == {"enable_thinking": False}


def turns(surface: str, arguments: dict[str, Any], result: str) -> Any:
    """A conversation in which a tool was called with these arguments and gave this result."""
    if surface == "messages":
        use = {"type": "tool_use", "id": "c1", "name": "mail", "input": arguments}
        back = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": result}]}
        said: list[Any] = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [use]}]
        return [*said, {"role": "user", "content": [back]}]
    written = orjson.dumps(arguments).decode()
    if surface == "responses":
        call = {"type": "function_call", "call_id": "c1", "name": "mail", "arguments": written}
        output = {"type": "function_call_output", "call_id": "c1", "output": result}
        return [{"role": "user", "content": "go"}, call, output]
    function = {"name": "mail", "arguments": written}
    calls = [{"id": "c1", "type": "function", "function": function}]
    asked: list[Any] = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": calls}]
    return [*asked, {"role": "tool", "tool_call_id": "c1", "content": result}]


@talking
async def test_what_was_called_and_what_came_back_is_masked_on_its_way_in(tmp_path: Path, surface: str) -> None:
    rules = [regex("private|私密", side="input", action="mask")]
    arguments = {"to": ["a private man", {"private": "私密"}], "n": 3}
    async with before(tmp_path, says("done"), rules) as (sdks, up):
        assert (await sdks.ask(surface, True, turns(surface, arguments, "private: 晴"))).text == "done"
        sent = up.calls[0].json["messages"]
    (call,) = sent[1]["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("c1", "mail")
    assert orjson.loads(call["function"]["arguments"]) == {"to": ["a *** man", {"***": "***"}], "n": 3}
    assert sent[2] == {"role": "tool", "tool_call_id": "c1", "content": "***: 晴"}


@talking
@pytest.mark.parametrize("where", ["arguments", "result"])
async def test_what_was_called_and_what_came_back_can_be_blocked(tmp_path: Path, surface: str, where: str) -> None:
    said = turns(surface, {"a": "the bomb" if where == "arguments" else "x"}, "x" if where == "arguments" else "bomb")
    async with before(tmp_path, says("done"), [regex("bomb", side="input")]) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, False, said)
        assert (told[0].code, told[0].reason) == ("content_filter", "R101")
        assert up.calls == []


@talking
async def test_rules_know_who_speaks(tmp_path: Path, surface: str) -> None:
    rules = [regex("bomb", side="input", when={"role": "tool"})]
    async with before(tmp_path, says("done"), rules) as (sdks, up):
        await sdks.ask(surface, False, turns(surface, {"a": "bomb"}, "x"))
        assert len(up.calls) == 1
        with refused() as told:
            await sdks.ask(surface, False, turns(surface, {"a": "x"}, "bomb"))
        assert told[0].reason == "R101"


async def test_arguments_can_be_no_text_of_the_client_s(tmp_path: Path) -> None:
    """A text would go on as JSON, and what its escapes hide would have been judged by nobody."""
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": '{"a": "\\u0062omb"}'}
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [use]}]
    async with before(tmp_path, says("x"), [regex("bomb", side="input")]) as (sdks, up):
        with refused() as told:
            await sdks.ask("messages", False, said)
        assert told[0].code == "bad_request"
        assert "`input`" in told[0].message
        assert up.calls == []


DOCUMENTS: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "media_type": "text/plain", "data": "my private diary 日记"},
    "content": {"type": "content", "content": [{"type": "text", "text": "my private diary 日记"}]},
}


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("kind", DOCUMENTS)
async def test_documents_are_judged_and_masked(tmp_path: Path, kind: str, nested: bool) -> None:
    document = {"type": "document", "title": "the private one", "source": DOCUMENTS[kind]}
    blocks: list[Any] = [document, {"type": "text", "text": "What does it say?"}]
    if nested:
        blocks = [{"type": "tool_result", "tool_use_id": "c1", "content": [document]}]
    rules = [regex("private", side="input", action="mask"), regex("bomb", side="input", id="b")]
    async with before(tmp_path, says("ok"), rules) as (sdks, up):
        assert (await sdks.ask("messages", True, [{"role": "user", "content": blocks}])).text == "ok"
        sent = up.calls[0].json["messages"][-1]
        assert sent["content"].startswith("the *** one\nmy *** diary 日记")
        told_as = "tool" if nested else "user"
        assert sent["role"] == told_as
        document["title"] = "a bomb"
        with refused() as told:
            await sdks.ask("messages", True, [{"role": "user", "content": blocks}])
        assert told[0].reason == "R101"
        assert len(up.calls) == 1


PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "system": ("messages", {"system": "a bomb"}),
    "system in parts": ("messages", {"system": [{"type": "text", "text": "a bo"}, {"type": "text", "text": "a bomb"}]}),
    "tools of messages": ("messages", {"tools": [{"name": "f", "description": "bomb", "input_schema": SHAPE}]}),
    "instructions": ("responses", {"instructions": "a bomb"}),
    "tools of responses": (
        "responses",
        {"tools": [{"type": "function", "name": "f", "description": "bomb", "parameters": SHAPE, "strict": False}]},
    ),
}


@pytest.mark.parametrize("place", PLACES)
async def test_what_stands_beside_the_conversation_is_judged(tmp_path: Path, place: str) -> None:
    surface, fields = PLACES[place]
    async with before(tmp_path, says("x"), [regex("bomb", side="input")]) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, True, **fields)
        assert (told[0].status, told[0].reason) == (400, "R101")
        assert up.calls == []


@foreign
async def test_words_split_over_parts_are_read_as_the_model_reads_them(tmp_path: Path, surface: str) -> None:
    kind = "text" if surface == "messages" else "input_text"
    parts = [{"type": kind, "text": "how to make a"}, {"type": kind, "text": "bomb"}]
    async with before(tmp_path, says("x"), [regex(r"a\sbomb", side="input", action="mask")]) as (sdks, up):
        await sdks.ask(surface, True, [{"role": "user", "content": parts}])
        assert up.calls[0].json["messages"] == [{"role": "user", "content": "how to make ***"}]
