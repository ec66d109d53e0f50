"""The events of an answer that wait for their time, and how each leaves: as it came, or as the rules left it.

What no rule touched is forwarded as the very bytes that arrived, however many events arrived together. An event that
holds masked text, or the end of a halted choice, is written anew.

An outbox may also keep back what has been judged, until it is told how the answer ends: all of it, or only the events
in which choices end. Then it can still put other words in an answer's place, or words behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Set
from typing import Any, Literal, NamedTuple

import orjson

from gateway.errors import UpstreamFault
from gateway.surfaces import Surface, sse
from gateway.types import Draft, Exchange, Finding, Usage
from gateway.waiting import Channel, Run, Waiting

Hold = Literal["nothing", "ends", "all", "judged"]  # judged: all, also of what was halted
Explains = Callable[[int], Mapping[str, Any]]  # what a choice that ends tells a client who wants to know why


class Ending(NamedTuple):
    """How a choice ends: with another answer in the place of its own, with words behind it, a note for programs.

    `alone`: and nothing else of it leaves, neither calls nor thoughts.
    """

    instead: str | None = None
    behind: str = ""
    note: Mapping[str, Any] | None = None
    alone: bool = False


class Outbox:
    """A queue: nothing overtakes what came before it."""

    def __init__(
        self,
        surface: Surface,
        exchange: Exchange,
        draft: Draft,
        frame: Callable[[bytes], bytes],
        hold: Hold,
        explains: Explains | None = None,
    ) -> None:
        self._surface, self._exchange, self._draft, self._frame = surface, exchange, draft, frame
        self._explains = explains
        self._hold: Hold = hold
        self._endings: Mapping[int, Ending] = {}
        self._bill: Usage | None = None
        self._queue: deque[Waiting | Run] = deque()
        self._ended: set[int] = set()  # halted choices whose end the client has seen

    def add(self, waiting: Waiting | Run) -> None:
        self._queue.append(waiting)

    def release(self, endings: Mapping[int, Ending], bill: Usage | None) -> None:
        """What is kept back may leave, each choice with its ending; `bill` is added to the usage that is told."""
        self._hold, self._endings, self._bill = "nothing", endings, bill

    def leaves(self, choice: int, gone: str) -> str:
        """What the client reads of a text that the rules let go: nothing while it is kept, else with its ending."""
        stopped = len(self._draft.halted) >= self._exchange.choices
        if self._hold == "judged" or (self._hold == "all" and not stopped):
            return ""
        ending = self._endings.get(choice, Ending())
        return (gone if ending.instead is None else ending.instead) + ending.behind

    def add_less(self, waiting: Waiting, data: dict[str, Any], unended: Set[int], counts: bool) -> None:
        """An event less the end of choices that go on all the same, and less its usage unless that `counts`."""
        if unended and not waiting.marks and not self._surface.choices(data) - unended:
            return  # it says nothing else
        if unended:
            self._surface.unended(data, unended)
        unmetered = waiting.usage and not counts
        left = self._surface.without_usage(data) if unmetered else data
        if left is None:
            return
        if unended or unmetered:
            waiting = waiting._replace(frame=self.framed(left), usage=waiting.usage and counts)
        self.add(waiting)

    def drain(self) -> list[bytes]:
        """What may leave now."""
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
                if self._replaced(first.channel) and not first.halts:
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
        if self._hold in ("nothing", "judged"):
            return self._hold == "judged"
        if len(self._draft.halted) >= self._exchange.choices:
            return False
        return self._hold == "all" or (isinstance(first, Waiting) and bool(first.ends.keys() - self._draft.halted))

    def _replaced(self, channel: Channel) -> bool:
        ending = self._endings.get(channel.choice)
        if ending is None or ending.instead is None:
            return False
        return ending.alone or channel.told is not None

    def _send(self, waiting: Waiting) -> bytes | None:
        """The frame for an event whose time has come: its own bytes, or what the rules left of it."""
        texts = self._texts(waiting)
        endings = {choice: self._endings[choice] for choice in waiting.ends if choice in self._endings}
        bill = self._bill if waiting.usage else None
        explains = self._explains if waiting.ends or self._draft.halted else None
        if not texts and not endings and not bill and not self._draft.halted and not explains:
            return waiting.frame.raw
        data = parsed(waiting.frame.data)
        if _is_cut_away(waiting) and not self._surface.opens(data):
            return None
        ending = self._ending(waiting, self._surface.choices(data))
        if not ending and self._silent(waiting):
            return None
        ended = {*waiting.ends, *(choice for choice, halted in ending.items() if halted)} - _gone(ending)
        notes = {choice: explains(choice) for choice in sorted(ended)} if explains else {}
        if not texts and not endings and not bill and not ending and not notes:
            return waiting.frame.raw
        if not self._surface.rewrite(data, texts, ending, self._exchange.explain):
            return None
        for choice, note in notes.items():
            self._surface.append(data, choice, "", note)
        for choice, words in endings.items():
            self._surface.append(data, choice, (words.instead or "") + words.behind, words.note)
        if bill:
            self._surface.billed(data, bill)
        return self.framed(data).raw

    def _silent(self, waiting: Waiting) -> bool:
        """Whether it tells nothing but what does not leave."""
        told = [self._endings.get(mark.channel.choice) for mark in waiting.marks]
        return bool(told) and not waiting.ends and all(ending is not None and ending.alone for ending in told)

    def _texts(self, waiting: Waiting) -> dict[tuple[int, str], str]:
        """The texts of an event that leave other than they came."""
        texts: dict[tuple[int, str], str] = {}
        for channel, window, start, end, text in waiting.marks:
            key = (channel.choice, channel.name)
            if self._replaced(channel):
                texts[key] = ""
            elif window.touches(start, end):
                texts[key] = texts.get(key, "") + window.render(start, text)
        return texts

    def framed(self, data: dict[str, Any]) -> sse.Frame:
        """An event written anew."""
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
            if halted and choice in self._draft.halted and choice not in self._ended and end > halted.start:
                ending[choice] = halted
        for choice in waiting.ends:
            if choice in self._draft.halted and choice not in self._ended:
                ending.setdefault(choice, self._draft.halted[choice])
        self._ended.update(ending)
        return ending


def _is_cut_away(waiting: Waiting) -> bool:
    """Whether nothing that an event says was left of it."""
    marks = waiting.marks
    return bool(marks) and not waiting.ends and all(mark.start >= mark.window.limit for mark in marks)


def _gone(ending: Mapping[int, Finding | None]) -> set[int]:
    """The choices that had ended before."""
    return {choice for choice, halted in ending.items() if halted is None}


def parsed(payload: bytes) -> dict[str, Any]:
    """A JSON object; UpstreamFault if it is anything else."""
    try:
        data = orjson.loads(payload)
    except orjson.JSONDecodeError as fault:
        raise UpstreamFault("the upstream sent what is not JSON", kind="garbage") from fault
    if not isinstance(data, dict):
        raise UpstreamFault("the upstream sent JSON that is no object", kind="garbage")
    return data
