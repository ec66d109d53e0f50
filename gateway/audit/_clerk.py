"""The process that writes the audit log, so that nothing of it takes time from requests: `python -m` this.

It hears from the gateway on its standard input, a socket, and answers there. It ends when it is told to, or when the
gateway is no more; then it writes what it has, and leaves the log as one that was broken off. No signal that is meant
for the gateway ends it before.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
from functools import partial
from threading import Lock

from gateway.audit import _letters, _row
from gateway.audit._kept import Kept, kept
from gateway.audit._letters import Batch, Begin, End, Inbox, Letter, News, Standing
from gateway.audit._row import Handed, Row
from gateway.audit._words import Policy, Words
from gateway.audit._writer import Record, Writer
from gateway.types import Exchange

LONGEST = 4000  # characters of what is logged

NOTHING = Policy("none")

log = logging.getLogger(__name__)


class Teller(logging.Handler):
    """Tells the gateway what becomes of lines, and what is to be logged; nobody, if it is no more."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock, self._turn = sock, Lock()

    def count(self, event: str, count: int) -> None:
        self._tell(News(event, count))

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(News("log", 0, record.levelno, record.getMessage()[:LONGEST]))

    def _tell(self, news: News) -> None:
        with self._turn, contextlib.suppress(OSError):
            self._sock.sendall(_letters.line(news))


class Clerk:
    """Does what letters say, to the end."""

    def __init__(self, begin: Begin, teller: Teller) -> None:
        self._writer = Writer(begin.folder, begin.bounds, teller.count, begin.again)
        self._skip = begin.skip
        self._policy, self._words = NOTHING, Words(NOTHING)

    def work(self, inbox: Inbox) -> None:
        """Until there are no more letters."""
        self._writer.start()
        while (letter := inbox.read()) is not None and not isinstance(letter, End):
            self._take(letter)
        self._writer.stop(ended=letter is not None)

    def _take(self, letter: Letter) -> None:
        match letter:
            case Standing(policy, house):
                self._policy, self._words = policy, _words(policy)
                self._writer.put([Record(house, sticks=True)])
            case Batch(rows, lost):
                skip, self._skip = self._skip, 0
                self._writer.put(list(map(self._record, rows[skip:])), 0 if skip else lost)
            case _:
                raise ValueError(f"this is no letter for a clerk at work: {letter!r}")

    def _record(self, handed: Handed) -> Record:
        try:
            line = _row.read(handed)
        except ValueError as fault:  # it still is one of those that were handed over
            log.error("a line of the audit log arrived as nothing that can be read: %s", fault)
            return Record({"kind": "unread", "why": str(fault)})
        if not isinstance(line, Row):
            return Record(line)
        if line.said is None:
            return Record(_row.told(line))
        words = kept(line.exchange.texts, line.said, self._policy.room)
        words = words._replace(left_out=words.left_out + line.left_out)
        findings, refined = (line.draft.findings, line.draft.refined) if line.draft else ((), {})
        clean = line.judged and self._is_looked_at(line.exchange, words)
        return Record(_row.told(line), partial(self._words.told, words, findings, refined, clean))

    def _is_looked_at(self, asked: Exchange, words: Kept) -> bool:
        roles, who, looked = frozenset([role for role, _ in words.asked]), asked.principal, self._policy.looked
        return looked is not None and looked(asked.surface, asked.model, who.tenant, who.tier, roles)


def _words(policy: Policy) -> Words:
    """None at all, if it can't be made sure what is to be redacted."""
    try:
        return Words(policy)
    except (ValueError, MemoryError) as fault:
        log.error("no words are written to the audit log: %r", fault)
        return Words(NOTHING)


def main() -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    with socket.socket(fileno=0) as sock:
        inbox, teller = Inbox(sock), Teller(sock)
        logging.basicConfig(level=logging.INFO, handlers=[teller])
        begin = inbox.read()
        if isinstance(begin, Begin):
            Clerk(begin, teller).work(inbox)


if __name__ == "__main__":
    main()
