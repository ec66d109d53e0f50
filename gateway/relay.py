"""Events of the upstream in, events for the client out: each waits until its text may leave, and goes as it came.

What no rule touched is forwarded as the very bytes that arrived, however many events arrived together. An event that
holds masked text, or the end of a halted choice, is written anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import orjson

from gateway.calls import CallWindow
from gateway.judge import Lane
from gateway.surfaces import Event, Surface, sse
from gateway.types import Draft, Exchange, Finding
from gateway.window import Window

CARRY = 64  # characters of a channel that a resumed one is judged together with

LanesFor = Callable[[str], Sequence[Lane]]


class _Channel:
    """One text of one choice: its window, and the parts that came since it was last judged."""

    __slots__ = ("choice", "end", "is_call", "name", "open", "parts", "tail", "window")

    def __init__(self, choice: int, name: str, lanes: Sequence[Lane]) -> None:
        self.choice, self.name = choice, name
        self.is_call = name.endswith("arguments")
        self.window: Window | CallWindow = CallWindow(lanes) if self.is_call else Window(lanes)
        self.parts: list[str] = []
        self.end = 0
        self.open = True
        self.tail = ""

    def take(self, text: str) -> _Mark:
        start = self.end
        self.end += len(text)
        self.parts.append(text)
        return _Mark(self, self.window, start, text)

    def judge(self, final: bool) -> None:
        text = "".join(self.parts)
        self.parts.clear()
        if final:
            self.open = False
        if text or final:
            self.tail = (self.tail + text)[-CARRY:]
            self.window.feed(text, final)

    def reopen(self, lanes: Sequence[Lane]) -> None:
        """The text goes on after a pause: a new window that knows the last words of the old one."""
        self.window = Window(lanes, self.tail)
        self.end = len(self.tail)
        self.open = True


class _Mark(NamedTuple):
    """Where a piece of an event's text stands."""

    channel: _Channel
    window: Window | CallWindow
    start: int
    text: str

    @property
    def ready(self) -> bool:
        return self.start + len(self.text) <= self.window.frontier or self.window.halted is not None


class _Waiting(NamedTuple):
    event: Event
    marks: list[_Mark]
    ends: dict[int, str]


class Relay:
    """Carries one answer. `done` is set when every choice was halted and the upstream has nothing more to say."""

    def __init__(
        self,
        surface: Surface,
        exchange: Exchange,
        draft: Draft,
        lanes_for: LanesFor,
        frame: Callable[[bytes], bytes] = sse.frame,
    ) -> None:
        self._surface, self._exchange, self._draft = surface, exchange, draft
        self._lanes_for, self._frame = lanes_for, frame
        self._channels: dict[tuple[int, str], _Channel] = {}
        self._speaking: dict[int, _Channel] = {}
        self._queue: deque[_Waiting] = deque()
        self._ended: set[int] = set()  # halted choices whose end the client has seen
        self.held = 0  # characters that wait
        self.failed = False  # the upstream itself reported an error

    @property
    def done(self) -> bool:
        draft = self._draft
        return bool(draft.halted) and len(draft.halted.keys() | draft.finish.keys()) >= self._exchange.choices

    @property
    def complete(self) -> bool:
        """Whether every choice that was asked for has come to its end."""
        return len(self._draft.finish) >= self._exchange.choices

    def feed(self, events: Iterable[Event], final: bool = False) -> list[bytes]:
        """The frames that may leave now. `final` says that the upstream has ended."""
        for event in events:
            self._admit(event)
        for channel in self._channels.values():
            if channel.parts or (final and channel.open):
                channel.judge(final)
        self._collect()
        return self._drain()

    def _admit(self, event: Event) -> None:
        usage = self._surface.usage(event.data)
        if usage:
            self._draft.usage = usage
            if not self._exchange.wants_usage:
                rest = self._surface.without_usage(event.data)
                if rest is None:
                    return
                event = Event(self._frame(orjson.dumps(rest)), rest)
        elif self._surface.failed(event.data):
            self.failed = True
        marks = []
        for choice, name, text in self._surface.pieces(event.data):
            if choice not in self._draft.halted:
                marks.append(self._channel(choice, name).take(text))
        ends = self._surface.finished(event.data)
        for choice in ends:
            self._close(choice)
            self._draft.finish[choice] = ends[choice]
        self._queue.append(_Waiting(event, marks, ends))

    def _channel(self, choice: int, name: str) -> _Channel:
        channel = self._channels.get((choice, name))
        if channel is None:
            channel = self._channels[choice, name] = _Channel(choice, name, self._lanes_for(_role(name)))
        elif not channel.open:
            channel.reopen(self._lanes_for(_role(name)))
        speaking = self._speaking.get(choice)
        if speaking is not channel and not channel.is_call:
            if speaking is not None and speaking.open:
                speaking.judge(final=True)  # its last word is complete: another text goes on
            self._speaking[choice] = channel
        return channel

    def _close(self, choice: int) -> None:
        for (of, _), channel in self._channels.items():
            if of == choice and channel.open:
                channel.judge(final=True)

    def _collect(self) -> None:
        """Book what the windows found; a choice with a halted channel is closed as a whole."""
        for channel in list(self._channels.values()):
            seen = channel.window.taken()
            if seen:
                self._draft.findings += seen
            halted = channel.window.halted
            if halted and channel.choice not in self._draft.halted:
                self._draft.halted[channel.choice] = halted
                self._draft.finish[channel.choice] = "content_filter"
                self._close(channel.choice)

    def _drain(self) -> list[bytes]:
        out = []
        queue = self._queue
        while queue:
            waiting = queue[0]
            if not all(mark.ready for mark in waiting.marks):
                break
            queue.popleft()
            sent = self._send(waiting)
            if sent:
                out.append(sent)
        self.held = sum(len(mark.text) for waiting in queue for mark in waiting.marks)
        return out

    def _send(self, waiting: _Waiting) -> bytes | None:
        """The frame for an event whose time has come: its own bytes, or what the rules left of it."""
        texts: dict[tuple[int, str], str] = {}
        for channel, window, start, text in waiting.marks:
            if window.touches(start, start + len(text)):
                key = (channel.choice, channel.name)
                texts[key] = texts.get(key, "") + window.render(start, text)
        ending = self._ending(waiting) if self._draft.halted else {}
        if not texts and not ending:
            return waiting.event.raw
        data = waiting.event.data
        if not self._surface.rewrite(data, texts, ending, self._exchange.explain):
            return None
        return self._frame(orjson.dumps(data))

    def _ending(self, waiting: _Waiting) -> dict[int, Finding | None]:
        """The halted choices that end in this event (with their finding) or have ended before (None)."""
        ending: dict[int, Finding | None] = dict.fromkeys(self._ended)
        for channel, window, start, text in waiting.marks:
            choice, halted = channel.choice, window.halted
            if halted and choice not in self._ended and start + len(text) > halted.start:
                ending[choice] = halted
        for choice in waiting.ends:
            if choice in self._draft.halted and choice not in self._ended:
                ending.setdefault(choice, self._draft.halted[choice])
        self._ended.update(ending)
        return ending


def _role(channel: str) -> str:
    """Who speaks in a channel, for a rule's `when: role`."""
    if channel.startswith("reasoning"):
        return "reasoning"
    return "tool_call" if "call" in channel else "assistant"
