"""A request to `/v1/messages` as one for chat: system, turns of blocks, tools, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from gateway.errors import BadRequest
from gateway.surfaces._inward import (
    Fields,
    Part,
    a_list,
    a_text,
    an_object,
    flat,
    image_part,
    nothing_else,
    one_beginning,
    renamed,
    said,
    text_part,
    unknown,
)

FIELDS = Fields(
    translated={
        *("model", "messages", "system", "max_tokens", "stop_sequences", "temperature", "top_p", "stream", "tools"),
        *("tool_choice", "thinking", "metadata", "output_config", "output_format"),
    },
    # Where and how fast the provider would work, what it would cache or leave out to save work.
    idle={
        *("cache_control", "service_tier", "inference_geo", "speed", "diagnostics", "context_management", "betas"),
        *("user_profile_id", "workspace_id"),
    },
    refused={
        "container": "nothing is run here; run code yourself and give its output as a `tool_result`",
        "mcp_servers": "no server is called from here; call it yourself and give its tools under `tools`",
    },
)
_SETTINGS = {"model": "model", "stop_sequences": "stop", "temperature": "temperature", "top_p": "top_p"}
_HOSTED = "; tools that a provider defines or runs are not available here: define it with `name` and `input_schema`"
_BLOCK = frozenset({"type", "cache_control", "citations"})
_TOOL = frozenset(
    {
        *("type", "name", "description", "input_schema", "strict", "cache_control", "eager_input_streaming"),
        "allowed_callers",
    }
)
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request. BadRequest names what has no counterpart there."""
    FIELDS.check(body)
    messages = [*_system(body.get("system")), *_turns(a_list(body.get("messages"), "messages"))]
    sent = {**renamed(body, _SETTINGS), "messages": one_beginning(messages), "max_tokens": _limit(body)}
    if body.get("stream"):
        sent["stream"] = True
    if tools := body.get("tools"):
        sent["tools"] = [_tool(tool, f"tools[{n}]") for n, tool in enumerate(a_list(tools, "tools"))]
    user = an_object(body.get("metadata") or {}, "metadata").get("user_id")
    sent.update({"user": user} if isinstance(user, str) else {})
    sent.update(_choice(body.get("tool_choice")))
    sent.update(_output(body))
    sent.update(_thinking(body, sent))
    if _is_begun(messages):  # the model goes on from what the client put into its mouth
        sent.update(continue_final_message=True, add_generation_prompt=False)
    return sent


def _limit(body: Mapping[str, Any]) -> int:
    limit = body.get("max_tokens")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise BadRequest("`max_tokens` must be a whole number of at least 1", param="max_tokens")
    return limit


def _is_begun(messages: list[dict[str, Any]]) -> bool:
    if not messages:
        raise BadRequest("`messages` say nothing", param="messages")
    return messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]


def _system(system: Any) -> Iterator[dict[str, Any]]:
    if isinstance(system, str) and system:
        yield said("system", [text_part(system)])
    elif system:
        yield said("system", _parts(a_list(system, "system"), "system", {"text": _text}))


def _turns(turns: list[Any]) -> Iterator[dict[str, Any]]:
    for n, turn in enumerate(turns):
        place = f"messages[{n}]"
        turn = an_object(turn, place)
        nothing_else(turn, {"role", "content"}, place)
        role, content = turn.get("role"), turn.get("content")
        if role not in ("user", "assistant", "system"):
            raise BadRequest("`role` must be user, assistant or system", param=f"{place}.role")
        blocks = [text_part(content)] if isinstance(content, str) else a_list(content, f"{place}.content")
        if role == "user":
            yield from _user(blocks, f"{place}.content")
        elif role == "assistant":
            yield _assistant(blocks, f"{place}.content")
        else:
            yield said("system", _parts(blocks, f"{place}.content", {"text": _text}))


def _user(blocks: list[Any], place: str) -> Iterator[dict[str, Any]]:
    """Results come first, right behind the calls they answer; their pictures can only come from the user."""
    rest: list[Part] = []
    for n, block in enumerate(blocks):
        where = f"{place}[{n}]"
        if an_object(block, where).get("type") != "tool_result":
            rest += _parts([block], place, _SHOWN, n)
            continue
        nothing_else(block, _BLOCK | {"tool_use_id", "content", "is_error"}, where)
        content = block.get("content") or ""
        parts = [text_part(content)] if isinstance(content, str) else _parts(content, f"{where}.content", _SHOWN)
        if block.get("is_error"):
            parts.insert(0, text_part("Error:"))
        name = a_text(block.get("tool_use_id"), f"{where}.tool_use_id")
        yield said("tool", [part for part in parts if part["type"] == "text"], tool_call_id=name)
        rest += [part for part in parts if part["type"] != "text"]
    if rest:
        yield said("user", rest)


def _assistant(blocks: list[Any], place: str) -> dict[str, Any]:
    texts: list[Part] = []
    calls: list[dict[str, Any]] = []
    thoughts: list[str] = []
    for n, block in enumerate(blocks):
        where = f"{place}[{n}]"
        kind = an_object(block, where).get("type")
        if kind == "text":
            texts += _text(block, where)
        elif kind == "tool_use":
            calls.append(_call(block, where))
        elif kind == "thinking":
            nothing_else(block, {"type", "thinking", "signature", "cache_control"}, where)
            thoughts.append(a_text(block.get("thinking"), f"{where}.thinking"))
        elif kind == "redacted_thinking":
            raise BadRequest("only the model that wrote `redacted_thinking` can read it; leave it out", param=where)
        else:
            raise unknown(where, kind, ("text", "tool_use", "thinking"))
    message = {"role": "assistant", "content": flat(texts) if texts or not calls else None}
    message.update({"reasoning": "\n".join(thoughts)} if any(thoughts) else {})
    message.update({"tool_calls": calls} if calls else {})
    return message


def _call(block: Mapping[str, Any], place: str) -> dict[str, Any]:
    nothing_else(block, {"type", "id", "name", "input", "cache_control", "caller"}, place)
    given = block.get("input")
    # A text is what masking made of it: JSON already.
    arguments = given if isinstance(given, str) else orjson.dumps(an_object(given, f"{place}.input")).decode()
    name = a_text(block.get("name"), f"{place}.name")
    function = {"name": name, "arguments": arguments}
    return {"id": a_text(block.get("id"), f"{place}.id"), "type": "function", "function": function}


Show = Callable[[Mapping[str, Any], str], list[Part]]


def _parts(blocks: Any, place: str, shown: Mapping[str, Show], first: int = 0) -> list[Part]:
    parts: list[Part] = []
    for n, block in enumerate(a_list(blocks, place), first):
        where = f"{place}[{n}]"
        kind = an_object(block, where).get("type")
        if not isinstance(kind, str) or kind not in shown:
            raise unknown(where, kind, shown)
        cited = block.get("citations")
        if isinstance(cited, dict) and cited.get("enabled"):
            raise BadRequest("no citations are made here; leave `citations` out", param=f"{where}.citations")
        parts += shown[kind](block, where)
    return parts


def _text(block: Mapping[str, Any], place: str) -> list[Part]:
    nothing_else(block, _BLOCK | {"text"}, place)
    return [text_part(a_text(block.get("text"), f"{place}.text"))]


def _image(block: Mapping[str, Any], place: str) -> list[Part]:
    nothing_else(block, _BLOCK | {"source"}, place)
    source = an_object(block.get("source"), f"{place}.source")
    kind = source.get("type")
    if kind == "url":
        return [image_part(a_text(source.get("url"), f"{place}.source.url"))]
    if kind != "base64":
        raise unknown(f"{place}.source", kind, ("base64", "url"), "; no files are kept here")
    media, data = (a_text(source.get(name), f"{place}.source.{name}") for name in ("media_type", "data"))
    return [image_part(f"data:{media};base64,{data}")]


def _document(block: Mapping[str, Any], place: str) -> list[Part]:
    nothing_else(block, _BLOCK | {"source", "title", "context"}, place)
    source = an_object(block.get("source"), f"{place}.source")
    kind, inner = source.get("type"), source.get("content")
    if kind == "text":
        parts = [text_part(a_text(source.get("data"), f"{place}.source.data"))]
    elif kind == "content":
        known = {"text": _text, "image": _image}
        where = f"{place}.source.content"
        parts = [text_part(inner)] if isinstance(inner, str) else _parts(inner, where, known)
    else:
        raise unknown(f"{place}.source", kind, ("text", "content"), "; send the document's text, which can be judged")
    return [*_headed(block, ("title", "context"), place), *parts]


def _found(block: Mapping[str, Any], place: str) -> list[Part]:
    nothing_else(block, _BLOCK | {"source", "title", "content"}, place)
    return [
        *_headed(block, ("title", "source"), place),
        *_parts(block.get("content"), f"{place}.content", {"text": _text}),
    ]


def _headed(block: Mapping[str, Any], names: tuple[str, ...], place: str) -> list[Part]:
    return [text_part(a_text(block[name], f"{place}.{name}")) for name in names if block.get(name)]


_SHOWN: Mapping[str, Show] = {"text": _text, "image": _image, "document": _document, "search_result": _found}


def _tool(tool: Any, place: str) -> dict[str, Any]:
    kind = an_object(tool, place).get("type")
    if kind not in (None, "custom"):
        raise unknown(place, kind, ("custom",), _HOSTED)
    nothing_else(tool, _TOOL, place)
    if any(caller != "direct" for caller in a_list(tool.get("allowed_callers") or [], f"{place}.allowed_callers")):
        raise BadRequest("only the model itself calls tools here", param=f"{place}.allowed_callers")
    function = {"name": a_text(tool.get("name"), f"{place}.name")}
    function.update({name: tool[name] for name in ("description", "strict") if tool.get(name) is not None})
    return {"type": "function", "function": {**function, "parameters": tool.get("input_schema") or {}}}


def _choice(choice: Any) -> dict[str, Any]:
    if choice is None:
        return {}
    kind = an_object(choice, "tool_choice").get("type")
    nothing_else(choice, {"type", "name", "disable_parallel_tool_use"}, "tool_choice")
    alone = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {}
    if kind == "tool":
        function = {"name": a_text(choice.get("name"), "tool_choice.name")}
        return {"tool_choice": {"type": "function", "function": function}, **alone}
    if not isinstance(kind, str) or kind not in _CHOICES:
        raise unknown("tool_choice", kind, (*_CHOICES, "tool"))
    return {"tool_choice": _CHOICES[kind], **alone}


def _output(body: Mapping[str, Any]) -> dict[str, Any]:
    config = an_object(body.get("output_config") or {}, "output_config")
    nothing_else(config, {"effort", "format"}, "output_config")
    sent = {"reasoning_effort": config["effort"]} if config.get("effort") else {}
    form = config.get("format") or body.get("output_format")
    if not form:
        return sent
    kind = an_object(form, "output_config.format").get("type")
    if kind != "json_schema":
        raise unknown("output_config.format", kind, ("json_schema",))
    wanted = {"name": "answer", "schema": form.get("schema"), "strict": True}
    return {**sent, "response_format": {"type": "json_schema", "json_schema": wanted}}


def _thinking(body: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Whether to think is for the chat template; how long is for the engine, which most can't be told: `max_tokens`
    bounds it. Only a client that says on or off changes what the engine does by itself."""
    thinking = an_object(body.get("thinking") or {}, "thinking")
    kind = thinking.get("type")
    if thinking and kind not in ("enabled", "disabled", "adaptive", "between_tools"):
        raise unknown("thinking", kind, ("enabled", "disabled", "adaptive", "between_tools"))
    if kind not in ("enabled", "disabled"):
        return {}
    wishes = an_object(sent.get("chat_template_kwargs") or {}, "chat_template_kwargs")
    return {"chat_template_kwargs": {"enable_thinking": kind == "enabled", **wishes}}
