"""Events of the upstream in, events for the client out: each waits until its text may leave, and goes as it came.

What no rule touched is forwarded as the very bytes that arrived, however many events arrived together. An event that
holds masked text, or the end of a halted choice, is written anew.

A relay may also keep back what has been judged, until it is told how the answer ends: all of it, or only the events in
which choices end. Then it can still put other words in an answer's place, or words behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from gateway.errors import UpstreamFault
from gateway.judge import Lane, silent
from gateway.surfaces import Surface, sse
from gateway.surfaces.stencil import MOST, Stencil
from gateway.types import Draft, Exchange, Finding, Usage
from gateway.waiting import NO_ENDS, Channel, Mark, Run, Told, Waiting

LanesFor = Callable[[str], Sequence[Lane]]
Hold = Literal["nothing", "ends", "all"]


class Ending(NamedTuple):
    """How a choice ends: with another answer in the place of its own, with words behind it, with a note for programs."""

    instead: str | None = None
    behind: str = ""
    note: Mapping[str, Any] | None = None


def whole(surface: Surface, exchange: Exchange, draft: Draft, lanes_for: LanesFor, payload: bytes) -> bytes:
    """An answer in one piece, as it may leave: judged like a stream that came all at once."""
    reading = surface.read(_parsed(payload))
    for _, name, text in reading.pieces:
        if name.endswith("arguments") or not silent(lanes_for(_role(name)), text):
            relay = Relay(surface, exchange, draft, lanes_for, bytes)
            return b"".join(relay.feed([sse.Frame(payload, payload)], final=True))
    draft.usage = reading.usage
    draft.finish.update(reading.ends)
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
        hold: Hold = "nothing",
        records: bool = False,
    ) -> None:
        """`records`: remember what the client reads of each choice's answer, for `answers`."""
        self._surface, self._exchange, self._draft = surface, exchange, draft
        self._lanes_for, self._frame = lanes_for, frame
        self._hold: Hold = hold
        self._records = records
        self._endings: Mapping[int, Ending] = {}
        self._bill: Usage | None = None
        self._channels: dict[tuple[int, str], Channel] = {}
        self._speaking: dict[int, Channel] = {}
        self._queue: deque[Waiting | Run] = deque()
        self._stencils: list[Stencil] = []
        self._ended: set[int] = set()  # halted choices whose end the client has seen
        self.failed = False  # the upstream itself reported an error

    @property
    def done(self) -> bool:
        return len(self._draft.halted) >= self._exchange.choices

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
        told = {channel.choice: channel.told for channel in self._channels.values() if channel.told is not None}
        return {choice: heard.text for choice, heard in told.items() if choice not in self._draft.halted}

    @property
    def calls(self) -> set[int]:
        """The choices that call a tool."""
        return {channel.choice for channel in self._channels.values() if _role(channel.name) == "tool_call"}

    def release(self, endings: Mapping[int, Ending], bill: Usage | None = None) -> list[bytes]:
        """What was kept back may leave, each choice with its ending; `bill` is added to the usage that is told."""
        self._hold, self._endings, self._bill = "nothing", endings, bill
        return self._drain()

    def feed(self, frames: Sequence[sse.Frame], final: bool = False) -> list[bytes]:
        """The frames that may leave now. `final` says that the upstream has ended."""
        place = 0
        while place < len(frames):
            place += self._admit_run(frames[place:] if place else frames) or self._admit_new(frames[place])
        for channel in self._channels.values():
            if channel.parts or (final and channel.open):
                self._judge(channel, final)
        return self._drain()

    def _admit_run(self, frames: Sequence[sse.Frame]) -> int:
        """Take as many events as are like one known already; how many those are."""
        for stencil in self._stencils:
            texts = stencil.texts(frames)
            if texts:
                channel = self._channel(stencil.choice, stencil.channel)
                if channel:
                    self._queue.append(Run(channel, frames[: len(texts)], texts))
                else:
                    self._queue += [Waiting(frame, (), NO_ENDS) for frame in frames[: len(texts)]]
                return len(texts)
        return 0

    def _admit_new(self, frame: sse.Frame) -> int:
        """Take one event unlike those before it: read it whole."""
        data = _parsed(frame.data)
        reading = self._surface.read(data)
        if reading.usage:
            self._draft.usage = reading.usage
            if not self._exchange.wants_usage:
                rest = self._surface.without_usage(data)
                if rest is None:
                    return 1
                frame = self._framed(rest)
        elif len(self._stencils) < MOST:
            stencil = Stencil.cut(frame.data, reading, lambda payload: self._surface.read(_parsed(payload)))
            self._stencils += [stencil] if stencil else []
        self.failed = self.failed or reading.failed
        marks = [mark for piece in reading.pieces if (mark := self._take(*piece))]
        for choice, reason in reading.ends.items():
            self._close(choice)
            self._draft.finish.setdefault(choice, reason)  # a halted one has come to its end before
        self._queue.append(Waiting(frame, marks, reading.ends, reading.usage is not None))
        return 1

    def _take(self, choice: int, name: str, text: str) -> Mark | None:
        """Note a piece of text where it belongs."""
        channel = self._channel(choice, name)
        if channel is None:
            return None
        start = channel.end
        channel.end = end = start + len(text)
        channel.parts.append(text)
        return Mark(channel, channel.window, start, end, text)

    def _channel(self, choice: int, name: str) -> Channel | None:
        """The channel that speaks now; None for a halted choice, of which nothing more is heard."""
        speaking = self._speaking.get(choice)
        if speaking is not None and speaking.name == name and speaking.open:
            return None if choice in self._draft.halted else speaking
        if speaking is not None and speaking.open and not name.endswith("arguments"):
            self._judge(speaking, final=True)  # another text goes on: its last word is complete
        if choice in self._draft.halted:
            return None
        channel = self._channels.get((choice, name))
        if channel is None:
            told = Told() if self._records and name == self._surface.answer else None
            channel = self._channels[choice, name] = Channel(choice, name, self._lanes_for(_role(name)), told)
        elif not channel.open:
            channel.reopen(self._lanes_for(_role(name)))
        if not channel.is_call:
            self._speaking[choice] = channel
        return channel

    def _close(self, choice: int) -> None:
        for (of, _), channel in self._channels.items():
            if of == choice and channel.open:
                self._judge(channel, final=True)

    def _judge(self, channel: Channel, final: bool) -> None:
        """Judge what a channel has said, and book what is found; a choice that halts is closed as a whole."""
        channel.judge(final)
        self._draft.findings += channel.window.taken()
        halted = channel.window.halted
        if halted and channel.choice not in self._draft.halted:
            self._draft.halted[channel.choice] = halted
            self._draft.finish[channel.choice] = "content_filter"
            self._close(channel.choice)

    def _drain(self) -> list[bytes]:
        out: list[bytes] = []
        queue, halted = self._queue, self._draft.halted
        while queue:
            if halted and len(self._ended) >= self._exchange.choices:
                queue.clear()  # whatever came along with the end of the last choice
                break
            first = queue[0]
            if self._keeps(first):
                break
            if isinstance(first, Run):
                if self._replaced(first.channel):
                    queue.popleft()
                    continue
                leaving = None if halted else first.leaving()
                if leaving is None:
                    queue.popleft()
                    queue.extendleft(first.singly())
                    continue
                out += leaving
                if not first.over:
                    break
            elif first.ready:
                sent = self._send(first)
                out += [sent] if sent else []
            else:
                break
            queue.popleft()
        return out

    def _keeps(self, first: Waiting | Run) -> bool:
        """Whether it waits until it is known how the answer ends."""
        if self._hold == "nothing" or len(self._draft.halted) >= self._exchange.choices:
            return False
        return self._hold == "all" or (isinstance(first, Waiting) and bool(first.ends.keys() - self._draft.halted))

    def _replaced(self, channel: Channel) -> bool:
        ending = self._endings.get(channel.choice)
        return channel.told is not None and ending is not None and ending.instead is not None

    def _send(self, waiting: Waiting) -> bytes | None:
        """The frame for an event whose time has come: its own bytes, or what the rules left of it."""
        texts: dict[tuple[int, str], str] = {}
        for channel, window, start, end, text in waiting.marks:
            key = (channel.choice, channel.name)
            if self._replaced(channel):
                texts[key] = ""
            elif window.touches(start, end):
                texts[key] = texts.get(key, "") + window.render(start, text)
        endings = {choice: self._endings[choice] for choice in waiting.ends if choice in self._endings}
        bill = self._bill if waiting.usage else None
        if not texts and not endings and not bill and not self._draft.halted:
            return waiting.frame.raw
        data = _parsed(waiting.frame.data)
        ending = self._ending(waiting, self._surface.choices(data))
        if not texts and not endings and not bill and not ending:
            return waiting.frame.raw
        if not self._surface.rewrite(data, texts, ending, self._exchange.explain):
            return None
        for choice, words in endings.items():
            self._surface.append(data, choice, (words.instead or "") + words.behind, words.note)
        if bill:
            self._surface.billed(data, bill)
        return self._framed(data).raw

    def _framed(self, data: dict[str, Any]) -> sse.Frame:
        try:
            payload = orjson.dumps(data)
        except TypeError as fault:  # it was JSON once, so all that can be wrong is its depth
            raise UpstreamFault("the upstream's answer is nested too deeply", kind="garbage") from fault
        return sse.Frame(self._frame(payload), payload)

    def _ending(self, waiting: Waiting, present: set[int]) -> dict[int, Finding | None]:
        """Of the choices an event speaks of: those halted in it (with the finding), those that ended before (None)."""
        ending: dict[int, Finding | None] = dict.fromkeys(self._ended & present)
        for channel, window, _, end, _ in waiting.marks:
            choice, halted = channel.choice, window.halted
            if halted and choice not in self._ended and end > halted.start:
                ending[choice] = halted
        for choice in waiting.ends:
            if choice in self._draft.halted and choice not in self._ended:
                ending.setdefault(choice, self._draft.halted[choice])
        self._ended.update(ending)
        return ending


def _parsed(payload: bytes) -> dict[str, Any]:
    """A JSON object; UpstreamFault if it is anything else."""
    try:
        data = orjson.loads(payload)
    except orjson.JSONDecodeError as fault:
        raise UpstreamFault("the upstream sent what is not JSON", kind="garbage") from fault
    if not isinstance(data, dict):
        raise UpstreamFault("the upstream sent JSON that is no object", kind="garbage")
    return data


def _role(channel: str) -> str:
    """Who speaks in a channel, for a rule's `when: role`."""
    if channel.startswith("reasoning"):
        return "reasoning"
    return "tool_call" if "call" in channel else "assistant"
