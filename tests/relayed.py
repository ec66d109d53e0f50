"""What tests of the relay share: streams in any dress, tool calls, and what a client puts together of them."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import strategies as st

from tests.rig import DONE, delta, event, payloads, usage_event
from tests.sight import words
from tests.wires import Carried

MASK = words("bomb", "炸弹", action="mask", name="mask")
BLOCK = words("bomb", "炸弹", name="block")
PIECES = ("a bo", "mb, b.o.", "m.b or 炸", "弹。", "", "b\u200bom", "b 🙂 e\u0301", "x")


def call(arguments: str | None = None, index: int = 0, **function: Any) -> dict[str, Any]:
    """A tool call's part, as a delta's fields."""
    said = function if arguments is None else {**function, "arguments": arguments}
    return {"tool_calls": [{"index": index, "function": said}]}


def called(body: bytes, index: int = 0, choice: int = 0) -> str:
    """The arguments that a client puts together."""
    return "".join(
        part["function"].get("arguments") or ""
        for data in payloads(body)
        if isinstance(data, dict)
        for of in data["choices"]
        if of["index"] == choice
        for part in of["delta"].get("tool_calls", ())
        if part["index"] == index
    )


def finishes(body: bytes) -> dict[int, list[str]]:
    """The finish reasons each choice was given."""
    told: dict[int, list[str]] = {}
    for data in payloads(body):
        for choice in data["choices"] if isinstance(data, dict) else ():
            if choice["finish_reason"]:
                told.setdefault(choice["index"], []).append(choice["finish_reason"])
    return told


def ends_well(got: Carried) -> bool:
    return got.fault is None and got.body.endswith(DONE) and got.body.count(DONE) == 1


ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
BETWEEN = st.sampled_from([b"", b"", b": ping", b"event: message", b"id: 7", b"retry: 100", b":"])


@st.composite
def wires(draw: st.DrawFn) -> bytes:
    """A stream in any of the dresses that the standard allows, one line end throughout."""
    events: list[bytes] = [delta("", role="assistant")]
    for _ in range(draw(st.integers(0, 7))):
        kind = draw(st.sampled_from(["text", "text", "text", "reason", "call", "other", "usage", "odd"]))
        text = draw(st.sampled_from(PIECES))
        events.append(
            {
                "text": delta(text),
                "reason": delta(reasoning_content=text),
                "call": delta(**call(orjson.dumps(text).decode()[1:-1])),
                "other": delta(text, index=1),
                "usage": usage_event(),
                "odd": event([]),
            }[kind]
        )
    ending = draw(st.sampled_from([[0], [0, 1], []]))
    events += [delta(draw(st.sampled_from([None, "x"])), index=index, finish="stop") for index in ending]
    events += draw(st.sampled_from([[DONE], [usage_event(), DONE], []]))
    end = draw(ENDS)
    lines: list[bytes] = []
    for one in events:
        lines += [line for line in (draw(BETWEEN),) if line]
        payload = one.removeprefix(b"data: ").strip()
        lines += [draw(st.sampled_from([b"data: ", b"data: ", b"data:"])) + payload, b""]
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + end.join([*lines, b""])


def spelled(text: str) -> dict[str, Any]:
    return {"content": [{"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": []}]}


def with_logprobs(text: str, finish: str | None = None) -> bytes:
    return event([{"index": 0, "delta": {"content": text}, "logprobs": spelled(text), "finish_reason": finish}])
