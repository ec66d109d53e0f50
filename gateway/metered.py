"""Rules that follow how sure the model was of each token: the gateway asks for log probabilities, reads them, and takes
them out again for a client that did not ask.

A token is judged when it comes, by those before it alone; so a verdict does not depend on how the stream was cut, and
no text has to wait for it. Of an endpoint that tells none, such a rule is broken, and does what its `on_error` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.calls import CallWindow
from gateway.checks import Meter, TokenCheck
from gateway.judge import OnBroken, answer_for
from gateway.marks import tally
from gateway.rules import Rule
from gateway.surfaces import Surface, Token
from gateway.surfaces.sse import Frame
from gateway.types import Finding
from gateway.waiting import Mark

Tokens = Mapping[int, Sequence[Token]]


class Metering(NamedTuple):
    """The rules that follow an answer's tokens. `strips`: the client did not ask for log probabilities."""

    rules: Sequence[Rule]
    strips: bool
    on_broken: OnBroken = lambda _rule: None


class Blind(Exception):
    """The endpoint tells no log probabilities, so a rule that follows tokens can say nothing."""


def asked(
    surface: Surface, rules: Sequence[Rule], body: dict[str, Any], on_broken: OnBroken
) -> tuple[Metering | None, dict[str, Any]]:
    """How an answer is followed by these rules, and the body that asks for what they need."""
    if not rules:
        return None, body
    metered = surface.metered(body)
    return Metering(rules, metered is not None, on_broken), metered or body


class Gauge:
    """Follows all choices of one answer."""

    def __init__(self, surface: Surface, metering: Metering | None) -> None:
        self._surface = surface
        self._rules, self._strips, self._on_broken = metering or Metering((), False)
        self._seeing = False  # tokens have been told
        self._blind: set[int] = set()  # choices that say what nobody could follow
        self._meters: dict[int, list[tuple[Rule, Meter]]] = {}

    @property
    def needs_all(self) -> bool:
        """Whether it has to see every event."""
        return bool(self._rules)

    def take(
        self, data: dict[str, Any], frame: Frame, framed: Callable[[dict[str, Any]], Frame]
    ) -> tuple[Tokens, Frame]:
        """The tokens that an event says, and the event without them, if the client did not ask."""
        if not self._rules:
            return {}, frame
        tokens = self._surface.tokens(data, self._strips)
        return tokens, framed(data) if self._strips and tokens else frame

    def judge(self, tokens: Tokens, marks: Sequence[Mark]) -> None:
        """Tell the windows of what is found where these texts stand, before they judge them."""
        self._seeing = self._seeing or any(tokens.values())
        if tokens:
            said = [token.surprise for mine in tokens.values() for token in mine]
            tally(nats=sum(said), tokens=len(said))
        for mark in marks if self._rules else ():
            if mark.channel.name == self._surface.answer and not isinstance(mark.window, CallWindow):
                told = self._findings(tokens.get(mark.channel.choice, ()), mark) if self._seeing else self._broken(mark)
                for finding in told:
                    mark.window.note(finding)

    def forget(self, choice: int) -> None:
        """A choice goes on from elsewhere: what came before tells nothing of what comes now."""
        self._meters.pop(choice, None)

    def _broken(self, mark: Mark) -> list[Finding]:
        """What the rules say of an answer that they can't follow; once."""
        if mark.channel.choice in self._blind:
            return []
        self._blind.add(mark.channel.choice)
        for rule in self._rules:
            self._on_broken(rule.id)
        return [finding for rule in self._rules for finding in answer_for(rule, Blind(), mark.start)]

    def _findings(self, tokens: Sequence[Token], mark: Mark) -> list[Finding]:
        """At each token that is out of line; at the whole text, if tokens and text do not agree."""
        meters = self._meters.setdefault(mark.channel.choice, self._made())
        exact = "".join(token.text for token in tokens) == mark.text
        found: dict[tuple[str, int], Finding] = {}
        place = mark.start
        for text, surprise in tokens:
            start, end = (place, place + len(text)) if exact else (mark.start, mark.end)
            for rule, meter in meters:
                if meter.feed(surprise):
                    said = text if exact else mark.text
                    found[rule.id, start] = Finding(rule.id, rule.reason, rule.action, start, end, text=said)
            place = end
        return list(found.values())

    def _made(self) -> list[tuple[Rule, Meter]]:
        return [(rule, rule.check.meter()) for rule in self._rules if isinstance(rule.check, TokenCheck)]
