"""From the engine's blocks into the pool and back: the same bytes at the same place, the same values at another."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from gateway.kv.capture import Recorder
from gateway.kv.desk import Finished, Load, Save
from gateway.kv.inject import Injector
from gateway.kv.layout import Cache
from gateway.kv.nouns import Block, Owner, Span, State
from gateway.kv.pool import Pool, Torn
from gateway.kv.rope import Rope
from gateway.kv.settings import Settings
from gateway.kv.stats import Counts
from tests.engine.unit.kernels import DIM, HEADS, SIZE, Packed

Bytes = memoryview | bytes | bytearray

OWNER = Owner("tenant", "", "fingerprint")


def rope() -> Rope:
    angles = torch.arange(600).double()[:, None] / 10_000.0 ** (torch.arange(0, DIM, 2).double() / DIM)
    return Rope.from_table(torch.cat([angles.cos(), angles.sin()], dim=-1).float(), neox=True)


class Bench:
    """Two layers, one in a sliding group, over a real pool."""

    def __init__(self, folder: Path, size: int = 1 << 24) -> None:
        self.folder = folder
        self.kernels = [Packed(1, blocks=12), Packed(2, blocks=12)]
        self.cache = Cache([kernel.layer(f"layers.{i}", group=i) for i, kernel in enumerate(self.kernels)], SIZE)
        self.pool = Pool(Settings(folder=folder, size=size))
        self.counts = Counts()
        self.recorder = Recorder(self.cache, self.pool, zlib.crc32, self.counts)
        ropes = [rope(), rope()]
        self.injector = Injector(self.cache, self.pool.lease, self.cache.probe(), ropes)
        for kernel in self.kernels:
            kernel.kv.copy_(torch.randn(kernel.kv.shape).to(kernel.kv.dtype))

    def captured(self, name: str, numbers: list[tuple[int, int]]) -> None:
        """Blocks `numbers` (one for each group) captured under a name, and kept."""
        self.pool.begin(name, OWNER, SIZE, self.cache.record_bytes)
        saves = [Save(name, at, tuple(range(at * SIZE, at * SIZE + SIZE)), blocks) for at, blocks in enumerate(numbers)]
        self.recorder.record(saves)
        self.recorder.finish([Finished(name, {"captured_tokens": len(numbers) * SIZE})])
        deadline = time.monotonic() + 20
        while not ((entry := self.pool.find(name)) and entry.report) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.pool.keep(name, "R203")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "pool")
    yield made
    made.recorder.close()
    made.pool.close()


def test_an_exact_part_comes_back_byte_for_byte(bench: Bench) -> None:
    bench.captured("c", [(1, 2), (3, 4)])
    wanted = [bench.kernels[0].kv[[1, 3]].clone(), bench.kernels[1].kv[[2, 4]].clone()]
    bench.injector.load(Load("r", "c", Span(0, 0, 2 * SIZE - 5), True, ((5, 6), (7, 8))))
    assert torch.equal(bench.kernels[0].kv[[5, 6]], wanted[0])
    assert torch.equal(bench.kernels[1].kv[[7, 8]], wanted[1])


def test_a_block_that_a_window_has_lost_is_a_hole_and_overwrites_nothing(bench: Bench) -> None:
    bench.captured("c", [(1, 0), (3, 4)])
    entry = bench.pool.find("c")
    assert entry
    assert entry.holes == (0b10, 0)
    before = bench.kernels[1].kv.clone()
    bench.injector.load(Load("r", "c", Span(0, 0, 2 * SIZE), True, ((5, 6), (7, 0))))
    assert torch.equal(bench.kernels[1].kv, before)  # block 0: a hole; block 1: the request has no place for it


def test_a_span_that_moves_has_its_keys_rotated_and_its_values_as_they_were(bench: Bench) -> None:
    bench.captured("c", [(1, 2), (3, 4), (5, 6)])
    span = Span(10, 71, 60)  # unaligned on both sides
    targets = ((0, 0, 9, 10, 11), (0, 0, 9, 10, 11))
    numbers = [[1, 3, 5], [2, 4, 6]]
    places = torch.arange(10, 70)
    wanted = []
    for kernel, blocks in zip(bench.kernels, numbers, strict=True):
        slots = torch.tensor(blocks)[places // SIZE] * SIZE + places % SIZE
        wanted.append(kernel.read(slots))
    bench.injector.load(Load("r", "c", span, False, targets))
    slots = torch.tensor(targets[0])[torch.arange(71, 131) // SIZE] * SIZE + torch.arange(71, 131) % SIZE
    for kernel, (keys, values) in zip(bench.kernels, wanted, strict=True):
        got_keys, got_values = kernel.read(slots)
        assert torch.equal(got_values, values)
        assert torch.equal(got_keys, rope().moved(keys, 61))
        assert not torch.equal(got_keys, rope().moved(keys, 60))


def test_tokens_around_a_span_stay_as_they_are(bench: Bench) -> None:
    bench.captured("c", [(1, 2), (3, 4)])
    around = torch.tensor([9 * SIZE + 2, 10 * SIZE + 30])
    before = bench.kernels[0].read(around)
    bench.injector.load(Load("r", "c", Span(0, 3, 59), False, ((9, 10), (9, 10))))
    assert torch.equal(bench.kernels[0].read(around)[0], before[0])


def test_a_torn_record_is_refused_and_no_other_block_is_touched(bench: Bench) -> None:
    bench.captured("c", [(1, 2)])
    data = bench.folder / "c.kv"
    raw = bytearray(data.read_bytes())
    raw[-7] ^= 1
    data.write_bytes(bytes(raw))
    before = bench.kernels[0].kv.clone()
    with pytest.raises(Torn, match="not what was written"):
        bench.injector.load(Load("r", "c", Span(0, 0, SIZE), True, ((5,), (5,))))
    rest = [block for block in range(before.shape[0]) if block != 5]
    assert torch.equal(bench.kernels[0].kv[rest], before[rest])


def test_an_engine_that_can_t_splice_refuses_to(bench: Bench) -> None:
    bench.captured("c", [(1, 2)])
    plain = Injector(bench.cache, bench.pool.lease, None, None)
    with pytest.raises(ValueError, match="can't splice"):
        plain.load(Load("r", "c", Span(0, 3, 9), False, ((5,), (5,))))


def test_all_blocks_of_a_long_step_are_captured_however_slow_the_pool(tmp_path: Path) -> None:
    """An engine with blocks of 16 tokens fills more than a hundred of them in one step."""
    bench = Bench(tmp_path / "pool")
    bench.recorder.close()
    go = threading.Event()

    class Slow(Pool):
        def put(self, id: str, *records: tuple[Block, Bytes]) -> int:
            go.wait(20)
            return super().put(id, *records)

    bench.pool = Slow(Settings(folder=tmp_path / "slow", size=1 << 28))
    bench.recorder = Recorder(bench.cache, bench.pool, zlib.crc32, bench.counts)
    bench.pool.begin("c", OWNER, SIZE, bench.cache.record_bytes)
    bench.recorder.record([Save("c", at, tuple(range(SIZE)), (1, 2)) for at in range(300)])
    go.set()
    bench.recorder.close()
    entry = bench.pool.find("c")
    assert entry
    assert entry.blocks == 300
    assert "captures_cut" not in bench.counts.take()
    bench.pool.close()


def test_when_the_pool_is_full_the_capture_ends_and_the_engine_goes_on(tmp_path: Path) -> None:
    small = Bench(tmp_path / "small", size=3 * 2 * 2 * SIZE * HEADS * DIM * 2 - 1)  # room for two records
    small.captured("c", [(1, 2), (3, 4), (5, 6), (7, 8)])
    entry = small.pool.find("c")
    assert entry
    assert (entry.blocks, entry.state) == (2, State.KEPT)
    small.recorder.close()
    assert small.counts.take()["captures_cut"]["refused"] >= 1
    small.pool.close()
