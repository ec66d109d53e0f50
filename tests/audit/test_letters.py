"""What the gateway and its clerk write to each other."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.audit import _letters, _row, record
from gateway.audit._letters import Batch, Begin, End, Inbox, Letter, News, Standing
from gateway.audit._row import Row
from gateway.audit._words import Policy
from gateway.audit.auditor import masking
from gateway.ledger import Trip
from gateway.types import Exchange, Principal
from tests.audit.logs import HOUSE, USUAL, arrived, sent
from tests.audit.rules import MASKING, rules

ROW = record.row(Trip(0.0), Exchange("rt-1", "chat", "m", Principal(), ()))
LETTERS: list[Letter] = [
    Begin(Path("audit"), USUAL, 3, 1),
    Standing(Policy("redacted", b"k", masking(rules(MASKING))), HOUSE),
    Batch((ROW, {"kind": "act"}), 4),
    End(),
]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_letters_arrive_as_they_were_sent(pair: tuple[socket.socket, socket.socket]) -> None:
    inbox = Inbox(pair[1])
    pair[0].sendall(sent(*LETTERS))
    begin, standing, batch, end = [inbox.read() for _ in LETTERS]
    assert [begin, standing, end] == [LETTERS[0], LETTERS[1], LETTERS[3]]
    assert isinstance(batch, Batch)
    assert [_row.read(raw) for raw in batch.rows] == [arrived(ROW), {"kind": "act"}]
    assert batch.lost == 4


@pytest.mark.parametrize("size", [0, 2, 4, 10])
def test_of_a_letter_that_is_torn_nothing_is_heard(pair: tuple[socket.socket, socket.socket], size: int) -> None:
    pair[0].sendall(sent(LETTERS[0]) + sent(LETTERS[1])[:size])
    pair[0].close()
    inbox = Inbox(pair[1])
    assert [inbox.read(), inbox.read()] == [LETTERS[0], None]


def test_who_leaves_without_listening_is_heard_to_the_end(pair: tuple[socket.socket, socket.socket]) -> None:
    pair[1].sendall(_letters.line(News("written", 1)))
    pair[0].sendall(sent(*LETTERS[:2]))
    pair[0].close()
    inbox = Inbox(pair[1])
    assert [inbox.read() for _ in range(3)] == [*LETTERS[:2], None]


def test_news_arrive_as_they_were_sent() -> None:
    for told in (News("written", 7), News("log", 0, logging.ERROR, "a\nb")):
        line = _letters.line(told)
        assert (line.count(b"\n"), _letters.news(line)) == (1, told)


@pytest.mark.parametrize(("odd", "fault"), [({"a": object()}, TypeError), ({"a": 1 << 70}, ValueError)])
def test_what_can_t_be_told_is_a_fault_of_the_letter(odd: dict[str, Any], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        _letters.written(Batch([odd]))


def test_what_a_header_says_that_is_no_text_is_told_as_well() -> None:
    odd = record.row(Trip(0.0), Exchange("rt-1", "chat", "m", Principal(), (), session="\udcff"))
    batch = _letters._read(_letters.written(Batch([odd, {"kind": "act"}], 2)))
    assert isinstance(batch, Batch)
    row, act = map(_row.read, batch.rows)
    assert isinstance(row, Row)
    assert (row.exchange.session, act, batch.lost) == ("\udcff", {"kind": "act"}, 2)
