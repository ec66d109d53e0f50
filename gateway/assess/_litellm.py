"""LiteLLM's standard logging payload, a line each, bare or under `standard_logging_object`."""

from __future__ import annotations

from typing import Any

from gateway.assess import _bodies
from gateway.assess._line import Format, Line, Told, count, first, time

_REDACTED = "redacted-by-litellm"
_STEPPED_IN = frozenset({"guardrail_intervened", "blocked"})
_POLICY = ("ContentPolicyViolation", "Guardrail", "BlockedPiiEntity", "content_filter", "content policy")


def read(_raw: bytes, told: Told | None) -> Line | None:
    """A payload; its words are used unless LiteLLM was told to leave them out."""
    if told is not None and isinstance(told.get("standard_logging_object"), dict):
        told = told["standard_logging_object"]
    if told is None or "call_type" not in told or "startTime" not in told:
        return None
    asked, answer = told.get("messages"), told.get("response")
    hidden = _REDACTED in str(asked)[:200]
    line = Line()
    if asked and not hidden:
        body: dict[str, Any] = {"model": told.get("model_group") or told.get("model") or ""}
        body |= {"messages": asked} if isinstance(asked, list) else {"prompt": asked}
        line = _bodies.line(body, answer or None)
    return line._replace(
        at=time(told["startTime"]),
        rejected=_rejected(told) or bool(line.rejected),
        tenant=_tenant(told.get("metadata")),
        prompt=_tokens(told, "prompt_tokens") or line.prompt,
        completion=_tokens(told, "completion_tokens") or line.completion,
    )


def _tokens(told: Told, name: str) -> int | None:
    """LiteLLM writes 0 where it knows nothing, as of failed calls."""
    return count(told.get(name)) or None


def _tenant(metadata: object) -> str:
    if not isinstance(metadata, dict):
        return ""
    return str(first(metadata, "user_api_key_team_id", "user_api_key_team_alias", "user_api_key_hash") or "")


def _rejected(told: Told) -> bool:
    fields = told.get("status_fields")
    guards = told.get("guardrail_information")
    listed = guards if isinstance(guards, list) else [guards]
    stepped = {str(one.get("guardrail_status")) for one in (fields, *listed) if isinstance(one, dict)}
    error = told.get("error_information")
    words = str(error.get("error_class")) if isinstance(error, dict) else ""
    words += str(told.get("error_str") or "")
    return bool(stepped & _STEPPED_IN) or (told.get("status") == "failure" and any(word in words for word in _POLICY))


FORMAT = Format("litellm", "LiteLLM's standard logging payload", "LiteLLM 的标准日志", read)
