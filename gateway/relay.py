"""Events of the upstream in, events for the client out: each text goes to its channel, each event waits for its time.

What lies behind a rewind's cut is taken back; then the answer can go on with another call's events, as if it were one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gateway.anchors import AnchorSpec
from gateway.judge import Lane, silent
from gateway.metered import Gauge, Metering
from gateway.outbox import Ending, Explains, Hold, Outbox, parsed
from gateway.surfaces import Surface, sse
from gateway.surfaces.stencil import MOST, Stencil
from gateway.types import Action, Attempt, Draft, Exchange, Finding, Piece, Usage
from gateway.waiting import NO_ENDS, Channel, Mark, Run, Told, Waiting, attempted, role

LanesFor = Callable[[str], Sequence[Lane]]


class Rewinds(NamedTuple):
    """What a relay needs to cut an answer back: where it may be cut, and what a finding is to mean now."""

    anchors: Sequence[AnchorSpec]
    meaning: Callable[[Finding], Action]  # REWIND, or what it means once the budget is spent


class Manner(NamedTuple):
    """How an answer is carried. `records`: remember what the client reads of each choice, for `answers` and `read`.
    `explains`: what each tells at its end. `hear` is told what an answer in one piece says that leaves as it came."""

    hold: Hold = "nothing"
    records: bool = False
    rewinds: Rewinds | None = None
    metering: Metering | None = None
    explains: Explains | None = None
    hear: Callable[[Sequence[Piece]], None] | None = None


PLAIN = Manner()


def whole(
    surface: Surface, exchange: Exchange, draft: Draft, lanes_for: LanesFor, payload: bytes, manner: Manner = PLAIN
) -> bytes:
    """An answer in one piece, as it may leave: judged like a stream that came all at once."""
    reading = surface.read(parsed(payload))
    for _, name, text in reading.pieces:
        if manner.metering or name.endswith("arguments") or not silent(lanes_for(role(name)), text):
            relay = Relay(surface, exchange, draft, lanes_for, bytes, PLAIN._replace(metering=manner.metering))
            return b"".join(relay.feed([sse.Frame(payload, payload)], final=True))
    draft.usage = reading.usage
    draft.finish.update(reading.ends)
    if manner.hear is not None:
        manner.hear(reading.pieces)
    return payload


class Relay:
    """Carries one answer. `done` is set when every choice was halted and the upstream has nothing more to say."""

    def __init__(
        self,
        surface: Surface,
        exchange: Exchange,
        draft: Draft,
        lanes_for: LanesFor,
        frame: Callable[[bytes], bytes] = sse.frame,
        manner: Manner = PLAIN,
    ) -> None:
        self._surface, self._exchange, self._draft, self._lanes_for = surface, exchange, draft, lanes_for
        self._records, self._rewinds = manner.records or manner.rewinds is not None, manner.rewinds
        self._outbox = Outbox(surface, exchange, draft, frame, manner.hold, manner.explains)
        self._channels: dict[tuple[int, str], Channel] = {}
        self._speaking: dict[int, Channel] = {}
        self._stencils: list[Stencil] = []
        self.head: Mapping[str, Any] | None = None  # the first event, by which later calls' events are told as its own
        self.rewound: dict[int, Attempt] = {}  # choices that were cut back and have not gone on
        self._gauge = Gauge(surface, manner.metering)
        self._withheld: dict[int, Ending] = {}
        self._mute: set[int] = set()  # those of them of which the upstream has nothing more to say
        self._asked: Sequence[int] = range(exchange.choices)  # the choices that the upstream's call is about
        self.failed = False  # the upstream itself reported an error

    @property
    def done(self) -> bool:
        return len(self._draft.halted) >= self._exchange.choices

    @property
    def idle(self) -> bool:
        """Whether the upstream goes on with nothing but what was cut back."""
        going = [choice for choice in self._asked if choice not in self._draft.finish and choice not in self._mute]
        return bool(going) and all(choice in self.rewound for choice in going)

    @property
    def held(self) -> int:
        """Characters that wait."""
        return sum(channel.end - channel.window.frontier for channel in self._channels.values())

    @property
    def complete(self) -> bool:
        """Whether every choice that was asked for has come to its end."""
        return len(self._draft.finish) >= self._exchange.choices

    @property
    def answers(self) -> dict[int, str]:
        """What the client reads of each choice that was not halted, as far as it has come."""
        return {choice: told.text for choice, told in self.told.items()}

    @property
    def told(self) -> dict[int, Told]:
        """The same, not yet put together."""
        return {choice: told for choice, told in self._told.items() if choice not in self._draft.halted}

    @property
    def _told(self) -> dict[int, Told]:
        return {each.choice: each.told for each in self._channels.values() if each.told is not None}

    @property
    def said(self) -> dict[int, str]:
        """What the rules let the client read of each choice's answer, also of those that were halted."""
        return {choice: told.gone for choice, told in self._told.items()}

    @property
    def read(self) -> dict[int, str]:
        """What the client reads of each choice's answer, its ending included, as far as it has left."""
        return {choice: self._outbox.leaves(choice, gone) for choice, gone in self.said.items()}

    @property
    def calls(self) -> set[int]:
        """The choices that call a tool."""
        return {channel.choice for channel in self._channels.values() if role(channel.name) == "tool_call"}

    def withhold(self, choice: int, finding: Finding) -> None:
        """A choice of which all is kept back ends with this finding, and without a word."""
        self._draft.halted.setdefault(choice, finding)
        self._draft.finish[choice] = "content_filter"
        self._withheld[choice] = Ending("", alone=True)

    def counted(self, choice: int) -> int:
        """How many events that stand the other choices have, since each of them was cut back last."""
        return sum(channel.stands for channel in self._channels.values() if channel.choice != choice)

    def release(self, endings: Mapping[int, Ending], bill: Usage | None = None) -> list[bytes]:
        """What was kept back may leave, each choice with its ending; `bill` is added to the usage that is told."""
        self._outbox.release({**endings, **self._withheld}, bill)
        return self._outbox.drain()

    def feed(self, frames: Sequence[sse.Frame], final: bool = False) -> list[bytes]:
        """The frames that may leave now. `final` says that the upstream has ended."""
        place = 0
        while place < len(frames):
            place += self._admit_run(frames[place:] if place else frames) or self._admit_new(frames[place])
        for key, channel in list(self._channels.items()):
            if (channel.parts or (final and channel.open)) and key in self._channels:
                self._judge(channel, final)
        return self._outbox.drain()

    def _admit_run(self, frames: Sequence[sse.Frame]) -> int:
        """Take as many events as are like one known already; how many those are."""
        for stencil in self._stencils:
            texts = stencil.texts(frames)
            if texts:
                channel = self._channel(stencil.choice, stencil.channel)
                if channel:
                    self._outbox.add(Run(channel, frames[: len(texts)], texts))
                elif stencil.choice in self.rewound:
                    self.rewound[stencil.choice] = self.rewound[stencil.choice].wasting(len(texts))
                else:
                    for frame in frames[: len(texts)]:
                        self._outbox.add(Waiting(frame, (), NO_ENDS))
                return len(texts)
        return 0

    def _admit_new(self, frame: sse.Frame) -> int:
        """Take one event unlike those before it: read it whole."""
        data = parsed(frame.data)
        if self._rewinds is not None and self.head is None:
            self.head = data
        reading = self._surface.read(data)
        self.failed = self.failed or reading.failed
        tokens, frame = self._gauge.take(data, frame, self._outbox.framed)
        if reading.usage:
            self._draft.usage = reading.usage
        elif len(self._stencils) < MOST and not self._gauge.needs_all:
            stencil = Stencil.cut(frame.data, reading, lambda payload: self._surface.read(parsed(payload)))
            self._stencils += [stencil] if stencil else []
        gone = self.rewound.keys() & self._surface.choices(data) if self.rewound else set()
        if gone:
            self._mute |= gone & reading.ends.keys()
            for choice in gone & {piece.choice for piece in reading.pieces}:
                self.rewound[choice] = self.rewound[choice].wasting(1)
            if not self._surface.rewrite(data, {}, dict.fromkeys(gone)):
                return 1
            reading, frame = self._surface.read(data), self._outbox.framed(data)
        marks = [mark for piece in reading.pieces if (mark := self._take(*piece))]
        self._gauge.judge(tokens, marks)
        for choice, reason in reading.ends.items():
            self._close(choice)
            if choice in self.rewound:  # its very end was found wrong
                self._mute.add(choice)
            else:
                self._draft.finish.setdefault(choice, reason)  # a halted one has come to its end before
        ends = {choice: reason for choice, reason in reading.ends.items() if choice not in self.rewound}
        waiting = Waiting(frame, marks, ends, reading.usage is not None)
        counts = self._exchange.wants_usage and not self.rewound  # else what it tells is not all yet
        self._outbox.add_less(waiting, data, reading.ends.keys() - ends, counts)
        return 1

    def _take(self, choice: int, name: str, text: str) -> Mark | None:
        """Note a piece of text where it belongs."""
        channel = self._channel(choice, name)
        if channel is None:
            return None
        start = channel.end
        channel.take(text)
        return Mark(channel, channel.window, start, channel.end, text)

    def _channel(self, choice: int, name: str) -> Channel | None:
        """The channel that speaks now; None for a choice that is over, of which nothing more is heard."""
        speaking = self._speaking.get(choice)
        if speaking is not None and speaking.name == name and speaking.open:
            return None if choice in self._draft.halted else speaking
        if speaking is not None and speaking.open and not name.endswith("arguments"):
            self._judge(speaking, final=True)  # another text goes on: its last word is complete
        if choice in self._draft.halted or choice in self.rewound:
            return None
        channel = self._channels.get((choice, name))
        if channel is None:
            told = Told() if self._records and name == self._surface.answer else None
            anchors = self._rewinds.anchors if self._rewinds is not None and told is not None else None
            held = self._rewinds is not None and role(name) == "tool_call"  # so that a call can be dropped as a whole
            channel = Channel(choice, name, self._lanes_for(role(name)), told, anchors, held)
            self._channels[choice, name] = channel
        elif not channel.open:
            channel.reopen(self._lanes_for(role(name)))
        if not channel.is_call:
            self._speaking[choice] = channel
        return channel

    def _close(self, choice: int) -> None:
        for key, channel in list(self._channels.items()):
            if channel.choice == choice and channel.open and key in self._channels:
                self._judge(channel, final=True)

    def _judge(self, channel: Channel, final: bool) -> None:
        """Judge what a channel has said, and book what is found; a choice that halts is closed as a whole."""
        channel.judge(final)
        choice = channel.choice
        while (halted := channel.window.halted) and halted.action is Action.REWIND:
            meant = self._meaning(channel, halted)
            if meant is Action.REWIND:
                self._rewind(channel, halted)
                return
            if meant is Action.BLOCK:
                break
            channel.pardon(meant, final)
        if halted:
            channel.close()
        blocked = replace(halted, action=Action.BLOCK) if halted else None  # whatever it was to be
        self._draft.findings += [blocked if blocked and f is halted else f for f in channel.window.taken()]
        if blocked and choice not in self._draft.halted:
            self._draft.halted[choice] = blocked
            self._draft.finish[choice] = "content_filter"
            self._close(choice)

    def _meaning(self, channel: Channel, finding: Finding) -> Action:
        """What a finding that would rewind means. Only the answer itself and calls, which are held, can be cut back."""
        if self._rewinds is None or (channel.told is None and not channel.is_call):
            return Action.BLOCK
        return self._rewinds.meaning(finding)

    def _rewind(self, channel: Channel, finding: Finding) -> None:
        """Cut the choice back. What was found behind the cut was never said, but for what cut it."""
        choice = channel.choice
        own = [one for one in self._channels.values() if one.choice == choice]
        cut = channel.cut()
        self._draft.findings += channel.window.taken()
        for other in own:
            if other is not channel and other.is_call:
                other.cut()
            elif other.open:
                self._judge(other, final=True)
            if other.is_call:
                del self._channels[choice, other.name]
        if choice in self._draft.halted:  # another of its texts, just found wrong, has ended it
            return
        self.rewound[choice] = attempted(finding, cut.kind, own, self._surface.answer)

    def resume(self, choice: int) -> str:
        """What stands of a choice that was cut back; from now on its next events are heard."""
        self._draft.attempts.append(self.rewound.pop(choice))
        self._mute.discard(choice)
        self._asked = (choice,)
        self._stencils.clear()
        self._gauge.forget(choice)
        return told.text if (told := self._told.get(choice)) is not None else ""
