"""One exchange served twice, with what a donor gave and without: by such pairs latency and consistency are judged."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

# The arms of a trial of policies; without a trial all is `now`.
NOW: Final = "now"
NEW: Final = "new"
Arm = Literal["now", "new"]


class Pair(NamedTuple):
    """Both sides are (with, without). Times are seconds from the request to the first piece, and to the end.

    `fair`: the times may be compared; the likeness may be in any case. `alike` is ROUGE-L's F, `top1` the share of
    tokens at which both sides would say the same next, `kl` the mean divergence (without from with) in nats a token;
    None where it is not known.
    """

    at: float  # seconds since 1970
    reason: str  # the donor's reason code
    arm: Arm
    mode: str  # what the injection came to: prefix, splice
    first: tuple[float, float]
    total: tuple[float, float]
    fair: bool
    alike: float | None = None
    top1: float | None = None
    kl: float | None = None
