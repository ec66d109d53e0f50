"""`type: redis`: what many gateways know of captures together. A request never waits longer for it than it is told to.

One question a request, one answer; what changes goes out beside the requests. While the server doesn't answer, nothing
is found and nobody waits; when it is back, or empty, or another, all goes on by itself.
"""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple

from pydantic import Field

from gateway.breaker import Breaker
from gateway.stores import NEAR, WIDTH, Kept, Near, Observe, Sketch, Store, StoreSpec
from gateway.stores._address import Address
from gateway.stores._change import CHANGE
from gateway.stores._codes import BITS, mask
from gateway.stores._find import FIND
from gateway.stores._keys import Looked, looked_up, pack, unpack
from gateway.stores._link import Command, Fault, Link, Refusal
from gateway.stores._scripts import MAGIC
from gateway.stores._teller import Teller

log = logging.getLogger(__name__)

_PATIENCE = 1.0  # seconds, for what no request waits for
_PULSE = 1.0  # seconds between two looks at the server
_NOBODY = Sketch(bytes(WIDTH), b"", b"", ())


class Plug(Address, StoreSpec):
    """In a Redis server, 6 or newer, shared by all gateways that name it."""

    type: Literal["redis"] = "redis"
    timeout_ms: int = Field(default=15, ge=1, le=1000, description="A request never waits longer for it.")
    most: int = Field(default=100_000, ge=1, description="Captures remembered of one tenant, model and adapter.")
    bytes: int = Field(
        default=512 << 20, ge=1 << 16, description="What they take at most, of one tenant, model and adapter."
    )
    namespace: str = Field(default="retrace", pattern=r"^[a-z0-9._-]{1,32}$", description="What all keys begin with.")

    def connect(self, observe: Observe) -> Store:
        budget = Budget(self.most, self.bytes)
        return Redis(self.address, self.timeout_ms / 1000, budget, self.namespace, observe)


class Budget(NamedTuple):
    """What one partition may take."""

    most: int
    bytes: int


class Redis:
    """A living connection, or the endeavour to have one. `now` tells seconds of the epoch."""

    def __init__(
        self,
        url: str,
        seconds: float,
        budget: Budget,
        namespace: str,
        observe: Observe,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._seconds, self._budget, self._namespace = seconds, budget, namespace
        self._observe, self._now = observe, now
        self._breaker = Breaker()
        self._finding, self._telling = Link(url), Link(url)
        self._teller = Teller(self._telling, CHANGE, observe)
        self._tasks: list[asyncio.Task[None]] = []
        self._said = True

    @property
    def up(self) -> bool:
        return self._finding.is_open and not self._breaker.open

    async def start(self) -> None:
        await self._look()
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._teller.run())]

    async def stop(self) -> None:
        """What is still untold is told, if that is soon done."""
        await self._teller.flush(_PATIENCE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._finding.close()
        await self._telling.close()

    async def find(self, sketch: Sketch, near: Near = NEAR) -> Sequence[Kept]:
        if not self._breaker.allows():
            return ()
        try:
            async with asyncio.timeout(self._seconds):
                stale, records = await self._ask(sketch, near)
        except (Fault, TimeoutError) as fault:
            self._failed(fault)
            return ()
        self._breaker.succeeded()
        found = [self._kept(record, sketch.whose) for record in records]
        living = [kept for kept in found if kept is not None]
        if stale or len(living) < len(found):
            marks = _marks(looked_up(sketch), sketch.codes)
            self._teller.tidy(sketch.whose.hex(), self._change(sketch.whose, "tidy", marks))
        return living

    def add(self, kept: Kept) -> None:
        if kept.until <= self._now():
            return
        marks = _marks(looked_up(kept.sketch), kept.sketch.codes)
        record = b"".join((MAGIC, struct.pack("<d", kept.until), marks, pack(kept)))
        self._teller.tell(self._change(kept.sketch.whose, "add", _id(kept), record, *self._budget))

    def used(self, kept: Kept) -> None:
        self._teller.tell(self._change(kept.sketch.whose, "used", _id(kept)))

    def forget(self, kept: Kept) -> None:
        self._teller.tell(self._change(kept.sketch.whose, "forget", _id(kept)))

    def _change(self, whose: bytes, *what: bytes | str | int) -> Command:
        return ("EVALSHA", CHANGE.name, *self._keys(whose), *what)

    def _keys(self, whose: bytes) -> Command:
        """The keys of a partition, as both scripts want them, and the time."""
        base = f"{self._namespace}:1:{{{whose.hex()}}}:"
        return (3, base + "r", base + "u", base + "t", base, f"{self._now():.6f}")

    async def _ask(self, sketch: Sketch, near: Near) -> tuple[int, list[bytes]]:
        """How many were met that are no more, and the records of those that are worth a look. Fault if none came."""
        looked, counted = looked_up(sketch), mask(near)
        sizes = struct.pack(f"<{len(looked.sizes)}I", *looked.sizes)
        asked = (
            *(*self._keys(sketch.whose), _marks(looked, sketch.codes), sizes),
            *(counted & 0xFFFFFFFF, counted >> 32, min(near.bits, BITS) // 16, near.radius),
        )
        try:
            answer = await self._finding.ask("EVALSHA", FIND.name, *asked)
        except Refusal as refusal:
            if not refusal.unknown_script:
                raise
            answer = await self._finding.ask("EVAL", FIND.text, *asked)
        match answer:
            case [int(stale), [*records]] if all(isinstance(record, bytes) for record in records):
                return stale, records
        raise Fault("garbage")

    def _kept(self, record: bytes, whose: bytes) -> Kept | None:
        """What a record holds, if it is one of ours."""
        try:
            kept = unpack(record)
        except ValueError:
            self._observe("garbage")
            return None
        return kept if kept.sketch.whose == whose and kept.until > self._now() else None

    def _failed(self, fault: Fault | TimeoutError) -> None:
        self._breaker.failed()
        self._observe(fault.kind if isinstance(fault, Fault) else "timeout")

    async def _watch(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(_PULSE)
            await self._look()

    async def _look(self) -> None:
        """See to it that both connections stand and answer; said in the log if that has changed."""
        await asyncio.gather(self._look_at_finding(), self._look_at_telling())
        if self.up is not self._said:
            self._said = self.up
            log.warning("the store of captures in redis is %s", "up" if self.up else "down")

    async def _look_at_finding(self) -> None:
        """By the question that requests ask."""
        clock = asyncio.get_running_loop().time
        try:
            if not self._finding.is_open:
                await self._finding.open(_PATIENCE)
            began = clock()
            async with asyncio.timeout(_PATIENCE):
                await self._ask(_NOBODY, NEAR)
        except (Fault, TimeoutError) as fault:
            self._failed(fault)
            await self._finding.close()
            return
        if clock() - began <= self._seconds:
            self._breaker.succeeded()
        else:  # it lives, but no request would have waited so long
            self._failed(TimeoutError())

    async def _look_at_telling(self) -> None:
        try:
            if not self._telling.is_open:
                await self._telling.open(_PATIENCE)
            async with asyncio.timeout(_PATIENCE):
                await self._telling.ask("PING")
        except (Fault, TimeoutError):
            await self._telling.close()  # the teller says what is wrong once it has something to tell


def _marks(looked: Looked, codes: Sequence[int]) -> bytes:
    """What is looked up of a sketch, the longest prefix first, in the scripts' words."""
    counts = bytes((len(looked.prefix), len(looked.chunks), len(codes)))
    numbers = struct.pack(f"<{len(codes)}Q", *codes)
    return b"".join((counts, looked.prefix[::-1].tobytes(), looked.chunks.tobytes(), numbers))


def _id(kept: Kept) -> bytes:
    name = f"{kept.replica}\0{kept.capture}".encode("utf-8", "surrogatepass")
    return blake2b(name, digest_size=WIDTH).digest()
