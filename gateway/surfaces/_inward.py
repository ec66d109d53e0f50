"""What requests in a foreign format share on their way to chat: nothing is dropped quietly, everything is named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.errors import BadRequest
from gateway.surfaces._asked import OURS

Part = dict[str, Any]

# Settings that engines know beside the format's own; they go on as they are.
ENGINE = frozenset(
    {
        *("seed", "min_p", "top_k", "repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias"),
        *("min_tokens", "ignore_eos", "stop_token_ids", "bad_words", "skip_special_tokens", "priority"),
        *("include_stop_str_in_output", "chat_template_kwargs", "structured_outputs"),
    }
)
# Those of them in which words for the model may stand.
WORDED = frozenset({"chat_template_kwargs", "structured_outputs"})


class Fields(NamedTuple):
    """What is known of a request's fields: which are translated, which change nothing here, why others can't be had."""

    translated: Collection[str]
    idle: Collection[str]
    refused: Mapping[str, str]

    def check(self, body: Mapping[str, Any]) -> None:
        """BadRequest unless every field that says something is understood."""
        for name, value in body.items():
            if value is None or name in self.translated or name in self.idle or name in ENGINE or name in OURS:
                continue
            if reason := self.refused.get(name):
                if value is False or value in ([], {}, ""):
                    continue
                raise BadRequest(f"`{name}` is not available here: {reason}", param=name)
            raise BadRequest(f"`{name}` is not understood here, so it is not passed on; leave it out", param=name)


def unknown(place: str, kind: Any, known: Iterable[str], why: str = "") -> BadRequest:
    """The fault for something of a type that has no counterpart in chat."""
    told = f"`{kind}`"[:100] if isinstance(kind, str) else "an entry without a `type`"
    return BadRequest(f"{told} is not understood here (known: {', '.join(sorted(known))}){why}", param=place)


def an_object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"`{place}` must be an object", param=place)
    return value


def a_list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRequest(f"`{place}` must be a list", param=place)
    return value


def a_text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"`{place}` must be a text", param=place)
    return value


def nothing_else(value: Mapping[str, Any], known: Collection[str], place: str) -> None:
    """BadRequest if an object says more than what is `known`: whoever wrote it would miss the rest."""
    for name, inner in value.items():
        if name not in known and inner is not None and inner is not False:
            raise BadRequest(f"`{name}` is not understood here; leave it out", param=f"{place}.{name}")


def said(role: str, parts: Sequence[Part], **more: Any) -> dict[str, Any]:
    """A chat message: texts alone are one text, as every server takes them; with media they stay parts."""
    return {"role": role, "content": flat(parts), **more}


def flat(parts: Sequence[Part]) -> str | list[Part]:
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return list(parts)


def text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def image_part(url: str, detail: Any = None) -> Part:
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}


def one_beginning(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with all that the system says before anyone speaks in one: many templates know one alone."""
    count = next((n for n, message in enumerate(messages) if message["role"] != "system"), len(messages))
    texts = [message["content"] for message in messages[:count] if message["content"]]
    first = [{"role": "system", "content": "\n\n".join(texts)}] if texts else []
    return [*first, *messages[count:]]


def renamed(body: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The settings that a body has, under the names that chat has for them, and those that engines know."""
    sent = {ours: body[theirs] for theirs, ours in names.items() if body.get(theirs) is not None}
    return {**sent, **{name: body[name] for name in ENGINE & body.keys() if body[name] is not None}}
