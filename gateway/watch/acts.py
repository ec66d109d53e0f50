"""What the controller does: an act, with the figures that made it, in words that go into logs and onto screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from gateway.overlay import Noted
from gateway.watch.series import Figure

What = Literal[
    "loosen", "tighten", "off", "try", "on", "again", "fallback", "recover", "break", "mend", "reset", "keep"
]
How = Literal["done", "proposed", "failed"]

WHATS: tuple[str, ...] = get_args(What)
WORDS: Mapping[str, str] = {
    "loosen": "the search for donors is loosened",
    "tighten": "the search for donors is tightened back",
    "off": "captures of this code are not injected any more",
    "try": "some sessions try this code again",
    "on": "this code is back",
    "again": "the try is over, the code stays off",
    "fallback": "nothing is injected any more",
    "recover": "the fallback is over",
    "break": "the breaker opens: nothing is captured or injected",
    "mend": "the breaker closes",
    "reset": "a person took everything back",
    "keep": "the file is written",
}
# Acts that only ever stop what may do harm: no limit holds them back.
SAFE = frozenset({"off", "again", "fallback", "break"})


class Act(NamedTuple):
    """One act at a time `at` (seconds since 1970). `figure` was surely on the wrong (or right) side of `limit` for
    `seconds`; `was` and `now` are what it moved."""

    at: float
    what: What
    code: str = ""
    was: str = ""
    now: str = ""
    figure: Literal["", "CHR", "LD", "CS"] = ""
    seen: Figure | None = None
    limit: float = 0.0
    seconds: float = 0.0
    detail: str = ""

    @property
    def why(self) -> str:
        """The figure with its bounds, the threshold and for how long; or what else was the reason."""
        if self.seen is None:
            return self.detail
        seen, limit = self.seen, shown(self.figure, self.limit)
        bounds = f"{shown(self.figure, seen.low)} to {shown(self.figure, seen.high)}, of {seen.count}"
        told = f"{self.figure} {shown(self.figure, seen.value)} ({bounds})"
        side = "below" if seen.high < self.limit else "above" if seen.low > self.limit else "about"
        lasting = f" for {self.seconds / 60:.3g} min" if self.seconds else ""
        return "; ".join(filter(None, (f"{told}, {side} {limit}{lasting}", self.detail)))

    @property
    def noted(self) -> Noted:
        """As the file remembers it."""
        return Noted(at=round(self.at, 3), what=self.what, code=self.code, why=self.why)

    def told(self, how: How) -> dict[str, Any]:
        """As logs and the audit have it."""
        act: dict[str, Any] = {"act": self.what, "how": how, "code": self.code, "why": self.why}
        act |= {"from": self.was, "to": self.now}
        if self.seen is not None:
            act |= {"figure": self.figure, **self.seen._asdict(), "limit": self.limit}
        return act


def shown(figure: str, value: float) -> str:
    """A figure as people read it: rates in percent, likeness as a number."""
    return f"{value:.3f}" if figure == "CS" else f"{value:+.1%}" if figure == "LD" else f"{value:.1%}"
