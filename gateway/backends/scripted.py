"""`type: scripted`: answers from a file. For demos, load and tests: it needs no model and says what it is told.

The file is YAML: a list of `answers`, each with what it is for and what to say. The first that fits is taken:

    answers:
      - when: "weather"            # a text that the request's body contains; without it, everything fits
        text: "It is sunny."       # streamed word by word
        delay: 0.02                # seconds before each piece
      - events: ['{"choices": [...]}', '[DONE]']   # or: the events of a stream, each as it is
      - body: {...}                # or: a whole JSON body, with a status
        status: 500
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import orjson
import yaml
from pydantic import Field, ValidationInfo, model_validator

from gateway.backends import Answer, Backend, BackendSpec, Call, Observe
from gateway.errors import UpstreamFault
from gateway.plug import Strict


class ScriptedReply(Strict):
    """One answer of the script."""

    when: str = ""
    text: str | None = None
    events: tuple[str, ...] | None = None
    body: dict[str, Any] | None = None
    status: int = Field(default=200, ge=100, le=599)
    delay: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(given is not None for given in (self.text, self.events, self.body)) != 1:
            raise ValueError("give exactly one of `text`, `events`, `body`")
        return self


class Script(Strict):
    """The file."""

    answers: tuple[ScriptedReply, ...] = Field(min_length=1)


class Plug(BackendSpec):
    """Answers from a file."""

    type: Literal["scripted"] = "scripted"
    file: Path = Field(description="The script, beside the YAML file that names it.")
    script: Script | None = Field(
        default=None, exclude=True, description="Read from `file`.", json_schema_extra={"readOnly": True}
    )

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        path = Path((info.context or {}).get("folder", ".")) / self.file
        try:
            script = Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        except (OSError, yaml.YAMLError) as fault:
            raise ValueError(f"can't read the script {path}: {fault}") from fault
        object.__setattr__(self, "script", script)
        return self

    def connect(self, observe: Observe) -> Backend:
        assert self.script is not None
        return ScriptedBackend(self.script)


class ScriptedBackend:
    """Says what the script says. It has no connection to lose."""

    patched = False

    def __init__(self, script: Script) -> None:
        self._script = script
        self.calls = 0  # how many were asked of it

    async def start(self) -> None:
        """Nothing to open."""

    async def stop(self) -> None:
        """Nothing to close."""

    def healthy(self) -> bool:
        return True

    async def open(self, call: Call) -> Answer:
        self.calls += 1
        asked = call.body.decode("utf-8", "replace")
        for reply in self._script.answers:
            if reply.when in asked:
                return ScriptedAnswer(reply, call)
        raise UpstreamFault("the script has no answer for this request; add one without `when`", kind="script")


class ScriptedAnswer:
    """One reply, in the shape that was asked for."""

    capture = None

    def __init__(self, reply: ScriptedReply, call: Call) -> None:
        self._reply, self._chat = reply, "chat" in call.path
        body: Mapping[str, Any] = orjson.loads(call.body) if call.body else {}
        self._stream = body.get("stream") is True and reply.body is None
        self._usage = bool((body.get("stream_options") or {}).get("include_usage"))
        self._model = str(body.get("model") or "scripted")
        self.status = reply.status
        self.headers = {"content-type": "text/event-stream" if self._stream else "application/json"}

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._events() if self._stream else [self._whole()]:
            if self._reply.delay:
                await asyncio.sleep(self._reply.delay)
            yield piece

    async def read(self, limit: int) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    def close(self) -> None:
        """Nothing is running."""

    def _envelope(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        chunk = ".chunk" if self._stream else ""
        kind = f"chat.completion{chunk}" if self._chat else "text_completion"
        body = {
            "id": "scripted-1",
            "object": kind,
            "created": int(time.time()),
            "model": self._model,
            "choices": choices,
        }
        return orjson.dumps({**body, **more})

    def _events(self) -> list[bytes]:
        reply = self._reply
        if reply.events is not None:
            return [b"data: " + event.encode() + b"\n\n" for event in reply.events]
        words = re.findall(r"\s*\S+\s*$|\s*\S+", reply.text or "")
        payloads = [self._envelope([self._said(word, "delta")]) for word in words]
        payloads.append(self._envelope([{**self._said("", "delta"), "finish_reason": "stop"}]))
        if self._usage:
            payloads.append(self._envelope([], usage=_usage(len(words))))
        return [b"data: " + payload + b"\n\n" for payload in [*payloads, b"[DONE]"]]

    def _whole(self) -> bytes:
        reply = self._reply
        if reply.body is not None:
            return orjson.dumps(reply.body)
        text = reply.text or ""
        choice = {**self._said(text, "message"), "finish_reason": "stop"}
        return self._envelope([choice], usage=_usage(len(text.split())))

    def _said(self, text: str, holder: str) -> dict[str, Any]:
        said: dict[str, Any] = {holder: {"role": "assistant", "content": text}} if self._chat else {"text": text}
        return {"index": 0, **said, "logprobs": None, "finish_reason": None}


def _usage(words: int) -> dict[str, int]:
    return {"prompt_tokens": 0, "completion_tokens": words, "total_tokens": words}
