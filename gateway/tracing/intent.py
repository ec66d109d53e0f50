"""What a stage is about, in one coarse and stable word: the `reasoning_intent` of spans.

- answer      words for the reader
- reasoning   the model thinks, and nothing but thoughts has come so far
- tool_call   the model calls a tool
- refine      an answer is weighed, or read once more
- probe       a rule that takes its time is asked
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

import orjson

from gateway.marks import Trace

Intent = Literal["answer", "reasoning", "tool_call", "refine", "probe"]

MOST_CALLS = 32  # whose ids are kept of one exchange
TEXT, REASONING = "text", "reasoning"
CALL = "call "  # before the id of a tool call, among what was heard

_CALLS = b'"tool_calls"'
_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}").fullmatch
_MODEL = re.compile(r"[A-Za-z0-9._:/@+-]{1,128}").fullmatch


def hear(trace: Trace, payload: bytes) -> None:
    """An event of the upstream, or its whole answer: of what kind it is, and the ids of its calls. No words of it."""
    if TEXT in trace.heard and _CALLS not in payload:
        return
    try:
        told = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return
    choices = told.get("choices") if isinstance(told, dict) else None
    if not isinstance(choices, list):
        return
    model = told.get("model")
    if "response_model" not in trace.facts and isinstance(model, str) and _MODEL(model):
        trace.facts["response_model"] = model
    for choice in choices:
        if isinstance(choice, dict):
            _hear(trace.heard, choice.get("delta") or choice.get("message") or choice)


def _hear(heard: dict[str, None], said: Any) -> None:
    if not isinstance(said, dict):
        return
    if said.get("content") or said.get("text"):
        heard[TEXT] = None
    if said.get("reasoning") or said.get("reasoning_content"):
        heard[REASONING] = None
    calls = said.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        name = call.get("id") if isinstance(call, dict) else None
        if isinstance(name, str) and _ID(name) and len(heard) < MOST_CALLS + 2:
            heard[CALL + name] = None


def calls(heard: Collection[str]) -> tuple[str, ...]:
    """The ids of the tool calls that were heard, in their order."""
    return tuple(one.removeprefix(CALL) for one in heard if one.startswith(CALL))


def intent(heard: Collection[str]) -> Intent:
    """What an answer is about of which this was heard so far."""
    if any(one.startswith(CALL) for one in heard):
        return "tool_call"
    return "reasoning" if REASONING in heard and TEXT not in heard else "answer"
