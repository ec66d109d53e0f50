"""The way on from where an answer was cut back: what is asked of the endpoint, in the best form that it takes.

What an endpoint takes is found out: to continue a text and to ban words are tried, and not asked again of one that
refused. Whoever can't continue a text is told to go on from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from gateway.backends import Answer
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.relay import Relay
from gateway.rewind import Seam, Stitch
from gateway.rules import Rule
from gateway.surfaces import Asking, Continuation, Surface, sse
from gateway.terms import Terms
from gateway.types import Draft, Exchange
from gateway.upstream import LARGEST_ERROR, OPTIONAL, Upstream

_REFUSALS = (400, 404, 422)
_MOST_BANNED = 64
_FEATURES = {"continue": b"continue_final_message", "ban": b"bad_words"}


class Resumed(NamedTuple):
    """An answer that goes on: events to begin with, and then those of a call, each told by the stitch."""

    begin: list[sse.Frame]
    answer: Answer
    stitch: Stitch


class Resumer:
    """Goes on with one exchange's answer. `refused`: what each backend is known not to take."""

    def __init__(
        self,
        upstream: Upstream,
        metrics: Metrics,
        refused: dict[str, frozenset[str]],
        surface: Surface,
        exchange: Exchange,
        body: Mapping[str, Any],
        sent: Mapping[str, str],
        rules: Mapping[str, Rule],
        terms: Terms,
    ) -> None:
        self._upstream, self._metrics, self._refused = upstream, metrics, refused
        self._surface, self._exchange, self._body, self._sent = surface, exchange, body, sent
        self._rules, self._terms = rules, terms
        self._banned: dict[str, None] = {}
        self._others: dict[int, int] = {}  # for a choice that goes on: tokens of the others

    async def resume(self, relay: Relay, trip: Trip) -> Resumed:
        """Go on with a choice that was cut back. UpstreamFault if the endpoint won't."""
        attempt = next(reversed(relay.rewound.values()))  # one goes on until it is over, also if it is cut again
        choice, head, draft = attempt.choice, relay.head or {}, trip.draft
        rule = self._rules[attempt.finding.rule]
        self._metrics.observe_rewind(attempt.finding.reason, attempt.anchor, attempt.wasted)
        if not draft.attempts and draft.usage is not None:  # it tells of all, also of what is lost
            lost = sum(one.wasted for one in relay.rewound.values())
            draft.usage = replace(draft.usage, completion=max(draft.usage.completion - lost, 0))
        kept = relay.resume(choice)
        others = self._others.setdefault(choice, self._tokens_beside(choice, relay, draft))
        begin, steer = [], rule.rewinding.steer
        language = "zh" if _is_chinese(kept or attempt.finding.text) else "en"
        if steer.say and self._surface.free(self._body):
            said = _worded(steer.say, language)
            begin = [_frame(self._surface.spoken(head, choice, said))]
            kept += said
        if rule.rewinding.ban and attempt.finding.text.strip():
            self._banned[attempt.finding.text.strip()] = None
        tokens = sum(one.stands for one in draft.attempts if one.choice == choice)
        more = Continuation(kept, choice, tokens, tell=_worded(steer.tell or {}, language))
        answer, instructed = await self._open(more)
        seam = Seam(kept) if instructed else None
        return Resumed(begin, answer, Stitch(self._surface, head, choice, draft, others, seam))

    def _tokens_beside(self, choice: int, relay: Relay, draft: Draft) -> int:
        """Tokens of the other choices: as the upstream told them if it did, else by their events."""
        attempts = [*draft.attempts, *relay.rewound.values()]
        mine = sum(one.stands for one in attempts if one.choice == choice)
        if self._exchange.choices == 1:
            return 0
        if draft.usage is not None:
            return max(draft.usage.completion - mine, 0)
        return relay.counted(choice) + sum(one.stands for one in attempts) - mine

    async def _open(self, more: Continuation) -> tuple[Answer, bool]:
        """The call, and whether it was only told to go on."""
        path = self._surface.upstream_path or self._surface.paths[0]
        name = f"{self._upstream.serving(self._exchange.model)} {path}"
        without = self._refused.get(name, frozenset())
        for _ in range(len(_FEATURES) + 1):
            banned = [] if "ban" in without else list(self._banned)[-_MOST_BANNED:]
            wanted = more._replace(instruct="continue" in without, ban=banned)
            asking = self._surface.resume(self._body, wanted)._replace(optional=OPTIONAL)
            answer = await self._upstream.open(asking, self._sent, self._exchange, self._terms)
            if answer.status not in _REFUSALS:
                willing = _willing(answer)
                self._refused[name] = without  # without these it does go on: that was all that it had against it
                return willing, wanted.instruct and bool(more.kept)
            without |= await _blamed(answer, asking)
        raise UpstreamFault("the upstream would not go on with an answer that was cut back", kind="no_resume")


async def _blamed(answer: Answer, asking: Asking) -> frozenset[str]:
    """What a refusal is about of what was asked for: what it names, else all of it."""
    try:
        told = await answer.read(LARGEST_ERROR)
    finally:
        answer.close()
    tried = frozenset(name for name, field in _FEATURES.items() if field.decode() in asking.body)
    named = frozenset(name for name in tried if _FEATURES[name] in told)
    if not tried:
        raise UpstreamFault(f"the upstream refused to go on, with status {answer.status}", kind="no_resume")
    return named or tried


def _willing(answer: Answer) -> Answer:
    if answer.status >= 400 or "event-stream" not in answer.headers.get("content-type", ""):
        answer.close()
        raise UpstreamFault(f"the upstream would not go on, with status {answer.status}", kind="no_resume")
    return answer


def _frame(data: Mapping[str, Any]) -> sse.Frame:
    payload = orjson.dumps(data)
    return sse.Frame(sse.frame(payload), payload)


def _worded(words: Mapping[Any, str], language: str) -> str:
    return words.get(language) or next(iter(words.values()), "")


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text[-200:])
