"""What the controller decided, in force: at once in this process, by tuned.yaml in all others and at the next start.

Of the processes that share a configuration one leads, the one that holds a lock beside the file; each looks at its own
share of the traffic, and the leader acts by what it sees itself. The others follow the file through the hot reload.
When the leader ends, the next to look takes over, and goes on from what the file says.

If the file can't be written all of it still holds in this process; that is said, counted, and tried again at each look.
Who removes the file, or `hand` from it, takes everything back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway import files, tuned
from gateway.config import House
from gateway.errors import ConfigFault
from gateway.metrics import Metrics
from gateway.overlay import EMPTY, Overlay
from gateway.terms import LEAST_BITS
from gateway.watch.acts import WORDS, Act, How
from gateway.watch.control import Controlling
from gateway.watch.controller import Controller
from gateway.watch.series import Reading
from gateway.witness import Witness

log = logging.getLogger(__name__)

Note = Callable[[str, Mapping[str, Any]], None]

OFF = Controlling(mode="off")
NOBODY: frozenset[str] = frozenset()


class Hand(Witness):
    """One process's hand. `note` hears of each act; `forget` of each code whose figures tell of what is no more, and
    with an empty name of all codes."""

    def __init__(
        self,
        metrics: Metrics,
        note: Note = lambda _kind, _told: None,
        forget: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._metrics, self._note, self._forget = metrics, note, forget
        self._controller = Controller(OFF)
        self._path = Path()
        self._lock: int | None = None
        self._leads = False
        self._written = EMPTY  # what the file says, as far as the leader knows
        self._complained = False
        self._turn = asyncio.Lock()
        self._last: tuple[House, Overlay, House] | None = None

    @property
    def overlay(self) -> Overlay:
        """What is in force. Nothing, unless the controller may act."""
        return self._controller.overlay if self._controller.words.mode == "act" else EMPTY

    @property
    def tried(self) -> frozenset[str]:
        """The codes that some sessions try again: measured apart from all others, and as often as can be."""
        codes = self.overlay.codes  # of none as a rule, and each exchange asks
        return frozenset(code for code, brake in codes.items() if brake.tried is not None) if codes else NOBODY

    def house(self, house: House) -> House:
        """A house with what is in force above its terms. Cheap: it is asked for with each request."""
        overlay = self.overlay
        if overlay.idle:
            return house
        if self._last is None or self._last[0] is not house or self._last[1] is not overlay:
            self._last = (house, overlay, replace(house, terms=house.terms.under(overlay)))
        return self._last[2]

    async def apply(self, house: House) -> None:
        """A new configuration: other thresholds perhaps, perhaps another hand in the file."""
        async with self._turn:
            path = house.folder / house.file.retrace.tuned
            if path != self._path:
                self._release()
                self._path = path
            words = house.watch.control if house.watch else OFF
            self._controller.words, self._controller.room = words, house.terms.lookup.chunk_bits - LEAST_BITS
            if not self._leads or words.mode != "act":
                self._written = house.hand
                self._adopt(house.hand)
            elif house.hand != self._written:
                await self._changed()
            self._show()

    async def act(self, reading: Reading) -> None:
        """Look at the figures, and do what they call for; if this process leads."""
        async with self._turn:
            mode = self._controller.words.mode
            if mode == "off" or not (self._leads or await self._lead()):
                return
            for act in self._controller.step(reading):
                self._tell(act, "done" if mode == "act" else "proposed")
            if mode == "act":
                await self._keep()
            self._show()

    async def stop(self) -> None:
        self._release()

    def status(self) -> dict[str, Any]:
        """For whoever asks whether all is well."""
        overlay = self.overlay
        return {
            "mode": self._controller.words.mode,
            "leads": self._leads,
            "fallback": overlay.fallback is not None,
            "breaker": "closed" if overlay.breaker is None else "open",
            "off": sorted(overlay.codes),
            "tried": sorted(self.tried),
            "loosened_bits": overlay.bits,
            "kept": overlay == EMPTY or overlay == self._written or not self._leads,
        }

    async def _lead(self) -> bool:
        """Try to become the one that acts. Where no lock can be had nothing can be shared either: each leads itself."""
        try:
            self._lock = files.lead(self._path)
        except OSError as fault:
            log.warning("the controller leads for this process alone: %s", fault)
        else:
            if self._lock is None:
                return False
        self._leads = True
        await self._changed(first=True)
        return True

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
        self._lock, self._leads = None, False

    async def _changed(self, first: bool = False) -> None:
        """The file may say something else than this process has written: then somebody else has, and that counts."""
        try:
            found = (await asyncio.to_thread(tuned.read, self._path)).hand
        except ConfigFault as fault:
            self._failed(fault)
            return
        if found == self._written and not first:
            return  # what was read is older than what was written since
        before, self._written = self.overlay, found
        if found != self._controller.overlay:
            self._adopt(found)
            if found == EMPTY and before != EMPTY and not first:
                self._tell(Act(time.time(), "reset", detail="the file no longer says it"), "done")

    def _adopt(self, overlay: Overlay) -> None:
        if overlay != self._controller.overlay:
            self._controller.adopt(overlay)

    async def _keep(self) -> None:
        """Have the file say what is in force."""
        if self._controller.overlay == self._written:
            return
        await self._changed()  # a person may have taken all back a moment ago
        overlay = self._controller.overlay
        if overlay == self._written:
            return
        try:
            await asyncio.to_thread(tuned.write_hand, self._path, overlay)
        except (OSError, ConfigFault) as fault:
            self._failed(fault)
            return
        self._written, self._complained = overlay, False

    def _failed(self, fault: Exception) -> None:
        self._metrics.acted("keep", "", "failed")
        if not self._complained:
            log.error("what the controller did holds in this process alone, %s: %s", self._path, fault)
        self._complained = True

    def _tell(self, act: Act, how: How) -> None:
        """Everybody who ought to know."""
        told = act.told(how)
        self._metrics.acted(act.what, act.code, how)
        self._note("act", told)
        which = f"{act.code}: {WORDS[act.what]}" if act.code else WORDS[act.what]
        log.warning("controller (%s) %s: %s", how, which, act.why)
        if how == "done" and act.what in ("off", "again", "try", "fallback"):
            self._forget(act.code)

    def _show(self) -> None:
        overlay = self.overlay
        fallback, breaker = overlay.fallback is not None, overlay.breaker is not None
        self._metrics.holding(fallback=fallback, breaker=breaker, codes_off=len(overlay.codes), loosened=overlay.bits)
