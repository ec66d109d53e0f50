"""Request bodies of the OpenAI protocol, a line each, bare or with what was answered; and what `retrace` samples.

{"messages": [...]}                                   what was asked
{"tenant": "acme", "body": {...}}                     ... and whose it is
{"time": "...", "request": {...}, "response": {...}}  ... and what was answered: chat, completions, responses, messages
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.assess._line import Format, Line, Told, count, first, size, texts, time

_ASKED = ("request", "body", "request_body", "req", "input", "reqPayload")
_SAID = ("response", "response_body", "resp", "output", "respPayload", "completion")
_WHEN = ("at", "time", "timestamp", "ts", "@timestamp", "created_at", "requestedAt", "startTime", "start_time")
_WHOSE = ("tenant", "team", "customer", "user", "organization")
# Words by which endpoints say that a filter stepped in.
_STOPPED = frozenset({"content_filter", "refusal", "safety", "guardrail", "guardrail_intervened"})
_CODES = frozenset({"content_filter", "content_policy_violation", "guard_unavailable", "responsible_ai_policy"})


def read(_raw: bytes, told: Told | None) -> Line | None:
    """A body, or a body with its answer."""
    if told is None:
        return None
    body = told if _is_request(told) else first(told, *_ASKED)
    if not isinstance(body, dict) or not _is_request(body):
        return None
    answer = first(told, *_SAID) if body is not told else None
    return line(body, answer)._replace(
        at=_when(told, answer), tenant=str(first(told, *_WHOSE) or "") if body is not told else ""
    )


def _is_request(told: Told) -> bool:
    asked = first(told, "messages", "prompt", "input")
    return isinstance(asked, str | list) and "choices" not in told


def _when(told: Told, answer: object) -> float | None:
    return time(first(told, *_WHEN)) or (time(answer.get("created")) if isinstance(answer, dict) else None)


def line(body: Told, answer: object) -> Line:
    """What a request and its answer come to. An answer that is a text was cut by nobody, as far as is known."""
    asked = "\n".join(texts([body.get("system"), *_listed(first(body, "messages", "prompt", "input"))]))
    said = "\n".join(texts(_said(answer)))
    prompt, completion = usage(answer)
    return Line(
        rejected=rejected(answer),
        body=body,
        asked=size(asked),
        said=None if answer is None else size(said),
        prompt=prompt,
        completion=completion,
        question=_question(body),
        answer=said,
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _question(body: Told) -> str:
    messages = first(body, "messages", "input")
    if not isinstance(messages, list):
        return "\n".join(texts(first(body, "prompt", "input")))
    users = [one for one in messages if isinstance(one, dict) and one.get("role") == "user"]
    return "\n".join(texts(users[-1])) if users else ""


def _said(answer: object) -> object:
    if not isinstance(answer, dict):
        return answer
    choices = answer.get("choices")
    if isinstance(choices, list):
        return [first(one, "message", "delta", "text") for one in choices if isinstance(one, dict)]
    return first(answer, "output", "content", "output_text", "text")


def usage(answer: object) -> tuple[int | None, int | None]:
    """Tokens of prompt and completion, by whichever names."""
    told = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(told, dict):
        return None, None
    return count(first(told, "prompt_tokens", "input_tokens")), count(first(told, "completion_tokens", "output_tokens"))


def rejected(answer: object) -> bool | None:
    """Whether a filter stepped in; None where there is no answer to tell by."""
    if isinstance(answer, str):
        return False
    if not isinstance(answer, dict):
        return None
    error = answer.get("error")
    if isinstance(error, Mapping):
        return bool({str(error.get("code")), str(error.get("type"))} & _CODES)
    reasons = {str(answer.get("stop_reason")), str(_of(answer.get("incomplete_details"), "reason"))}
    choices = answer.get("choices")
    for one in choices if isinstance(choices, list) else ():
        reasons.add(str(_of(one, "finish_reason")))
        if _of(_of(one, "message"), "refusal"):
            return True
    return bool(reasons & _STOPPED)


def _of(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


FORMAT = Format("bodies", "request bodies of the OpenAI protocol", "OpenAI 协议的请求体", read)
