"""`type: entropy`: a token that the model was suddenly unsure of, as where it begins to make things up.

Each token's surprise (in nats: minus its log probability) is held against the last ones of the same answer. It is
found where it lies more than `z` standard deviations above their mean, and also above twice what all but a few of
this answer's tokens lately stayed under: a wavering answer is not found at every word.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Literal

from pydantic import Field

from gateway.checks import Meter, TokenCheck

WARM = 8  # tokens before the first that can be found
CEILING = 20.0  # nats; engines tell of what can't be by numbers out of all proportion
SPREAD = 0.25  # nats that the standard deviation is at least taken for: a certain answer has next to none
SHARE = 0.95  # of the tokens stay under what is usual
RATE = 0.2  # how fast what is usual is learnt, in standard deviations a token
MARGIN = 2.0  # times what is usual


class Plug(TokenCheck):
    """Finds tokens that were far less likely than those before them; the gateway asks for log probabilities itself."""

    type: Literal["entropy"] = "entropy"
    window: int = Field(default=32, ge=WARM, le=1024, description="Tokens that one is held against.")
    z: float = Field(default=3.0, gt=0, le=20, description="Standard deviations above their mean.")
    least: float = Field(default=2.5, ge=0, le=CEILING, description="Nats that its surprise must have in any case.")

    def meter(self) -> Meter:
        return Jump(self.window, self.z, self.least)


class Jump:
    """Follows one answer."""

    __slots__ = ("_last", "_least", "_squares", "_sum", "_usual", "_z")

    def __init__(self, window: int, z: float, least: float) -> None:
        self._last: deque[float] = deque(maxlen=window)
        self._z, self._least = z, least
        self._sum = self._squares = 0.0
        self._usual = 0.0  # standard deviations that SHARE of the tokens stay under

    @property
    def threshold(self) -> float:
        """Standard deviations above the mean from which a token is found now."""
        return max(self._z, MARGIN * self._usual)

    def feed(self, surprise: float) -> bool:
        """Whether this token is out of line with those before it."""
        surprise = min(max(surprise, 0.0), CEILING)
        found = False
        if len(self._last) >= WARM:
            z = self._above(surprise)
            found = surprise >= self._least and z > self.threshold
            self._usual = max(self._usual + RATE * ((z > self._usual) - (1 - SHARE)), 0.0)
        self._keep(surprise)
        return found

    def _above(self, surprise: float) -> float:
        """Standard deviations above the mean of the last ones."""
        count = len(self._last)
        mean = self._sum / count
        variance = max(self._squares / count - mean * mean, 0.0)
        return (surprise - mean) / max(math.sqrt(variance), SPREAD)

    def _keep(self, surprise: float) -> None:
        if len(self._last) == self._last.maxlen:
            gone = self._last[0]
            self._sum -= gone
            self._squares -= gone * gone
        self._last.append(surprise)
        self._sum += surprise
        self._squares += surprise * surprise
