"""A request to `/v1/responses` as one for chat: instructions, input items, tools, settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

_KEPT = "nothing is kept here: send the whole conversation as `input`, and `store` as false"
FIELDS = Fields(
    translated={
        *("model", "input", "instructions", "max_output_tokens", "temperature", "top_p", "stream", "tools", "user"),
        *("tool_choice", "parallel_tool_calls", "text", "reasoning", "include", "top_logprobs", "prompt_cache_key"),
        *("safety_identifier", "service_tier", "truncation"),
    },
    # Labels, hints on caches, and limits of what only a provider's own tools do.
    idle={"metadata", "stream_options", "max_tool_calls", "prompt_cache_retention", "prompt_cache_options"},
    refused={
        "previous_response_id": _KEPT,
        "conversation": _KEPT,
        "store": _KEPT,
        "background": "an answer comes at once, or as a stream",
        "background_options": "an answer comes at once, or as a stream",
        "prompt": "no prompts are kept here; send its text as `instructions`",
        "context_management": "nothing is compacted here; send what is to be read as `input`",
        "moderation": "the gateway's own rules judge what goes in and out",
    },
)
_SAME = (
    *("model", "temperature", "top_p", "parallel_tool_calls", "user", "prompt_cache_key", "safety_identifier"),
    "service_tier",
)
_SETTINGS = {**{name: name for name in _SAME}, "max_output_tokens": "max_tokens"}
LOGPROBS = "message.output_text.logprobs"
# What else may be asked to be included belongs to tools that are not here, or is no secret here.
_INCLUDES = {
    *("file_search_call.results", "web_search_call.results", "web_search_call.action.sources", LOGPROBS),
    *("message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs"),
    "reasoning.encrypted_content",
}
_HOSTED = "; tools that a provider defines or runs are not available here: define it as a `function`"
_TOOL = frozenset({"type", "name", "description", "parameters", "strict", "allowed_callers", "output_schema"})
_CACHING = frozenset({"type", "prompt_cache_breakpoint"})
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request. BadRequest names what has no counterpart there."""
    FIELDS.check(body)
    if (cut := body.get("truncation")) not in (None, "disabled"):
        raise BadRequest(f"`{cut}` is not available here: the input is never cut; send less", param="truncation")
    sent = {**renamed(body, _SETTINGS), "messages": _messages(body)}
    if body.get("stream"):
        sent["stream"] = True
    sent.update(_tools(body))
    sent.update(_wording(body.get("text")))
    sent.update(_effort(body.get("reasoning")))
    sent.update(_logprobs(body))
    return sent


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    talk = _Talk()
    if instructions := body.get("instructions"):
        talk.messages.append(said("system", [text_part(a_text(instructions, "instructions"))]))
    given = body.get("input")
    if isinstance(given, str):
        talk.messages.append(said("user", [text_part(given)]))
    else:
        for n, item in enumerate(a_list(given, "input")):
            talk.add(an_object(item, f"input[{n}]"), f"input[{n}]")
        talk.end()
    if not any(message["role"] != "system" for message in talk.messages):
        raise BadRequest("`input` says nothing", param="input")
    return one_beginning(talk.messages)


class _Talk:
    """Items in, messages out: reasoning, text and calls of a turn are one message; pictures of results follow them."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._thought: list[str] = []
        self._pictures: list[Part] = []

    def add(self, item: Mapping[str, Any], place: str) -> None:
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind != "function_call_output":
            self.show()
        if kind == "message":
            self._message(item, place)
        elif kind == "function_call":
            self._call(item, place)
        elif kind == "function_call_output":
            self._result(item, place)
        elif kind == "reasoning":
            self._reasoning(item, place)
        elif kind == "item_reference":
            raise BadRequest(_KEPT, param=place)
        else:
            known = ("message", "function_call", "function_call_output", "reasoning")
            raise unknown(place, kind, known, "; items of a provider's own tools are not available here")

    def show(self) -> None:
        """Pictures that results came with can only be shown by the user, behind all results."""
        if self._pictures:
            self.messages.append(said("user", self._pictures))
            self._pictures = []

    def end(self) -> None:
        self.show()
        self._muse()

    def _message(self, item: Mapping[str, Any], place: str) -> None:
        nothing_else(item, {"type", "role", "content", "id", "status", "phase"}, place)
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise BadRequest(f"`role` must be one of {', '.join(sorted(_ROLES))}", param=f"{place}.role")
        content = item.get("content")
        parts = [text_part(content)] if isinstance(content, str) else _parts(content, f"{place}.content")
        if _ROLES[role] != "assistant":
            self._muse()
            self.messages.append(said(_ROLES[role], parts))
        else:
            turn = self._turn()
            (turn if turn["content"] is None else self._begun())["content"] = flat(parts)

    def _call(self, item: Mapping[str, Any], place: str) -> None:
        nothing_else(item, {"type", "id", "call_id", "name", "arguments", "status", "caller"}, place)
        name, arguments, mark = (a_text(item.get(key), f"{place}.{key}") for key in ("name", "arguments", "call_id"))
        call = {"id": mark, "type": "function", "function": {"name": name, "arguments": arguments}}
        turn = self._turn()
        turn["tool_calls"] = [*turn.get("tool_calls", []), call]

    def _result(self, item: Mapping[str, Any], place: str) -> None:
        nothing_else(item, {"type", "id", "call_id", "output", "status", "caller", "name"}, place)
        self._muse()
        output = item.get("output")
        parts = [text_part(output)] if isinstance(output, str) else _parts(output, f"{place}.output")
        mark = a_text(item.get("call_id"), f"{place}.call_id")
        self.messages.append(said("tool", [part for part in parts if part["type"] == "text"], tool_call_id=mark))
        self._pictures += [part for part in parts if part["type"] != "text"]

    def _reasoning(self, item: Mapping[str, Any], place: str) -> None:
        nothing_else(item, {"type", "id", "summary", "content", "encrypted_content", "status"}, place)
        if item.get("encrypted_content"):
            raise BadRequest("only the model that wrote `encrypted_content` can read it; leave it out", param=place)
        name = "content" if item.get("content") else "summary"
        for n, part in enumerate(a_list(item.get(name) or [], f"{place}.{name}")):
            self._thought.append(a_text(an_object(part, place).get("text"), f"{place}.{name}[{n}].text"))

    def _turn(self) -> dict[str, Any]:
        """The model's turn that is under way, or a new one."""
        last = self.messages[-1] if self.messages else {}
        return last if last.get("role") == "assistant" and not self._thought else self._begun()

    def _begun(self) -> dict[str, Any]:
        """A new turn of the model, with what it thought before."""
        turn: dict[str, Any] = {"role": "assistant", "content": None}
        if self._thought:
            turn["reasoning"] = "\n".join(self._thought)
            self._thought = []
        self.messages.append(turn)
        return turn

    def _muse(self) -> None:
        """Thoughts that nothing was said after are a turn as well."""
        if self._thought:
            self._begun()["content"] = ""


def _parts(content: Any, place: str) -> list[Part]:
    return [part for n, given in enumerate(a_list(content, place)) for part in _part(given, f"{place}[{n}]")]


def _part(given: Any, place: str) -> list[Part]:
    kind = an_object(given, place).get("type")
    if kind in ("input_text", "output_text"):
        nothing_else(given, _CACHING | {"text", "annotations", "logprobs"}, place)
        return [text_part(a_text(given.get("text"), f"{place}.text"))]
    if kind == "refusal":
        return [text_part(a_text(given.get("refusal"), f"{place}.refusal"))]
    if kind == "input_image":
        nothing_else(given, _CACHING | {"image_url", "detail", "file_id"}, place)
        if given.get("file_id"):
            raise BadRequest("no files are kept here; send the picture as `image_url`", param=f"{place}.file_id")
        return [image_part(a_text(given.get("image_url"), f"{place}.image_url"), given.get("detail"))]
    if kind == "input_audio":
        nothing_else(given, _CACHING | {"input_audio"}, place)
        return [{"type": "input_audio", "input_audio": an_object(given.get("input_audio"), f"{place}.input_audio")}]
    why = "; send the file's text as `input_text`, which can be judged" if kind == "input_file" else ""
    raise unknown(place, kind, ("input_text", "output_text", "refusal", "input_image", "input_audio"), why)


def _tools(body: Mapping[str, Any]) -> dict[str, Any]:
    tools = [_tool(tool, f"tools[{n}]") for n, tool in enumerate(a_list(body.get("tools") or [], "tools"))]
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = {tool.get("name") for tool in a_list(choice.get("tools"), "tool_choice.tools") if _is_function(tool)}
        tools = [tool for tool in tools if tool["function"]["name"] in allowed]
        choice = choice.get("mode")
    sent: dict[str, Any] = {"tools": tools} if tools else {}
    if choice is None:
        return sent
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            raise BadRequest("`tool_choice` must be none, auto, required, or an object", param="tool_choice")
        return {**sent, "tool_choice": choice}
    kind = an_object(choice, "tool_choice").get("type")
    if kind != "function":
        raise unknown("tool_choice", kind, ("function", "allowed_tools"), _HOSTED)
    function = {"name": a_text(choice.get("name"), "tool_choice.name")}
    return {**sent, "tool_choice": {"type": "function", "function": function}}


def _is_function(tool: Any) -> bool:
    kind = an_object(tool, "tool_choice.tools").get("type")
    if kind != "function":
        raise unknown("tool_choice.tools", kind, ("function",), _HOSTED)
    return True


def _tool(tool: Any, place: str) -> dict[str, Any]:
    kind = an_object(tool, place).get("type")
    if kind != "function":
        raise unknown(place, kind, ("function",), _HOSTED)
    nothing_else(tool, _TOOL, place)
    function = {"name": a_text(tool.get("name"), f"{place}.name"), "parameters": tool.get("parameters") or {}}
    function.update({name: tool[name] for name in ("description", "strict") if tool.get(name) is not None})
    return {"type": "function", "function": function}


def _wording(text: Any) -> dict[str, Any]:
    config = an_object(text or {}, "text")
    nothing_else(config, {"format", "verbosity"}, "text")
    sent = {"verbosity": config["verbosity"]} if config.get("verbosity") else {}
    form = an_object(config.get("format") or {"type": "text"}, "text.format")
    kind = form.get("type")
    if kind == "text":
        return sent
    if kind == "json_object":
        return {**sent, "response_format": {"type": "json_object"}}
    if kind != "json_schema":
        raise unknown("text.format", kind, ("text", "json_object", "json_schema"))
    names = ("name", "schema", "strict", "description")
    wanted = {name: form[name] for name in names if form.get(name) is not None}
    return {**sent, "response_format": {"type": "json_schema", "json_schema": wanted}}


def _effort(reasoning: Any) -> dict[str, Any]:
    """How hard to think. Summaries are not made: the reasoning itself is shown."""
    config = an_object(reasoning or {}, "reasoning")
    nothing_else(config, {"effort", "summary", "generate_summary", "context"}, "reasoning")
    return {"reasoning_effort": config["effort"]} if config.get("effort") else {}


def _logprobs(body: Mapping[str, Any]) -> dict[str, Any]:
    wanted = a_list(body.get("include") or [], "include")
    for name in wanted:
        if not isinstance(name, str) or name not in _INCLUDES:
            raise unknown("include", name, _INCLUDES)
    if LOGPROBS not in wanted:
        return {}
    most = body.get("top_logprobs")
    return {"logprobs": True, **({"top_logprobs": most} if most is not None else {})}
