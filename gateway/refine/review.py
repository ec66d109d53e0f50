"""One answer under review while it goes to its client: heard as it streams, and told how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson

from gateway.errors import UpstreamFault
from gateway.outbox import Ending, Hold
from gateway.pulse import Pulse, Write
from gateway.refine.matter import Matter, Result
from gateway.refine.panel import Foresight
from gateway.refine.refiner import Refiner
from gateway.relay import Relay
from gateway.types import Draft, Outcome, Usage, Verdict

_SENTENCE_ENDS = tuple('。！？!?.…；\n”"」』)）')


class Review:
    """The review of one exchange's answer. `over` once it was said how that ends."""

    def __init__(self, refiner: Refiner, matter: Matter, draft: Draft) -> None:
        self._refiner, self._matter, self._draft = refiner, matter, draft
        self._pulse = Pulse(matter.file.keep_alive_seconds)
        self._longest = 0  # characters of an answer that were heard as one that may be at its end
        self._foreseen: Foresight | None = None
        self.over = False

    @property
    def hold(self) -> Hold:
        """What the relay has to keep back."""
        return "all" if self._matter.way.delivery == "hold" else "ends"

    @property
    def delivery(self) -> str:
        return self._matter.way.delivery

    def hear(self, relay: Relay) -> None:
        """The answer has grown. Where it may end as it stands, tiers can begin."""
        if self.over or not self._matter.way.refine:
            return
        for told in relay.told.values():
            if told.tail.rstrip(" ").endswith(_SENTENCE_ENDS) and len(answer := told.text) > self._longest:
                self._longest = len(answer)
                self._foreseen = self._refiner.foresee(self._matter, answer)

    async def keep_alive(self, write: Write, speaks: bool) -> None:
        """Tell a client that has heard nothing for a while that its answer is on the way."""
        await self._pulse.beat(write, speaks)

    async def end(self, relay: Relay, write: Write) -> list[bytes]:
        """Say how the answer ends, and release it. While that takes its time the client is kept alive."""
        self.over = True
        whole = not relay.failed and relay.complete
        work = asyncio.ensure_future(self._endings(relay.answers if whole else {}, relay.calls))
        try:
            await self._pulse.through(work, write)
            return relay.release(work.result(), self._billed())
        finally:
            work.cancel()

    async def whole(self, raw: bytes) -> bytes:
        """An answer in one piece, already judged, as it ends."""
        self.over = True
        data = orjson.loads(raw)
        surface, reading = self._matter.surface, self._matter.surface.read(data)
        calls = {piece.choice for piece in reading.pieces if "call" in piece.channel}
        answers = {p.choice: p.text for p in reading.pieces if p.channel == surface.answer}
        open_ones = {choice: text for choice, text in answers.items() if choice not in self._draft.halted}
        endings = await self._endings(open_ones, calls)
        more = self._billed()
        if not endings and more is None:
            return raw
        instead = {(choice, surface.answer): e.instead for choice, e in endings.items() if e.instead is not None}
        surface.rewrite(data, instead, {})
        for choice, ending in endings.items():
            surface.append(data, choice, ending.behind, ending.note)
        if more is not None:
            surface.billed(data, more)
        try:
            return orjson.dumps(data)
        except TypeError as fault:  # it was JSON once, so all that can be wrong is its depth
            raise UpstreamFault("the upstream's answer is nested too deeply", kind="garbage") from fault

    async def _endings(self, answers: Mapping[int, str], calls: set[int]) -> dict[int, Ending]:
        """How each choice ends that ends otherwise than it came."""
        if not self._matter.way.refine:
            return {}
        forced = any(finding.verdict is Verdict.REFINE for finding in self._draft.findings)
        asked = [choice for choice in answers if choice not in calls]
        results = await asyncio.gather(
            *(self._refiner.close(self._matter, answers[choice], forced, self._foreseen) for choice in asked)
        )
        told = dict(zip(asked, results, strict=True))
        self._draft.refined.update({choice: result.refined for choice, result in told.items()})
        endings = {choice: Ending(one.instead, one.behind, self._note(one)) for choice, one in told.items()}
        return {choice: ending for choice, ending in endings.items() if any(ending)}

    def _note(self, result: Result) -> dict[str, Any] | None:
        """What programs are told: if they asked, or if a stream has no other place to say that it is degraded."""
        refined, matter = result.refined, self._matter
        degraded = refined.outcome is Outcome.DEGRADED
        silent = degraded and matter.exchange.stream and not result.changes
        if refined.outcome is Outcome.UNTOUCHED or not (matter.exchange.explain or silent):
            return None
        told: dict[str, Any] = {"outcome": refined.outcome.value, "why": refined.why}
        told["corrections"] = [one._asdict() for one in refined.corrections]
        return {"refined": {**told, "entry": refined.entry} if refined.entry else told}

    def _billed(self) -> Usage | None:
        """What the second readings add to the client's usage, if the file says so."""
        spent = [refined.usage for refined in self._draft.refined.values() if refined.usage is not None]
        if not self._matter.file.bill or not spent:
            return None
        return Usage(sum(usage.prompt for usage in spent), sum(usage.completion for usage in spent))
