"""Keys that are moved are the keys that would have been computed there."""

from __future__ import annotations

import pytest
import torch

from gateway.kv.rope import Rope

HEADS, POSITIONS = 2, 4096


def table(dim: int, theta: float, scale: float = 1.0) -> torch.Tensor:
    angles = torch.arange(POSITIONS).double()[:, None] / theta ** (torch.arange(0, dim, 2).double() / dim)
    return (torch.cat([angles.cos(), angles.sin()], dim=-1) * scale).float()


def rotated(keys: torch.Tensor, position: int, dim: int, theta: float, neox: bool) -> torch.Tensor:
    """The key of a position, by complex numbers in double precision: another way than the one under test."""
    angle = position / theta ** (torch.arange(0, dim, 2).double() / dim)
    turn = torch.polar(torch.ones_like(angle), angle)
    part = keys[..., :dim].double()
    first, second = (part[..., : dim // 2], part[..., dim // 2 :]) if neox else (part[..., 0::2], part[..., 1::2])
    turned = torch.complex(first, second) * turn
    out = keys.clone().double()
    if neox:
        out[..., :dim] = torch.cat([turned.real, turned.imag], dim=-1)
    else:
        out[..., 0:dim:2], out[..., 1:dim:2] = turned.real, turned.imag
    return out


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize(("head", "dim"), [(64, 64), (128, 64)])
@pytest.mark.parametrize("theta", [10_000.0, 1_000_000.0])
@pytest.mark.parametrize(("old", "new"), [(0, 1), (5, 1200), (3000, 17), (700, 700)])
def test_a_moved_key_is_the_key_of_its_new_position(
    neox: bool, head: int, dim: int, theta: float, old: int, new: int
) -> None:
    keys = torch.randn(3, HEADS, head, generator=torch.Generator().manual_seed(7))
    before = rotated(keys, old, dim, theta, neox).float()
    moved = Rope.from_table(table(dim, theta), neox).moved(before, new - old)
    assert torch.allclose(moved.double(), rotated(keys, new, dim, theta, neox), atol=2e-4)


@pytest.mark.parametrize("wrong_by", [1, -1])
def test_a_shift_wrong_by_one_is_seen(wrong_by: int) -> None:
    keys = torch.randn(3, HEADS, 64, generator=torch.Generator().manual_seed(7))
    before, after = (rotated(keys, at, 64, 10_000.0, True).float() for at in (10, 510))
    rope = Rope.from_table(table(64, 10_000.0), neox=True)
    assert torch.allclose(rope.moved(before, 500), after, atol=2e-4)
    assert (rope.moved(before, 500 + wrong_by) - after).abs().max() > 0.5


def test_a_scaled_table_tells_the_same_frequencies() -> None:
    plain, scaled = (Rope.from_table(table(64, 10_000.0, scale), neox=True) for scale in (1.0, 1.37))
    assert torch.allclose(plain.frequencies, scaled.frequencies, atol=1e-7)


def test_a_table_that_is_no_rotation_by_position_is_refused() -> None:
    bent = table(64, 10_000.0)
    bent[100:] = bent[100:].flip(0)
    with pytest.raises(ValueError, match="position x frequency"):
        Rope.from_table(bent, neox=True)


def test_keys_keep_their_type_and_no_shift_keeps_them_as_they_are() -> None:
    keys = torch.randn(3, HEADS, 64).to(torch.bfloat16)
    rope = Rope.from_table(table(64, 10_000.0), neox=True)
    assert rope.moved(keys, 0) is keys
    assert rope.moved(keys, 9).dtype == torch.bfloat16
