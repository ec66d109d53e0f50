"""What waits in a relay: channels of text, and the events whose time has not come."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from gateway.anchored import Anchored
from gateway.anchors import AnchorSpec, Cut
from gateway.calls import CallWindow
from gateway.judge import Lane
from gateway.surfaces.sse import Frame
from gateway.types import NEVER, Action, Attempt, Finding
from gateway.window import Window

CALL = "call"  # what a call is cut back to: the place before it
CARRY = 64  # characters of a channel that a resumed one is judged together with
NO_ENDS: Mapping[int, str] = {}


class Told:
    """What a client reads of a channel, put together as its window lets it go."""

    __slots__ = ("_ahead", "_parts", "_read")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ahead = ""  # what the window still holds
        self._read = 0

    @property
    def text(self) -> str:
        """All that was let go, and behind it what is not yet."""
        return self.gone + self._ahead

    @property
    def tail(self) -> str:
        """Its last words, without putting all of it together."""
        return self._ahead or (self._parts[-1] if self._parts else "")

    @property
    def gone(self) -> str:
        """What the window has let go."""
        return "".join(self._parts)

    def hear(self, text: str, window: Window | Anchored) -> None:
        """The window has taken this text."""
        self._ahead += text
        ready = window.frontier - self._read
        if ready > 0:
            self._parts.append(window.render(self._read, self._ahead[:ready]))
            self._ahead, self._read = self._ahead[ready:], window.frontier
        if window.limit is not NEVER:
            self._ahead = ""  # it was cut away

    def reopen(self, at: int) -> None:
        """The text goes on in a new window, at this position of it."""
        self._read, self._ahead = at, ""


Windows = Window | Anchored | CallWindow


class Channel:
    """One text of one choice: its window, and the parts that came since it was last judged.

    `told` is what a client reads of it, kept only if somebody asks for it. With `anchors` it can be cut back to one of
    them. `held`: nothing leaves before the choice has come to its end, as of a call.
    """

    __slots__ = (
        "_anchors",
        "_count",
        "_ends",
        "_past",
        "choice",
        "end",
        "is_call",
        "lost",
        "name",
        "open",
        "parts",
        "told",
        "window",
    )

    def __init__(
        self,
        choice: int,
        name: str,
        lanes: Sequence[Lane],
        told: Told | None = None,
        anchors: Sequence[AnchorSpec] | None = None,
        held: bool = False,
    ) -> None:
        self.choice, self.name = choice, name
        self.is_call = held or name.endswith("arguments")
        self._anchors = anchors
        self._past: list[str] = []  # all that stands of it, as it came
        self._ends: list[int] = []  # of the events in this window
        self._count = self.lost = 0  # events of it since it was cut back last, and those that were cut away then
        self.window = self._window(lanes, "")
        self.parts: list[str] = []
        self.end = 0
        self.open = True
        self.told = told

    def _window(self, lanes: Sequence[Lane], tail: str) -> Windows:
        if self.is_call:
            return CallWindow(lanes)
        if self._anchors is not None:
            return Anchored(lanes, self._anchors, "".join(self._past), tail)
        return Window(lanes, tail)

    def take(self, text: str) -> None:
        """More of it has come."""
        self.end += len(text)
        self.parts.append(text)
        self._count += 1
        if self._anchors is not None:
            self._ends.append(self.end)

    def take_all(self, texts: Sequence[str], bounds: Sequence[int]) -> None:
        """Several at once, and where they stand."""
        self.end = bounds[-1]
        self.parts += texts
        self._count += len(texts)
        if self._anchors is not None:
            self._ends += bounds[1:]

    def judge(self, final: bool) -> None:
        text = "".join(self.parts)
        self.parts.clear()
        if final:
            self.open = False
        if self._anchors is not None:
            self._past.append(text)
        self.window.feed(text, final)
        self._tell(text)

    def _tell(self, text: str) -> None:
        if self.told is not None and not isinstance(self.window, CallWindow):
            self.told.hear(text, self.window)

    def pardon(self, action: Action, final: bool) -> None:
        """What has just halted it means less than that."""
        self.window.pardon(action, final)
        self._tell("")

    def close(self) -> None:
        """What has just halted it ends it."""
        if isinstance(self.window, Anchored):
            self.window.stands()
            self._tell("")

    def cut(self) -> Cut:
        """Cut it back to before what has just halted it; of a call, which nobody has heard of yet, nothing is left."""
        assert not isinstance(self.window, Window), "only what is held can be cut back"
        self.open = False
        if isinstance(self.window, CallWindow):
            self.window.drop()
            self.lost, cut = self._count, Cut(0, CALL)
        else:
            cut = self.window.rewound()
            past = "".join(self._past)
            self._past = [past[: len(past) - (self.end - cut.position)]]  # windows begin anew when a text goes on
            self._tell("")
            self.lost = len(self._ends) - bisect_right(self._ends, cut.position)
        self.end = cut.position
        return cut

    @property
    def stands(self) -> int:
        """How many events of it stand, of those that came since its choice was cut back."""
        return self._count - self.lost

    def count_anew(self) -> None:
        """What comes from now on belongs to another attempt."""
        self._count = self.lost = 0

    def reopen(self, lanes: Sequence[Lane]) -> None:
        """The text goes on after a pause: a new window that knows the last words of the old one."""
        tail = self.window.last(CARRY)
        self.end = len(tail)
        self._ends.clear()
        self.window = self._window(lanes, tail)
        self.open = True
        if self.told is not None:
            self.told.reopen(self.end)


def attempted(finding: Finding, anchor: str, channels: Sequence[Channel], answer: str) -> Attempt:
    """What has become of a choice, with all its channels, that was cut back. They count anew from now on."""
    kept = sum(channel.stands for channel in channels if channel.name == answer)
    stands, lost = sum(channel.stands for channel in channels), sum(channel.lost for channel in channels)
    for channel in channels:
        channel.count_anew()
    return Attempt(channels[0].choice, finding, anchor, kept, lost, stands - kept)


def role(channel: str) -> str:
    """Who speaks in a channel, for a rule's `when: role`."""
    if channel.startswith("reasoning"):
        return "reasoning"
    return "tool_call" if "call" in channel else "assistant"


class Mark(NamedTuple):
    """Where a piece of an event's text stands."""

    channel: Channel
    window: Windows
    start: int
    end: int
    text: str


class Waiting(NamedTuple):
    """An event whose time has not come, its texts, the choices that end with it, and whether it tells the usage."""

    frame: Frame
    marks: Sequence[Mark]
    ends: Mapping[int, str]
    usage: bool = False

    @property
    def ready(self) -> bool:
        return all(
            mark.end <= mark.window.frontier or mark.window.halted or mark.window.limit is not NEVER
            for mark in self.marks
        )


class Run:
    """Events in a row that each say one piece of the same text, and nothing else."""

    __slots__ = ("_bounds", "_frames", "_sent", "_texts", "_window", "channel")

    def __init__(self, channel: Channel, frames: Sequence[Frame], texts: Sequence[str]) -> None:
        self.channel, self._window, self._frames, self._texts = channel, channel.window, frames, texts
        start = channel.end
        one = len(texts) == 1
        self._bounds = [start, start + len(texts[0])] if one else list(accumulate(map(len, texts), initial=start))
        self._sent = 0
        channel.take_all(texts, self._bounds)

    @property
    def over(self) -> bool:
        return self._sent == len(self._frames)

    @property
    def halts(self) -> bool:
        """Whether one of them is where the text was halted."""
        return self._window.halted is not None

    def leaving(self) -> list[bytes] | None:
        """The events whose text may leave now, as they came; None if one of them can't leave as it came."""
        window = self._window
        if window.halted or window.limit is not NEVER:
            return None
        ready = bisect_right(self._bounds, window.frontier, self._sent) - 1
        if ready <= self._sent:
            return []
        if window.touches(self._bounds[self._sent], self._bounds[ready]):
            return None
        leaving = [frame.raw for frame in self._frames[self._sent : ready]]
        self._sent = ready
        return leaving

    def singly(self) -> Iterator[Waiting]:
        """The events that have not left, each by itself; the last comes first."""
        for n in reversed(range(self._sent, len(self._frames))):
            mark = Mark(self.channel, self._window, self._bounds[n], self._bounds[n + 1], self._texts[n])
            yield Waiting(self._frames[n], (mark,), NO_ENDS)
