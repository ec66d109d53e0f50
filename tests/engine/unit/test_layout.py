"""The inside of a block is found out by writing and looking, whatever the kernel does with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from gateway.kv.layout import Cache, Layer, digest
from tests.engine.unit.kernels import BLOCKS, DIM, ELEMENTS, HEADS, SIZE, Packed


def scatter(cache: Cache, record: torch.Tensor, blocks: Sequence[int], holes: int = 0) -> None:
    """A whole record back into its blocks, as the injector does it; its own buffer is of no use to the blocks."""

    def fill(views: list[memoryview]) -> None:
        start = 0
        for view in views:
            view[:] = memoryview(record.numpy())[start : start + view.nbytes]
            start += view.nbytes
        assert start == cache.record_bytes

    cache.put(torch.zeros_like(record), blocks, holes, fill)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("heads", [2, 10])  # 10: more elements than there are patterns, so digit by digit
def test_what_is_written_token_by_token_is_read_back_row_by_row(dtype: torch.dtype, heads: int) -> None:
    kernel = Packed(seed=3, dtype=dtype, heads=heads)
    cache = Cache([kernel.layer()], SIZE)
    (rows,) = cache.probe()
    keys, values = (torch.randn(2 * SIZE, heads, DIM).to(dtype) for _ in range(2))
    kernel.write(keys, values, torch.arange(2 * SIZE, 4 * SIZE))
    record = torch.zeros(2, cache.record_bytes, dtype=torch.uint8)
    for place, block in enumerate((2, 3)):
        cache.gather([block], record[place])
    read_keys, read_values = rows.read(cache.raw(record, 0))
    assert torch.equal(read_keys, keys)
    assert torch.equal(read_values, values)


def test_a_probe_leaves_no_trace() -> None:
    kernel = Packed(seed=3)
    Cache([kernel.layer()], SIZE).probe()
    assert not kernel.kv.any()


def test_a_kernel_that_changes_numbers_is_refused() -> None:
    kernel = Packed(seed=3)

    def rounded(keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor) -> None:
        kernel.write((keys.float() * 1.5).to(keys.dtype), values, slots)

    layer = Layer("layers.0", 0, kernel.kv, 0, HEADS, DIM, rounded)
    with pytest.raises(ValueError, match="as they are"):
        Cache([layer], SIZE).probe()


def test_quantised_kv_is_refused() -> None:
    kv = torch.zeros(BLOCKS, HEADS, SIZE, 2 * DIM, dtype=torch.uint8)
    with pytest.raises(ValueError, match="not understood"):
        Cache([Layer("layers.0", 0, kv, 0, HEADS, DIM, lambda *_: None)], SIZE).probe()


def test_another_order_has_another_name() -> None:
    names = {digest(Cache([Packed(seed).layer()], SIZE).probe()) for seed in (1, 1, 2)}
    assert len(names) == 2


def test_records_hold_all_layers_and_skip_what_is_not_there() -> None:
    kernels = [Packed(seed) for seed in (1, 2, 3)]
    cache = Cache([kernel.layer(f"layers.{i}", group=i % 2) for i, kernel in enumerate(kernels)], SIZE)
    for kernel in kernels:
        kernel.kv.copy_(torch.randn(kernel.kv.shape))
    before = [kernel.kv.clone() for kernel in kernels]
    record = torch.ones(cache.record_bytes, dtype=torch.uint8)
    cache.gather([2, 0], record)  # group 1 has no block: zeros
    assert cache.record_bytes == 3 * 2 * ELEMENTS * 2
    assert not record[2 * ELEMENTS * 2 : 2 * 2 * ELEMENTS * 2].any()
    scatter(cache, record, [4, 5], holes=0b10)  # group 1 is a hole: untouched
    assert torch.equal(kernels[0].kv[4], before[0][2])
    assert torch.equal(kernels[2].kv[4], before[2][2])
    assert torch.equal(kernels[1].kv, before[1])
    assert torch.equal(kernels[0].kv[[0, 1, 2, 3, 5]], before[0][[0, 1, 2, 3, 5]])


def test_blocks_may_lie_along_any_dimension() -> None:
    kv = torch.randn(2, BLOCKS, SIZE, HEADS, DIM)
    layer = Layer("layers.0", 0, kv, 1, HEADS, DIM, lambda *_: None)
    cache = Cache([layer], SIZE)
    record = torch.zeros(cache.record_bytes, dtype=torch.uint8)
    cache.gather([3], record)
    wanted = kv[:, 3].clone()
    scatter(cache, record, [5])
    assert torch.equal(kv[:, 5], wanted)
