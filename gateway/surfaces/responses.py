"""`/v1/responses`, as OpenAI's newer clients speak it. Nothing is kept between requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.errors import BadRequest
from gateway.surfaces import Asked
from gateway.surfaces._asked import NOT_TEXT, beside, field, found, together
from gateway.surfaces._inward import WORDED
from gateway.surfaces._responses_in import chat
from gateway.surfaces._responses_out import ResponsesTeller
from gateway.surfaces._translated import Translated
from gateway.types import Exchange, Text

_BESIDE = {"tools", "text", *WORDED}
_OPAQUE = NOT_TEXT | {"call_id", "status", "encrypted_content", "image_url", "phase"}
_SPEAKERS = {"function_call": "assistant", "reasoning": "assistant", "function_call_output": "tool"}


class Plug(Translated):
    """Items in, items out."""

    name = "responses"
    paths = ("/v1/responses",)

    def admit(self, body: Mapping[str, Any]) -> Asked:
        given = body.get("input")
        if not isinstance(given, str | list) or not given:
            raise BadRequest("`input` must be a text, or a list of items", param="input")
        texts = [
            *found(body.get("instructions"), ("instructions",), "system"),
            *_said(given),
            *beside(body, _BESIDE),
        ]
        return Asked(
            model=field(body, "model", str, ""),
            texts=tuple(texts),
            stream=field(body, "stream", bool, False),
            choices=1,
            wants_usage=True,
        )

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return chat(body)

    def outward(self, exchange: Exchange, body: Mapping[str, Any]) -> ResponsesTeller:
        return ResponsesTeller(exchange, body)


def _said(given: str | list[Any]) -> Iterator[Text]:
    if isinstance(given, str):
        yield Text(("input",), "user", given)
        return
    for n, item in enumerate(given):
        yield from _item(n, item)


def _item(n: int, item: Any) -> Iterator[Text]:
    if not isinstance(item, dict):
        raise BadRequest("each item of `input` must be an object", param=f"input[{n}]")
    kind = item.get("type")
    role = _SPEAKERS.get(kind) if isinstance(kind, str) else None
    role = role or field(item, "role", str, "user")
    yield from found(item, ("input", n), role, _OPAQUE)
    for name in ("content", "output"):
        yield from together(item.get(name), ("input", n, name), role)
