"""What changes, told to the server beside the requests: in order, a few at a time, and never at anybody's cost."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from gateway.stores import Observe
from gateway.stores._link import Command, Fault, Link, Refusal
from gateway.stores._scripts import Script

QUEUED = 1024  # changes that wait to be told; of more, the oldest are given up
_BATCH = 4  # told at once: meanwhile the server has no time for anybody else
_PATIENCE = 1.0  # seconds for the answer
_PAUSE = 0.1  # seconds, while there is nobody to tell
_AT_A_TIME = 64  # partitions to be tidied


class Teller:
    """All commands run one script; if the server has forgotten it, it is told again."""

    def __init__(self, link: Link, script: Script, observe: Observe) -> None:
        self._link, self._script, self._observe = link, script, observe
        self._queue: deque[Command] = deque()
        self._untidy: dict[str, Command] = {}
        self._news, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()

    def tell(self, command: Command) -> None:
        """Tell it soon. If the server is away for long, the oldest are given up for the newest."""
        self._queue.append(command)
        self._cut()
        self._idle.clear()
        self._news.set()

    def tidy(self, where: str, command: Command) -> None:
        """Tell it when there is time; once is enough for each place."""
        if len(self._untidy) < _AT_A_TIME:
            self._untidy[where] = command
            self._idle.clear()
            self._news.set()

    async def run(self) -> None:
        """For ever."""
        while True:
            await self._news.wait()
            if not self._link.is_open:
                await asyncio.sleep(_PAUSE)
                continue
            batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
            if not batch and self._untidy:
                batch = [self._untidy.pop(next(iter(self._untidy)))]
            if not batch:
                self._news.clear()
                self._idle.set()
                continue
            await self._tell(batch)

    async def flush(self, seconds: float) -> None:
        """Return once all is told, or so many seconds are over."""
        if self._link.is_open:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), seconds)

    async def _tell(self, batch: list[Command]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                answers = await self._link.ask_all(batch)
                forgotten = [
                    ("EVAL", self._script.text, *command[2:])
                    for command, answer in zip(batch, answers, strict=True)
                    if isinstance(answer, Refusal) and answer.unknown_script
                ]
                if forgotten:
                    answers = await self._link.ask_all(forgotten)
        except (Fault, TimeoutError) as fault:
            self._observe(fault.kind if isinstance(fault, Fault) else "timeout")
            self._queue.extendleft(reversed(batch))  # to tell a thing twice does no harm
            self._cut()
            await asyncio.sleep(_PAUSE)
            return
        for answer in answers:
            if isinstance(answer, Refusal) and not answer.unknown_script:
                self._observe(answer.kind)

    def _cut(self) -> None:
        while len(self._queue) > QUEUED:
            self._queue.popleft()
            self._observe("displaced")
