"""Whatever is done to a pool, in whatever order: it stays within its bounds, tells the truth, and hurts no reader."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.kv.nouns import Entry, State
from gateway.kv.pool import Gone, Lease, Pool, UnknownCapture
from tests.kv.pools import OWNER, RECORD, TOKENS, Clock, block, lying, record, small

DISK = 6000  # bytes: what is moved there is counted at 5,200 until it is written
ids = st.sampled_from(["a", "b", "c", "d", "e", "f"])


class Pools(RuleBasedStateMachine):
    """A pool, and what we remember of it. A name is begun anew once the pool has forgotten it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.pool = self.open()
        self.running: dict[str, int] = {}  # blocks of the captures whose request runs
        self.dropped: set[str] = set()
        self.leases: list[Lease] = []

    def open(self) -> Pool:
        return Pool(small(self.folder, 6, disk=self.folder / "disk", disk_size=DISK), clock=self.clock)

    def teardown(self) -> None:
        for lease in self.leases:
            lease.close()
        self.pool.close()
        shutil.rmtree(self.folder)

    @rule(id=ids)
    def begin(self, id: str) -> None:
        found = self.pool.find(id)
        begun = self.pool.begin(id, OWNER, TOKENS, RECORD)
        assert begun == (found is None or id in self.running)
        if found is None:
            self.running[id] = 0
            self.dropped.discard(id)

    @rule(id=ids)
    def put(self, id: str) -> None:
        index = self.running.get(id, 0)
        if self.pool.put(id, (block(id, index), record(id, index))):
            self.running[id] += 1

    @rule(id=ids)
    def finish(self, id: str) -> None:
        self.pool.finish(id, {})
        self.running.pop(id, None)

    @rule(id=ids, priority=st.integers(0, 2), ttl=st.sampled_from([5.0, 500.0]))
    def keep(self, id: str, priority: int, ttl: float) -> None:
        try:
            assert self.pool.keep(id, "R203", priority=priority, ttl=ttl).state == State.KEPT
        except (Gone, UnknownCapture):
            assert id not in self.running

    @rule(id=ids)
    def drop(self, id: str) -> None:
        try:
            self.pool.drop(id)
        except UnknownCapture:
            assert id not in self.running
            return
        self.running.pop(id, None)
        self.dropped.add(id)

    @rule(id=ids)
    def promote(self, id: str) -> None:
        promoted = self.pool.promote(id)
        found = self.pool.find(id)
        if promoted:
            assert found is not None
            assert (found.state, found.on_disk) == (State.KEPT, False)

    @rule(id=ids)
    def lend(self, id: str) -> None:
        found = self.pool.find(id)
        try:
            self.leases.append(self.pool.lease(id))
        except UnknownCapture:
            assert found is None
        except Gone:
            assert found is not None
            assert found.state != State.KEPT or found.on_disk or not found.blocks

    @precondition(lambda self: self.leases)
    @rule()
    def give_back(self) -> None:
        self.leases.pop(0).close()

    @rule(seconds=st.sampled_from([1.0, 6.0, 700.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds
        self.pool.sweep()
        assert self.pool.sweep().expired == 0

    @rule()
    def restart(self) -> None:
        """The engine's; readers of the old one read on."""
        self.pool.close()
        self.pool = self.open()
        assert self.pool.recover().closed == len(self.running)
        self.running.clear()

    @invariant()
    def both_tiers_hold_what_they_are_said_to_hold(self) -> None:
        usage = self.pool.usage()
        assert usage.bytes == lying(self.folder / "pool") <= usage.size
        assert usage.disk_bytes == sum(path.stat().st_size for path in (self.folder / "disk").iterdir()) <= DISK
        living = [entry for entry in self.pool.entries(99) if entry.state != State.EXPIRED]
        read = {lease.entry.id for lease in self.leases}
        leftovers = usage.bytes - sum(entry.bytes for entry in living if not entry.on_disk)
        assert 0 <= leftovers <= 6 * RECORD * len(read), "only what is read may outlive its capture"
        assert sum(usage.entries.values()) == len(self.pool.entries(99))

    @invariant()
    def each_capture_is_what_was_written(self) -> None:
        for entry in self.pool.entries(99):
            assert entry.tokens == whole(entry)
            if entry.state in (State.KEPT, State.ACTIVE) and entry.blocks and not entry.on_disk:
                with self.pool.lease(entry.id) as lease:
                    readable(lease)

    @invariant()
    def what_is_read_stays(self) -> None:
        for lease in self.leases:
            readable(lease)

    @invariant()
    def only_a_verdict_ends_what_runs_and_nothing_brings_back_what_was_dropped(self) -> None:
        for id, blocks in self.running.items():
            found = self.pool.find(id)
            assert found is not None
            assert found.state != State.EXPIRED
            assert found.blocks == blocks
        for id in self.dropped:
            found = self.pool.find(id)
            assert found is None or found.state in (State.EXPIRED, State.PENDING)


def whole(entry: Entry) -> tuple[int, ...]:
    return tuple(token for index in range(entry.blocks) for token in block(entry.id, index).tokens)


def readable(lease: Lease) -> None:
    into = bytearray(RECORD)
    for index in range(lease.entry.blocks):
        lease.read(index, into)
        assert into == record(lease.entry.id, index)


Pools.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestPools = Pools.TestCase
