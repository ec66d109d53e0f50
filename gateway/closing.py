"""How an answer ends that output rules are asked about which take their time: it is held, heard, then read once more.

Nothing of a choice that one of them blocks leaves, neither its text nor its calls, also where a fast rule had halted
it before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gateway import marks
from gateway.jury import Case, Jury, Ruling, blocking
from gateway.outbox import Hold
from gateway.probes import Question
from gateway.pulse import Pulse, Write
from gateway.refine.review import Review
from gateway.relay import Manner, Relay
from gateway.rules import Rule
from gateway.surfaces import Surface, sse
from gateway.types import Draft, Exchange, Finding, Side

KEEP_ALIVE = 5.0  # seconds, where the configuration names none


class Closing:
    """The end of one exchange's answer. `over` once it was heard. `review`: what reads it once more then."""

    hold: Hold = "judged"
    delivery = "hold"

    def __init__(
        self,
        jury: Jury,
        rules: Sequence[Rule],
        surface: Surface,
        exchange: Exchange,
        draft: Draft,
        review: Review | None,
        keep_alive: float | None,
    ) -> None:
        self._jury, self._rules = jury, rules
        self._surface, self._exchange, self._draft, self._review = surface, exchange, draft, review
        self._pulse = Pulse(keep_alive or KEEP_ALIVE)
        self.over = False

    def hear(self, relay: Relay) -> None:
        """The answer has grown."""
        if self._review is not None:
            self._review.hear(relay)

    async def keep_alive(self, write: Write, speaks: bool) -> None:
        """Tell a client that has heard nothing for a while that its answer is on the way."""
        await self._pulse.beat(write, speaks)

    async def end(self, relay: Relay, write: Write) -> list[bytes]:
        """Say how the answer ends, and release it. While that takes its time the client is kept alive."""
        self.over = True
        work = asyncio.ensure_future(self._against(relay.said))
        try:
            await self._pulse.through(work, write)
            for choice, finding in work.result().items():
                relay.withhold(choice, finding)
        finally:
            work.cancel()
        return relay.release({}) if self._review is None else await self._review.end(relay, write)

    async def whole(self, raw: bytes) -> bytes:
        """An answer in one piece, already judged by the fast rules, as it ends."""
        self.over = True
        beside = Draft()  # what the fast rules halted ends as it does; all of it is heard
        relay = Relay(self._surface, self._exchange, beside, lambda _role: (), bytes, Manner("judged", records=True))
        kept = relay.feed([sse.Frame(raw, raw)], final=True)
        for choice, finding in (await self._against(relay.said)).items():
            relay.withhold(choice, finding)
            self._draft.halted.setdefault(choice, finding)
            self._draft.finish[choice] = beside.finish[choice]
        out = b"".join([*kept, *relay.release({})])
        return out if self._review is None else await self._review.whole(out)

    async def _against(self, said: Mapping[int, str]) -> dict[int, Finding]:
        """What speaks against choices; whatever else is found is noted."""
        with marks.stage("close"):
            ruled = await asyncio.gather(*(self._jury.rulings(self._cases(text)) for text in said.values() if text))
        spoken = [choice for choice, text in said.items() if text]
        rulings: Mapping[int, Sequence[Ruling]] = dict(zip(spoken, ruled, strict=True))
        self._draft.findings += [ruling.finding for mine in rulings.values() for ruling in mine]
        ends = {choice: blocking(mine) for choice, mine in rulings.items()}
        return {choice: ruling.finding for choice, ruling in ends.items() if ruling is not None}

    def _cases(self, text: str) -> list[Case]:
        exchange = self._exchange
        who = exchange.principal.tenant
        question = Question(exchange.id, Side.OUTPUT, text, "assistant", who, exchange.model)
        return [Case(rule, question) for rule in self._rules]
