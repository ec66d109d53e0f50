"""A queue in a Redis stream, shared by all gateways and reviewers that name it; the server is 6.2 or newer.

What is dealt with leaves the stream and goes to a second one, `NAME:done`, with its verdict. All reviewers are one
consumer group: each entry is one reviewer's, until he has left it lying for too long.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from gateway.refine._entry import Listing, QueueFault, Waiting, check_name, checked, unpack
from gateway.stores._link import Command, Fault, Link, Refusal

GROUP = "reviewers"
_FIELD = "entry"
_PATIENCE = 2.0  # seconds for an answer
_ROUNDS = 100  # looks for what others have left lying
_START = b"0-0"


class RedisSink:
    """Appends; beyond `most` the oldest go, a few too late rather than one too early. It connects when it has to."""

    def __init__(self, url: str, stream: str, most: int) -> None:
        self._link, self._stream, self._most = Link(url), stream, most

    async def write(self, lines: Sequence[bytes]) -> int:
        try:
            async with asyncio.timeout(_PATIENCE):
                if not self._link.is_open:
                    await self._link.open(_PATIENCE)
                *_, told = await self._link.ask_all(self._commands(lines))
        except (Fault, TimeoutError) as fault:
            await self._link.close()
            raise _explained(fault) from fault
        if isinstance(told, Refusal):
            raise _explained(told)
        if not (isinstance(told, list) and told and isinstance(told[-1], int)):
            raise QueueFault("refused", "something else has this name")
        return told[-1]

    def _commands(self, lines: Sequence[bytes]) -> list[Command]:
        adding: list[Command] = [("XADD", self._stream, "*", _FIELD, line) for line in lines]
        return [("MULTI",), *adding, ("XTRIM", self._stream, "MAXLEN", "~", self._most), ("EXEC",)]

    async def close(self) -> None:
        await self._link.close()


class RedisReviewing:
    """What a reviewer's tool does; it connects for each question anew. `lease`: seconds until others may have it."""

    def __init__(self, url: str, stream: str, most: int, lease: float) -> None:
        self._url, self._stream, self._most, self._lease = url, stream, most, lease

    async def pending(self, most: int = 100) -> Listing:
        """What nobody has dealt with, taken or not, the oldest first."""
        async with self._linked() as link:
            found = await link.ask("XRANGE", self._stream, "-", "+", "COUNT", most)
            taken = await link.ask("XPENDING", self._stream, GROUP, "-", "+", self._most)
        now = time.time()
        reviewers = {ticket: (who.decode(), now - idle / 1000) for ticket, who, idle, _ in taken}
        return _listing(found, reviewers)

    async def take(self, most: int, reviewer: str) -> Listing:
        """So many for this reviewer: first what is his already, then what others have left lying, then new ones."""
        check_name(reviewer)
        async with self._linked() as link:
            found = await self._next(link, reviewer, most, "0")
            if len(found) < most:
                mine = {ticket for ticket, _ in found}
                found += [one for one in await self._left(link, reviewer, most - len(found)) if one[0] not in mine]
            if len(found) < most:
                found += await self._next(link, reviewer, most - len(found), ">")
            gone = [ticket for ticket, fields in found if fields is None]
            if gone:  # the stream was full, and they have left it
                await link.ask("XACK", self._stream, GROUP, *gone)
        now = time.time()
        return _listing(found, {ticket: (reviewer, now) for ticket, _ in found})

    async def done(self, ticket: str, verdict: str, note: str = "", reviewer: str = "") -> bool:
        """It is dealt with; false if it is not there. ValueError if the verdict is no word for one."""
        told = ("verdict", verdict, "note", checked(verdict, note), "time", f"{time.time():.3f}", "ticket", ticket)
        async with self._linked() as link:
            found = await self._at(link, ticket)
            if not found:
                return False
            who = reviewer or await self._owner(link, ticket)
            ended = f"{self._stream}:done"
            *_, answers = await link.ask_all(
                [
                    ("MULTI",),
                    ("XADD", ended, "MAXLEN", "~", self._most, "*", *found, "reviewer", who, *told),
                    ("XACK", self._stream, GROUP, ticket),
                    ("XDEL", self._stream, ticket),
                    ("EXEC",),
                ]
            )
        if isinstance(answers, Refusal):
            raise _explained(answers)
        return bool(answers[-1])

    async def _at(self, link: Link, ticket: str) -> list[bytes]:
        """The fields of an entry; none if it is not there, or that is no ticket."""
        try:
            found = await link.ask("XRANGE", self._stream, ticket, ticket)
        except Refusal:
            return []
        return list(found[0][1]) if found else []

    async def _owner(self, link: Link, ticket: str) -> str:
        taken = await link.ask("XPENDING", self._stream, GROUP, ticket, ticket, 1)
        return taken[0][1].decode() if taken else ""

    async def _next(self, link: Link, reviewer: str, most: int, behind: str) -> list[Any]:
        asked = ("XREADGROUP", "GROUP", GROUP, reviewer, "COUNT", most, "STREAMS", self._stream, behind)
        answer = await link.ask(*asked)
        return list(answer[0][1]) if answer else []

    async def _left(self, link: Link, reviewer: str, most: int) -> list[Any]:
        found: list[Any] = []
        start = _START
        for _ in range(_ROUNDS):
            idle, room = int(self._lease * 1000), most - len(found)
            answer = await link.ask("XAUTOCLAIM", self._stream, GROUP, reviewer, idle, start, "COUNT", room)
            start = answer[0]
            found += [one for one in answer[1] if one]
            if start == _START or len(found) >= most:
                break
        return found

    @asynccontextmanager
    async def _linked(self) -> AsyncIterator[Link]:
        """A connection to a server that knows the group. QueueFault for whatever goes wrong with it."""
        link = Link(self._url)
        try:
            await link.open(_PATIENCE)
            async with asyncio.timeout(_PATIENCE):
                # Refused where there is one already; if for another reason, the next question tells.
                await link.ask_all([("XGROUP", "CREATE", self._stream, GROUP, "0", "MKSTREAM")])
                yield link
        except (Fault, TimeoutError) as fault:
            raise _explained(fault) from fault
        finally:
            await link.close()


def _listing(found: Sequence[Any], reviewers: Mapping[bytes, tuple[str, float]]) -> Listing:
    waiting, unread = [], 0
    for ticket, fields in found:
        try:
            entry = unpack(dict(zip(fields[::2], fields[1::2], strict=True))[_FIELD.encode()])
        except (ValueError, KeyError, TypeError):
            unread += 1
            continue
        waiting.append(Waiting(ticket.decode(), entry, *reviewers.get(ticket, ("", 0.0))))
    return Listing(tuple(waiting), unread)


def _explained(fault: Fault | TimeoutError) -> QueueFault:
    return QueueFault(fault.kind, str(fault)) if isinstance(fault, Fault) else QueueFault("timeout")
