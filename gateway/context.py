"""What a request has in common with others, as hashes: the sketch by which stores find captures. No text leaves here.

The prompt is cut by its content (chunks.py), message by message. Each chunk has a hash of its own, so that a document
is known again wherever it has moved to, and one of everything before its end, so that it is known how far prompts begin
alike. Tenant and model are part of every hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from gateway.chunks import USUAL, cuts
from gateway.stores import WIDTH, Sketch

MOST_CHUNKS = 1024  # of one prompt; what stands behind them is not looked for
QUESTION = 200  # characters of the last thing said that codes are made of: its end, where the question stands

# What a chat template puts before the messages.
_HEAD = ("tools", "functions", "documents", "chat_template", "chat_template_kwargs")


class Passage(NamedTuple):
    """A text of the prompt, and what stands before it that is no text: who speaks."""

    before: bytes
    text: bytes


def whose(salt: str, model: str) -> bytes:
    """Under which captures of a tenant (his salt) and a model (an adapter has a name of its own) are looked up."""
    return blake2b(orjson.dumps([salt, model]), digest_size=16, person=b"whose").digest()


def sketch(owner: bytes, body: Mapping[str, Any], bits: int = USUAL) -> Sketch:
    """The sketch of a request body as it goes upstream, without codes. Time grows with its size."""
    blank = blake2b(owner, digest_size=WIDTH, person=b"chunk")
    running = blake2b(owner, digest_size=WIDTH, person=b"prompt")
    chunks, prefix = bytearray(), bytearray()
    sizes: list[int] = []
    for before, text in _passages(body):
        running.update(before)
        start = 0
        for end in cuts(text, bits)[: MOST_CHUNKS - len(sizes)]:
            piece = text[start:end]
            own = blank.copy()
            own.update(piece)
            running.update(piece)
            chunks += own.digest()
            prefix += running.digest()
            sizes.append(end - start)
            start = end
        if len(sizes) >= MOST_CHUNKS:
            break
    return Sketch(owner, bytes(chunks), bytes(prefix), tuple(sizes))


def question(body: Mapping[str, Any]) -> str:
    """The last thing that was asked: of a conversation the last message, of a prompt its end."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return _prompt(body)[-QUESTION:]
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            return "\n".join(_texts(message.get("content")))[-QUESTION:]
    return ""


def _passages(body: Mapping[str, Any]) -> Iterator[Passage]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        yield Passage(b"", _bytes(_prompt(body)))
        return
    head = {name: body[name] for name in _HEAD if body.get(name)}
    if head:
        yield Passage(b"", _canonical(head))
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield Passage(_canonical({**message, "content": None}), _bytes(content))
        else:
            yield Passage(b"", _canonical(message))


def _prompt(body: Mapping[str, Any]) -> str:
    prompt = body.get("prompt")
    return prompt if isinstance(prompt, str) else "\n".join(_texts(prompt))


def _texts(content: object) -> Iterator[str]:
    """The texts of a content: one, or those of its parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
