"""The clerks: one process after the other, started, listened to, followed by another if it dies."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable

from gateway.audit import _letters
from gateway.audit._letters import End, News
from gateway.audit._writer import PATIENCE, RETRY

log = logging.getLogger(__name__)

LONGEST = 30.0  # seconds until another clerk is tried
COMMAND = (sys.executable, "-P", "-m", "gateway.audit._clerk")


class Hire:
    """One chain's clerks, from `start` to `stop`. `brief` says what a new one is to be told, `hear` is told what he
    says, `gone` that one has died."""

    def __init__(
        self, brief: Callable[[], Iterable[bytes]], hear: Callable[[News], None], gone: Callable[[], None]
    ) -> None:
        self._brief, self._hear, self._gone = brief, hear, gone
        self._line: asyncio.StreamWriter | None = None
        self._heard = False  # of the clerk, since he came
        self._ending = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._work = asyncio.create_task(self._run())

    def tell(self, letter: bytes) -> None:
        """The clerk is told this; if there is none, the next one's brief has to say it."""
        if self._line is not None:
            self._line.writelines(_letters.framed(letter))

    async def stop(self) -> None:
        """He writes what he has, as far as that can be done within a few seconds, and ends."""
        self._ending.set()
        self.tell(_letters.written(End()))
        if self._work is not None:
            _, late = await asyncio.wait([self._work], timeout=PATIENCE + 2)
            for task in late:
                task.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _run(self) -> None:
        """One after the other, until one comes to a good end. Who says nothing is followed later each time."""
        tries, pause = 0, RETRY
        while tries < 2 and not await self._served():
            self._gone()
            tries += self._ending.is_set()
            pause, self._heard = RETRY if self._heard else min(2 * pause, LONGEST), False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause)

    async def _served(self) -> bool:
        """What one clerk does. Whether he has ended because he was told to."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = await asyncio.to_thread(_hired, theirs)
            except OSError as fault:
                ours.close()
                log.error("the process that writes the audit log can't be started: %s", fault)
                return False
        reader, line = await asyncio.open_unix_connection(sock=ours)
        try:
            end = [_letters.written(End())] if self._ending.is_set() else []
            for letter in (*self._brief(), *end):
                line.writelines(_letters.framed(letter))
            self._line = line
            await self._listen(reader)
        except asyncio.CancelledError:
            process.kill()
            raise
        finally:
            self._line = None
            line.close()
            code = await asyncio.to_thread(process.wait)
            with contextlib.suppress(OSError):
                await line.wait_closed()
        return code == 0 and self._ending.is_set()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Until he has nothing more to say."""
        with contextlib.suppress(ConnectionError):
            async for told in reader:
                if told.endswith(b"\n"):  # else he died in the middle of it
                    self._heard = True
                    self._hear(_letters.news(told))


def _hired(sock: socket.socket) -> subprocess.Popen[bytes]:
    """A clerk at the other end of this socket. He finds what we find, and does not hear the terminal's signals."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    return subprocess.Popen(COMMAND, stdin=sock.fileno(), env=found, start_new_session=True)
