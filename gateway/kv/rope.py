"""Keys moved to other positions: a key rotated for one position becomes, rotated further, the key for another.

Rotary embeddings (Su et al. 2021, RoFormer) turn each pair of a key's elements by position x frequency, so a key of
position p becomes that of p + shift by turning it by shift x frequency. This is exact for every variant that only
changes the frequencies (linear, NTK, Llama 3, YaRN). Values carry no position.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Rope:
    """One layer's rotation: the frequencies of its pairs, float64 [rotary_dim / 2], and how pairs lie in a key.

    `neox`: element i is paired with i + rotary_dim / 2; else neighbours are paired.
    """

    frequencies: torch.Tensor
    neox: bool

    @classmethod
    def from_table(cls, table: torch.Tensor, neox: bool) -> Rope:
        """Out of a table of cosines and sines, [positions, rotary_dim] as (cos | sin), float32.

        The angles of position 1 are the frequencies; a variant that also scales the table (YaRN) leaves them as they
        are. ValueError if the other positions do not follow from the first: not a rotation by position x frequency.
        """
        half = table.shape[-1] // 2
        wide = table.double()
        frequencies = torch.atan2(wide[1, half:], wide[1, :half])
        far = min(len(table), 512) - 1
        scale = wide[far].reshape(2, half).norm(dim=0)
        told = wide[far, :half] / scale, wide[far, half:] / scale
        angle = far * frequencies
        if not all(torch.allclose(a, b, atol=2e-3) for a, b in zip(told, (angle.cos(), angle.sin()), strict=True)):
            raise ValueError("the rotary table is not position x frequency")
        return cls(frequencies, neox)

    def moved(self, keys: torch.Tensor, shift: int) -> torch.Tensor:
        """`keys` [tokens, heads, head_dim], each moved on by `shift` positions (either sign). Computed in float32."""
        if shift == 0:
            return keys
        angle = shift * self.frequencies
        cos, sin = angle.cos().float(), angle.sin().float()
        width = 2 * len(self.frequencies)
        turned = keys[..., :width].float()
        if self.neox:
            first, second = turned.chunk(2, dim=-1)
            moved = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
        else:
            first, second = turned[..., 0::2], turned[..., 1::2]
            pairs = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
            moved = pairs.flatten(-2)
        if width == keys.shape[-1]:
            return moved.to(keys.dtype)
        return torch.cat((moved.to(keys.dtype), keys[..., width:]), dim=-1)
