"""Decides whether an answer is read once more, has it read, and says what becomes of it.

- wanted     a rule asks for it (`action: refine`), or the tiers do, cheap to dear       panel.py
- known      read before, the same or one just like it                                   memo.py
- place      within its limits: quota, places, breaker, and all of it within the time    guards.py
- reading    the model reads its own answer, behind the conversation                     ask.py, reply.py
- result     what has evidence and is found in the answer is put in, and judged again    result.py
- caution    it should have been read and could not be: tags, and a place in the queue   result.py, docket.py

Refining never makes an answer worse: whatever goes wrong in here, the guarded first draft goes out, and says so.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from classifiers.manifest import ModelFault
from gateway import leaves, marks
from gateway.errors import Fault, Unavailable, UpstreamFault
from gateway.metrics import Metrics
from gateway.refine import ask, caution
from gateway.refine.ask import Post, Reader, Reading
from gateway.refine.backlog import Backlog
from gateway.refine.docket import Docket, Entry
from gateway.refine.file import RefineFile
from gateway.refine.guards import Gatekeeper, Guards, Refusal
from gateway.refine.matter import Matter, Result, unfit
from gateway.refine.memo import CacheSpec, Memo
from gateway.refine.panel import Foresight, Panel, Wish
from gateway.refine.result import corrected, degraded
from gateway.similar import Similar
from gateway.tiers import Case
from gateway.types import Correction, Outcome, Refined

log = logging.getLogger(__name__)

BY_RULE = "rule"  # why an answer is read that a rule asks to be
LATE = "late"  # why a person should look at one that was found wrong when it had long been out
LATE_SECONDS = 60.0  # that a reading may take for which nobody waits


class Later(NamedTuple):
    """An answer to be read when little is going on; nobody waits for it."""

    matter: Matter
    case: Case


class Refiner:
    """The refining of one process. Without a file (see `apply`) nothing is read twice."""

    def __init__(self, metrics: Metrics, post: Post, in_flight: Callable[[], int]) -> None:
        self._metrics, self._in_flight = metrics, in_flight
        self._reader = Reader(post)
        self._file: RefineFile | None = None
        self._panel = Panel((), metrics)
        self._gate = Gatekeeper(Guards())
        self._memo: Memo | None = None
        self._docket: Docket | None = None
        self._backlog: Backlog[Later] | None = None
        self._working: asyncio.Task[None] | None = None

    async def apply(self, file: RefineFile | None, folder: Path) -> None:
        """Refine by this file from now on. What it says as before stays as it is, with all that it knows."""
        old, self._file = self._file, file
        if file == old:
            return
        new, was = file or RefineFile(cache=None), old or RefineFile(cache=None)
        if new.tiers != was.tiers:
            panel = Panel(new.tiers, self._metrics)
            await panel.start()
            replaced, self._panel = self._panel, panel
            await replaced.stop()
        if new.guards != was.guards:
            self._gate = Gatekeeper(new.guards)
        if new.cache != was.cache:
            self._memo = await self._opened(new.cache) if new.cache else None
        if new.queue != was.queue:
            await self._apply_queue(new, folder)
        if new.backlog != was.backlog:
            await self._apply_backlog(new)

    async def _opened(self, spec: CacheSpec) -> Memo:
        """An empty cache. One whose models can't be loaded finds only what is the same."""
        similar = None
        if spec.near:
            try:
                similar = await asyncio.to_thread(Similar)
            except ModelFault as fault:
                log.error("answers like those read before are not found: %s", fault)
        return Memo(spec, similar.codes if similar else None, self._metrics.refine_cache)

    async def _apply_queue(self, file: RefineFile, folder: Path) -> None:
        replaced = self._docket
        self._docket = file.queue.connect(folder, self._metrics.docket) if file.queue else None
        if self._docket is not None:
            await self._docket.start()
        if replaced is not None:
            await replaced.stop()

    async def _apply_backlog(self, file: RefineFile) -> None:
        await self._stop_working()
        self._backlog = Backlog(file.backlog, self._metrics.backlog, (Fault, Refusal)) if file.backlog else None
        if self._backlog is not None:
            self._working = asyncio.create_task(self._backlog.run(self._read_late, self._in_flight))

    async def stop(self) -> None:
        await self._stop_working()
        await self._panel.stop()
        if self._docket is not None:
            await self._docket.stop()

    async def _stop_working(self) -> None:
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)
            self._working = None

    @property
    def up(self) -> bool:
        """Whether second readings are made."""
        return not self._gate.breaker.open

    def wrong(self, tenant: str, entry: str) -> bool:
        """What was taken from the cache under this name was wrong; false if there is no such entry of this tenant."""
        return self._memo is not None and self._memo.wrong(tenant, entry)

    def foresee(self, matter: Matter, answer: str) -> Foresight | None:
        """This may be the answer as it stands: what can be thought of it already, and tiers that need long begin."""
        return self._panel.foresee(matter.case(answer)) if unfit(matter, answer) is None else None

    async def close(
        self, matter: Matter, answer: str, forced: bool = False, foreseen: Foresight | None = None
    ) -> Result:
        """What becomes of an answer that is at its end. Raises nothing but that it is cancelled."""
        if why := unfit(matter, answer):
            self._metrics.observe_refined(Outcome.UNTOUCHED, why, 0.0)
            return Result(Refined(Outcome.UNTOUCHED, why))
        began = time.perf_counter()
        until = asyncio.get_running_loop().time() + matter.file.guards.seconds
        case = foreseen.case if foreseen is not None and foreseen.case.answer == answer else matter.case(answer)
        with marks.stage("review") as seen:
            try:
                async with asyncio.timeout_at(until):
                    wish = Wish(True, BY_RULE) if forced else await self._panel.judge(case, foreseen)
                    result = await self._fulfilled(matter, case, wish, until)
            except TimeoutError:
                result = self._missed(matter, case, "slow")
            refined = result.refined
            seen.note(outcome=refined.outcome.value, why=refined.why, corrections=len(refined.corrections))
        self._metrics.observe_refined(refined.outcome, refined.why, time.perf_counter() - began)
        return result

    async def _fulfilled(self, matter: Matter, case: Case, wish: Wish, until: float) -> Result:
        if not wish.wanted:
            if wish.broken:
                return self._missed(matter, case, wish.broken, always=False)
            if wish.risk > 0 and self._backlog is not None:
                self._backlog.add(Later(matter, case))
            return Result(Refined(Outcome.UNTOUCHED, wish.why))
        hit = self._memo.get(case.tenant, case.question, case.answer, _scope(matter, case)) if self._memo else None
        if hit is not None:
            known = Refined(Outcome.FINE, "known" if hit.exact else "alike", entry=hit.entry)
            return self._corrected(matter, case, hit.corrections, known)
        try:
            reading = await self._read(matter, case, until)
        except Refusal as refusal:
            return self._missed(matter, case, refusal.why)
        except Fault as fault:
            log.warning("%s: the second reading failed: %s", matter.exchange.id, fault.message)
            return self._missed(matter, case, "failed")
        if not reading.reply.readable:
            return self._missed(matter, case, "unreadable")
        found = Refined(Outcome.FINE, wish.why, (), reading.usage, self._remember(matter, case, reading))
        return self._corrected(matter, case, reading.reply.corrections, found)

    async def _read(self, matter: Matter, case: Case, until: float) -> Reading:
        """One reading, within its limits. Refusal or Fault if there is none; the breaker hears of it.

        `until` is the event loop's time at which the caller gives up.
        """
        errand, manner = matter.errand(case), matter.manner
        async with self._gate.place(case.tenant, matter.way.quota, ask.tokens(errand, manner)):
            try:
                reading = await self._reader.read(errand, manner)
            except asyncio.CancelledError:
                if asyncio.get_running_loop().time() >= until:  # it was slow; else its client has left
                    self._gate.breaker.failed()
                raise
            except (UpstreamFault, Unavailable) as fault:
                if not (isinstance(fault, UpstreamFault) and fault.kind.startswith("status_4")):  # of one request alone
                    self._gate.breaker.failed()
                raise
            self._gate.breaker.succeeded()
        self._gate.spent.add(case.tenant, reading.usage.prompt + reading.usage.completion)
        self._metrics.observe_reading(case.tenant, reading.usage, reading.cached)
        for fate in reading.reply.dropped:
            self._metrics.corrected(fate)
        return reading

    def _remember(self, matter: Matter, case: Case, reading: Reading) -> str:
        """What the cache calls it from now on."""
        if self._memo is None:
            return ""
        scope = _scope(matter, case)
        return self._memo.put(case.tenant, scope, case.question, case.answer, reading.reply.corrections)

    def _corrected(self, matter: Matter, case: Case, corrections: tuple[Correction, ...], refined: Refined) -> Result:
        result, dropped = corrected(matter, case.answer, corrections, refined)
        for fate in dropped:
            self._metrics.corrected(fate)
        self._metrics.corrected("made", len(result.refined.corrections))
        return result

    def _missed(self, matter: Matter, case: Case, why: str, *, always: bool = True) -> Result:
        """It should have been read, and could not be: said in the answer, and to whoever works off the queue."""
        result = degraded(matter, case.answer, why, always=always)
        if result.refined.outcome is Outcome.DEGRADED:
            self._queue(matter, case, why)
            if self._backlog is not None:
                self._backlog.add(Later(matter, case))
        return result

    async def _read_late(self, later: Later) -> None:
        """The reading of an answer that is long out: what it gives is kept for the next like it."""
        matter, case = later
        until = asyncio.get_running_loop().time() + LATE_SECONDS
        try:
            async with asyncio.timeout_at(until):
                reading = await self._read(matter, case, until)
        except TimeoutError:
            raise Refusal("slow") from None
        if not reading.reply.readable:
            return
        self._remember(matter, case, reading)
        if corrected(matter, case.answer, reading.reply.corrections, Refined(Outcome.FINE))[0].refined.corrections:
            self._queue(matter, case, LATE)

    def _queue(self, matter: Matter, case: Case, why: str) -> None:
        if self._docket is None:
            return
        spans = tuple((span.start, span.end, span.kind) for span in caution.spans(case.answer))
        name = f"{matter.exchange.id}-{secrets.token_hex(4)}"  # an exchange may have several answers, and each twice
        who = (name, time.time(), case.tenant, case.surface, case.model)
        self._docket.add(Entry(*who, (why,), case.language, case.question, case.answer, spans, case.domain))


def _scope(matter: Matter, case: Case) -> str:
    """Within which a reading holds: the model, and all by which it was checked, be it a text, a picture or a tool.

    Only the question is left out, since it may be asked in other words.
    """
    digest = blake2b(digest_size=16)
    asking = matter.surface.review(matter.body, "", "")
    for _, text in leaves.texts(asking.body):
        if text.strip() != case.question.strip():
            digest.update(f"{len(text)} {text}".encode(errors="surrogatepass"))
    return f"{case.model} {digest.hexdigest()}"
