"""Judges the trials that are going on, by what this process sees of them, and ends them if it leads.

Of the processes that share the state file one leads, the one that holds a lock beside it, and it goes by its own share
of the traffic; sessions are spread over all of them alike. What it has seen is kept beside the file, so that a restart
goes on; visits under way are not.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import time
from pathlib import Path
from typing import NamedTuple

from gateway import files
from gateway.rules import Inject
from gateway.watch.evidence import Evidences
from gateway.watch.pairs import Arm, Pair
from gateway.watch.trials import Verdict, Visits, judged
from gateway.watch.trying import Trying
from gateway.watch.versions import Standing

log = logging.getLogger(__name__)


class Ended(NamedTuple):
    """A trial is over: of which code, of which policy, and what came of it."""

    code: str
    policy: Inject
    verdict: Verdict


class Umpire:
    """One process's. Calls of `move`, `look` and `let_go` must not overlap."""

    def __init__(self) -> None:
        self._path = Path()
        self._standing = Standing()
        self._trying = Trying()
        self._lead: int | None = None
        self._alone = False  # no lock can be had: each process leads itself
        self._evidence = Evidences()
        self._visits = Visits()

    @property
    def leads(self) -> bool:
        return self._lead is not None or self._alone

    async def move(self, path: Path) -> None:
        """The state file is this one."""
        if path != self._path:
            await self.let_go()
            self._path, self._evidence = path, Evidences()

    def follow(self, standing: Standing, trying: Trying) -> None:
        """These trials are going on and no others, and are judged so."""
        self._standing, self._trying = standing, trying
        self._evidence.follow(standing)

    def seen(self, session: bytes, arms: dict[str, Arm], left: bool, at: float) -> None:
        """A request of a session in a trial is over. `arms`: of each trial (by key), the arm it is in."""
        self._visits.seen(session, arms, left, at)

    def pair(self, pair: Pair) -> None:
        """An exchange was served twice."""
        trial = self._standing.trials.get(pair.reason)
        if trial is not None and (seen := self._evidence.of(trial.key)) is not None:
            seen.add(pair, self._trying)

    async def look(self) -> Ended | None:
        """Count the visits that are over, judge each trial; if this process leads. The first that ends, if one does:
        the rest at the next look."""
        now = time.time()
        self._count(now)
        if not self._standing.trials or not await self._takes_the_lead():
            return None
        for code, trial in self._standing.trials.items():
            seen, tried = self._evidence.of(trial.key), self._standing.state.codes[code].trial
            if seen is None or tried is None:
                continue
            looked = copy.deepcopy(seen)
            verdict = await asyncio.to_thread(judged, looked, self._trying, now - tried.at.timestamp())
            seen.looks, seen.chance, seen.shown = looked.looks, looked.chance, looked.shown
            if verdict.what != "going":
                return Ended(code, tried.policy, verdict)
        await self._evidence.save(self._kept, now)
        return None

    def _count(self, now: float) -> None:
        for arms, left in self._visits.over(now, self._trying.visit_minutes * 60):
            for key, arm in arms.items():
                if (seen := self._evidence.of(key)) is not None:
                    seen.visit(arm, left)

    async def _takes_the_lead(self) -> bool:
        """Whether this process ends trials. It begins with what the last leader saw."""
        if self.leads:
            return True
        try:
            self._lead = files.lead(self._path)
        except OSError as fault:
            log.warning("trials of policies are judged by this process alone: %s", fault)
            self._alone = True
        if not self.leads:
            return False
        await self._evidence.load(self._kept)
        return True

    async def let_go(self) -> None:
        """Lead no longer, and keep what was seen."""
        if self._lead is not None:
            await self._evidence.save(self._kept, None)
            os.close(self._lead)
        self._lead, self._alone = None, False

    @property
    def _kept(self) -> Path:
        return files.beside(self._path, "evidence")
