"""`/v1/chat/completions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway import leaves
from gateway.errors import BadRequest, UpstreamFault
from gateway.surfaces import Asked, Asking, Continuation
from gateway.surfaces._asked import NOT_TEXT, beside, choices_asked, field, wants_usage
from gateway.surfaces._openai import OpenAISurface
from gateway.types import Exchange, Text

LONGEST_ROLE = 64
_GO_ON = (
    "Go on with your last message exactly where it ends, in its language. Do not repeat any of it and do not comment. "
    "请从你上一条消息结束的地方直接接着写，不要重复，也不要说明。"
)
_REVIEWED = ("model", "tools", "functions", "documents", "chat_template", "chat_template_kwargs")  # before the answer
_BESIDE = {"tools", "functions", "documents", "prediction", "response_format", "chat_template", "chat_template_kwargs"}


class Plug(OpenAISurface):
    """Messages in, choices with a message (or deltas of one) out."""

    name = "chat"
    paths = ("/v1/chat/completions",)
    answer = "content"

    def admit(self, body: Mapping[str, Any]) -> Asked:
        messages: list[Any] = field(body, "messages", list, [])
        if not messages:
            raise BadRequest("`messages` must be a list with at least one message", param="messages")
        found = [text for index, message in enumerate(messages) for text in _message(index, message)]
        return Asked(
            model=field(body, "model", str, ""),
            texts=(*found, *beside(body, _BESIDE)),
            stream=field(body, "stream", bool, False),
            choices=choices_asked(body),
            wants_usage=wants_usage(body),
        )

    def holders(self, choice: dict[str, Any]) -> list[dict[str, Any]]:
        delta, message = choice.get("delta"), choice.get("message")
        if delta.__class__ is dict and message is None:
            return [delta]
        held = [value for value in (delta, message) if value is not None]
        if any(value.__class__ is not dict for value in held):
            raise UpstreamFault("the upstream sent a message that is none", kind="garbage")
        return held

    def review(self, body: Mapping[str, Any], answer: str, instruction: str) -> Asking:
        said = [{"role": "assistant", "content": answer}, {"role": "user", "content": instruction}]
        kept = {name: body[name] for name in _REVIEWED if name in body}
        mute = {"tool_choice": "none"} if kept.get("tools") else {}
        return Asking(self.paths[0], {**kept, **mute, "messages": [*body["messages"], *said]})

    def resume(self, body: Mapping[str, Any], more: Continuation) -> Asking:
        messages = list(body["messages"])
        asked = self.continued(body, more)
        kept = more.kept
        if body.get("continue_final_message") and isinstance(messages[-1].get("content"), str):
            kept = messages.pop()["content"] + kept  # what the client had begun
        if more.tell and not more.instruct:
            messages = _told(messages, more.tell)
        if more.instruct:
            words = f"{_GO_ON} {more.tell}".rstrip()
            begun = [{"role": "assistant", "content": kept}] if kept else []
            messages = [*messages, *begun, {"role": "user", "content": words}] if kept else _told(messages, more.tell)
            asked.pop("continue_final_message", None)
        elif kept:
            messages.append({"role": "assistant", "content": kept})
            asked |= {"continue_final_message": True, "add_generation_prompt": False}
        return Asking(self.paths[0], {**asked, "messages": messages})

    def said(self, text: str) -> dict[str, Any]:
        return {"delta": {"content": text}}

    def canned(self, exchange: Exchange, message: str) -> list[dict[str, Any]]:
        said = {"role": "assistant", "content": message}
        if not exchange.stream:
            choices = [
                {"index": i, "message": said, "logprobs": None, "finish_reason": "content_filter"}
                for i in range(exchange.choices)
            ]
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            return [{**self.envelope(exchange, "chat.completion", choices), "usage": usage}]
        deltas: list[tuple[dict[str, str], str | None]] = [(said, None), ({}, "content_filter")]
        return [
            self.envelope(
                exchange,
                "chat.completion.chunk",
                [{"index": i, "delta": delta, "logprobs": None, "finish_reason": reason}],
            )
            for i in range(exchange.choices)
            for delta, reason in deltas
        ]


def _told(messages: list[Any], words: str) -> list[Any]:
    """The messages with an instruction behind the last one of the user."""
    place = max((n for n, message in enumerate(messages) if message.get("role") == "user"), default=None)
    if place is None or not words:
        return messages
    content = messages[place].get("content")
    if isinstance(content, list):
        content = [*content, {"type": "text", "text": words}]
    else:
        content = f"{content or ''}\n\n{words}"
    return [*messages[:place], {**messages[place], "content": content}, *messages[place + 1 :]]


def _message(index: int, message: Any) -> Iterator[Text]:
    if not isinstance(message, dict):
        raise BadRequest("each message must be an object with `role` and `content`", param=f"messages[{index}]")
    role = field(message, "role", str, "user")
    if len(role) > LONGEST_ROLE:
        raise BadRequest(f"`role` is longer than {LONGEST_ROLE} characters", param=f"messages[{index}].role")
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        raise BadRequest("`content` must be a text or a list of parts", param=f"messages[{index}].content")
    place = ("messages", index)
    if isinstance(content, str) and len(message) == 2:  # a role and what it says: nearly always
        if content:
            yield Text((*place, "content"), role, content)
        return
    yield from (Text((*place, *path), role, text) for path, text in leaves.texts(message, NOT_TEXT))
    parts = (
        [p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str)]
        if isinstance(content, list)
        else []
    )
    if len(parts) > 1:  # the model reads them as one
        yield Text((*place, "content"), role, "\n".join(parts), whole=False)
