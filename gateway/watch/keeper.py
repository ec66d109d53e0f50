"""Keeps what is known of policies: notes it in the state file, tells who should know, and has trials ended.

What happens with each configuration stands in versions.py, who judges a trial in umpire.py; here it meets the clock and
the disk. The state file is begun when an engine first tells of a capture: before that there is nothing to guard. If it
can't be written all of it holds in this process, which is said and counted, and tried again. Other processes follow
the file through the hot reload.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from gateway.config import House
from gateway.errors import ConfigFault
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.rules import Inject
from gateway.types import Reuse
from gateway.watch import register, versions
from gateway.watch.pairs import Arm, Pair
from gateway.watch.trials import Verdict
from gateway.watch.trying import Trying
from gateway.watch.umpire import Umpire
from gateway.watch.versions import Event, PolicyFile, Standing
from gateway.watch.watchman import Trials
from gateway.witness import Witness

log = logging.getLogger(__name__)

LEFT = 499  # the status that is booked when the client has left

T = TypeVar("T")

Note = Callable[[str, Mapping[str, Any]], None]
Change = Callable[[PolicyFile], Awaitable[None]]

SAID = {
    "begun": "a new policy is tried on a share of the sessions",
    "withdrawn": "the policy that was tried is no longer asked for",
    "at_once": "a new policy is in force",
    "accepted": "the policy that was tried is in force for all",
    "turned_back": "the policy that was tried is turned back, the old one stays",
    "unconfirmed": "its rules changed: nothing is reused until `retrace policy confirm` says its policy still fits",
    "confirmed": "its policy was confirmed for the rules as they are",
}


class Keeper(Witness, Trials):
    """One process's. `change` puts a state in force that no file may say; `note` hears of all that happens."""

    def __init__(
        self, metrics: Metrics, change: Change, note: Note = lambda _kind, _told: None, every: float = 5.0
    ) -> None:
        self._metrics, self._change, self._note, self._every = metrics, change, note, every
        self._house: House | None = None
        self._standing = Standing()
        self._path = Path()
        self._wanted = False  # an engine has told of a capture
        self._failed = False
        self._umpire = Umpire()
        self._work: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    async def apply(self, house: House) -> None:
        """A new configuration: what it changes is noted and told."""
        async with self._turn:
            before, path = self._standing, house.folder / house.file.retrace.policies
            await self._umpire.move(path)
            self._path, self._house, self._standing = path, house, house.standing
            noted = await self._noted()
            for event in house.standing.events if noted is None else noted:
                self._happened(event.code, event.what)
            self._tell_codes(before, house.standing)
            self._umpire.follow(house.standing, house.watch.trials if house.watch is not None else Trying())
            self._run(self._busy)

    async def stop(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        async with self._turn:
            await self._umpire.let_go()

    def reuse(self, reuse: Reuse) -> None:
        if not self._wanted:
            self._wanted = True
            self._run(True)

    def over(self, trip: Trip) -> None:
        """A request of a session in a trial: its visit goes on."""
        exchange, trials = trip.exchange, self._standing.trials
        if not trials or exchange is None or not exchange.session or self._house is None:
            return
        arms = {trial.key: self._house.terms.arm(code, exchange) for code, trial in trials.items()}
        who = f"{len(exchange.principal.tenant)}:{exchange.principal.tenant}{exchange.session}"
        session = blake2b(who.encode(errors="surrogatepass"), digest_size=12).digest()
        self._umpire.seen(session, arms, trip.status == LEFT, trip.at)

    @property
    def going(self) -> bool:
        return bool(self._standing.trials)

    def share(self, reason: str, arm: Arm) -> float:
        """All of the few that get the new policy, and about as many of the others."""
        trial = self._standing.trials.get(reason)
        if trial is None:
            return 0.0
        return 1.0 if arm == "new" else min(1.0, trial.share / (1 - trial.share))

    def pair(self, pair: Pair) -> None:
        """An exchange was served twice."""
        self._umpire.pair(pair)

    @property
    def _busy(self) -> bool:
        """Whether there is anything to do: trials, or what could not be noted yet."""
        return bool(self._standing.trials) or self._due

    @property
    def _due(self) -> bool:
        return not self._standing.fault and (self._failed or (self._wanted and not self._path.exists()))

    def _run(self, wanted: bool) -> None:
        if wanted and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self.run())

    async def run(self) -> None:
        """Work while there is any."""
        while self._busy:
            async with self._turn:
                if self._due:
                    await self._noted()
                ended = await self._umpire.look()
                state = await self._ended(*ended) if ended is not None else None
            if state is not None:
                await self._change(state)
            elif self._house is not None and self._path.exists() and self._path.resolve() not in self._house.watched:
                await self._change(self._standing.state)  # so that its folder is watched from now on
            await asyncio.sleep(self._every)

    async def _ended(self, code: str, policy: Inject, verdict: Verdict) -> PolicyFile:
        """A trial is over."""
        entry, now = self._standing.state.codes[code], datetime.now(UTC)
        end = versions.in_force if verdict.what == "accepted" else versions.turned_back

        def step(known: PolicyFile) -> tuple[PolicyFile, PolicyFile]:
            found = known.codes.get(code, entry)
            if found.trial is None or found.trial.policy != policy:
                return known, known  # a person was quicker
            after = PolicyFile(codes={**known.codes, code: end(found, policy, "trial", now)})
            return after, after

        written = await self._written(step)
        self._happened(code, verdict.what, verdict.why)
        return written if written is not None else step(self._standing.state)[0]

    async def _noted(self) -> tuple[Event, ...] | None:
        """Have the file say what is known, if there is anything to guard: what happened that nobody else has noted.
        None if it is not noted."""
        standing = self._standing
        if standing.fault or not (self._wanted or self._path.exists()):
            return None

        def step(known: PolicyFile) -> tuple[PolicyFile, tuple[Event, ...]]:
            if self._failed:
                base = versions.merged(known, standing.state)
            else:  # somebody may have written since it was read, and he counts
                base = PolicyFile(codes={**standing.state.codes, **known.codes})
            settled = versions.settle(standing.wanted, base, datetime.now(UTC))
            return settled.state, settled.events

        return await self._written(step)

    async def _written(self, step: Callable[[PolicyFile], tuple[PolicyFile, T]]) -> T | None:
        """What `step` tells, once the file says what it has made of it; none if the file can't be used."""
        try:
            told = await asyncio.to_thread(register.change, self._path, step)
        except (OSError, ConfigFault) as fault:
            self._metrics.policies_fault("unwritable" if isinstance(fault, OSError) else "unreadable")
            if not self._failed:
                log.error("what is known of policies holds in this process alone, %s: %s", self._path, fault)
            self._failed = True
            return None
        self._failed = False
        return told

    def _tell_codes(self, before: Standing, after: Standing) -> None:
        """Which codes are off since their rules changed."""
        if after.fault and after.fault != before.fault:
            self._metrics.policies_fault("unreadable")
            log.error("nothing is reused until it is known again what was confirmed: %s", after.fault)
        if after.unconfirmed.keys() | before.unconfirmed.keys():
            self._metrics.unconfirmed({code: code in after.unconfirmed for code in after.policies})
        if not after.fault and not before.fault:
            for code in sorted(after.unconfirmed.keys() - before.unconfirmed.keys()):
                self._happened(code, "unconfirmed", "; ".join(after.unconfirmed[code]))
            for code in sorted(before.unconfirmed.keys() - after.unconfirmed.keys()):
                self._happened(code, "confirmed")
        if not self._umpire.leads:
            return
        for code in sorted(before.trials.keys() - after.trials.keys()):
            entry = after.state.codes.get(code)
            if entry is not None and entry.why == "by hand":
                self._happened(code, "turned_back" if entry.refused else "accepted", "by hand")

    def _happened(self, code: str, what: str, why: str = "") -> None:
        """Everybody who ought to know."""
        if what not in ("unconfirmed", "confirmed"):  # there is a gauge for these
            self._metrics.trial(what)
        self._note("policy", {"code": code, "what": what, "why": why})
        log.warning("%s: %s%s", code, SAID[what], f" ({why})" if why else "")
