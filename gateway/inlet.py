"""A request becomes an Exchange, and the input rules judge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from gateway import headers, leaves
from gateway.calls import CallWindow
from gateway.config import House
from gateway.errors import BadRequest, GuardBroken, Refused, TooLarge
from gateway.judge import silent
from gateway.rules import BROKEN, Place
from gateway.surfaces import Surface
from gateway.types import Draft, Exchange, Finding, Principal, Side, Text, Verdict
from gateway.window import Window

LONGEST_NAME = 256  # characters of a model's name: what is remembered of names must not grow with what clients send


class Canned(NamedTuple):
    """The rules answer in the model's stead."""

    message: str


def admit(
    surface: Surface, sent: Mapping[str, str], raw: bytes, principal: Principal
) -> tuple[Exchange, dict[str, Any]]:
    """Understand a request; BadRequest says what is wrong with it."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as fault:
        raise BadRequest(f"the body is not JSON: {fault}") from fault
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    try:
        asked = surface.admit(body)
    except RecursionError as fault:
        raise BadRequest(f"the body is {fault}") from fault
    if len(asked.model) > LONGEST_NAME:
        raise BadRequest(f"`model` is longer than {LONGEST_NAME} characters", param="model")
    exchange = Exchange(
        id=headers.new_id(),
        surface=surface.name,
        model=asked.model,
        principal=principal,
        texts=asked.texts,
        stream=asked.stream,
        choices=asked.choices,
        wants_usage=asked.wants_usage or not asked.stream,
        explain=sent.get(headers.EXPLAIN) == "1",
        session=_session(sent, body) or asked.session[:LONGEST_NAME],
    )
    return exchange, body


def _session(sent: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """What the client calls its session: in our header, or in a field that SDKs have for it."""
    named = sent.get(headers.SESSION) or body.get("prompt_cache_key") or body.get("user")
    return named[:LONGEST_NAME] if isinstance(named, str) else ""


def judge(house: House, exchange: Exchange, body: dict[str, Any], draft: Draft) -> dict[str, Any] | Canned:
    """The body that may go on, with what is to be masked masked. Refused if a rule blocks it."""
    who, limits = exchange.principal, house.file.limits
    if sum(len(text.text) for text in exchange.texts) > limits.text_chars:
        raise TooLarge(f"the request holds more than {limits.text_chars} characters of text (`limits.text_chars`)")
    for text in exchange.texts:
        lanes = house.judge.lanes(Place(Side.INPUT, exchange.surface, exchange.model, who.tenant, who.tier, text.role))
        escaped = text.path[-1] == "arguments" or _is_json(body, text)
        words = text.text if text.whole else _joined(leaves.at(body, text.path))
        if not lanes or (not escaped and silent(lanes, words)):
            continue
        window = CallWindow(lanes) if escaped else Window(lanes)
        window.feed(words, final=True)
        findings = window.taken()
        draft.findings += findings
        draft.asked = len(draft.findings)
        if window.halted:
            return blocked(house, text, window.halted)
        if any(finding.verdict is Verdict.MASK for finding in findings):
            masked = window.render(0, words)
            here = masked if text.whole else _merged(leaves.at(body, text.path), masked)
            body = leaves.replaced(body, text.path, here)
    return body


def _is_json(body: dict[str, Any], text: Text) -> bool:
    """Whether a text is JSON that was made of what the body holds: the arguments of a call, in some formats."""
    return text.whole and text.path[-1] == "input" and isinstance(leaves.at(body, text.path), dict)


def _joined(parts: list[Any]) -> str:
    """The text of a message that comes in parts, as the model reads it."""
    return "\n".join(part["text"] for part in parts if _is_text(part))


def _merged(parts: list[Any], text: str) -> list[Any]:
    """The parts with all their text in the first that has any: what was masked reached over several."""
    first = next(number for number, part in enumerate(parts) if _is_text(part))
    rest = [part for number, part in enumerate(parts) if number > first and not _is_text(part)]
    return [*parts[:first], {**parts[first], "text": text}, *rest]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def blocked(house: House, text: Text, finding: Finding) -> Canned:
    """What a request is told that a finding blocks: the rule's words or the reason's, in the language of the text."""
    rule = house.rules[finding.rule]
    reason = house.reasons[finding.reason]
    words = (rule.message if finding.reason != BROKEN else None) or reason.message
    language = "zh" if any("\u4e00" <= char <= "\u9fff" for char in text.text) else "en"
    message = words.get(language) or next(iter(words.values()))  # type: ignore[call-overload]
    if finding.reason == BROKEN:
        raise GuardBroken(f"[{BROKEN}] {message}", status=reason.status, reason=BROKEN, rule=finding.rule)
    if rule.respond == "answer":
        return Canned(message)
    param = ".".join(map(str, text.path))
    raise Refused(f"[{reason.code}] {message}", status=reason.status, reason=reason.code, rule=rule.id, param=param)
