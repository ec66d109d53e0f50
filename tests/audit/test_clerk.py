"""What the clerk does with letters, and what he says of it."""

from __future__ import annotations

import hashlib
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.audit import _letters, record
from gateway.audit._clerk import LONGEST, Clerk, Teller
from gateway.audit._letters import Batch, Begin, End, Inbox, Letter, News, Standing
from gateway.audit._words import Policy
from gateway.audit.looked import Look, Looked
from gateway.checks import _matcher
from gateway.checks.pii import Kind
from gateway.ledger import Trip
from gateway.rules import When
from gateway.types import Action, Draft, Exchange, Finding, Principal, Side, Text
from tests.audit.logs import HOUSE, USUAL, kinds, lines, name, sent

MAIL = "li.wei@example.com"
EVERYWHERE = Looked(Look(side, When(), frozenset(Kind)) for side in Side)
FOUND = Finding("out", "R205", Action.BLOCK, 0, 6, text="surely")


def row(number: int, judged: bool = False, draft: Draft | None = None, words: bool = True) -> tuple[Any, ...]:
    asked = Exchange(name(number), "chat", "m", Principal(), (Text((), "user", f"I am {MAIL}"),), True)
    trip = Trip(0.0, "chat", 200, exchange=asked, draft=draft or Draft())
    return record.row(trip, asked, {0: "surely fine"} if words else None, judged=judged)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def done(pair: tuple[socket.socket, socket.socket], begin: Begin, *letters: Letter) -> list[News]:
    """What a clerk has to say who was sent all this."""
    pair[0].sendall(sent(*letters))
    pair[0].shutdown(socket.SHUT_WR)
    Clerk(begin, Teller(pair[1])).work(Inbox(pair[1]))
    pair[1].close()
    with pair[0].makefile("rb") as said:
        return [_letters.news(line) for line in said]


def test_what_is_sent_is_written_as_the_configuration_wants_it(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket]
) -> None:
    rows: list[Any] = [row(1), row(2, judged=True), row(3, draft=Draft([FOUND])), row(4, words=False), {"kind": "act"}]
    news = done(
        pair, Begin(tmp_path, USUAL), Standing(Policy("redacted", looked=EVERYWHERE), HOUSE), Batch(rows), End()
    )
    assert kinds(tmp_path) == ["start", "house", *["exchange"] * 4, "act", "stop"]
    first, judged, loud, bare = (line for line in lines(tmp_path) if line["kind"] == "exchange")
    assert first["asked"] == loud["asked"] == [{"role": "user", "text": "I am [***]"}]
    assert judged["asked"] == [{"role": "user", "text": f"I am {MAIL}"}]
    assert (loud["verdict"], loud["said"]) == ("block", {"0": "[R205] fine"})
    assert "asked" not in bare
    assert sum(one.lines for one in news if one.event == "written") == 6


def test_without_a_configuration_no_words_are_written(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket]
) -> None:
    done(pair, Begin(tmp_path, USUAL), Batch([row(1, judged=True)]), End())
    assert "asked" not in lines(tmp_path)[1]


def test_if_nobody_can_redact_no_words_are_written(
    tmp_path: Path,
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(_matcher, "MEMORY", 1000)
    done(pair, Begin(tmp_path, USUAL), Standing(Policy("redacted"), HOUSE), Batch([row(1)]), End())
    assert "asked" not in lines(tmp_path)[2]
    assert "no words are written" in caplog.text


def test_what_can_t_be_read_has_a_line_that_says_so(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    done(pair, Begin(tmp_path, USUAL), Batch([row(1)[:4], row(2)]), End())
    assert kinds(tmp_path) == ["start", "unread", "exchange", "stop"]
    assert "length" in lines(tmp_path)[1]["why"]
    assert "can be read" in caplog.text


def test_a_session_whose_name_is_no_text_is_written_by_its_hash(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket]
) -> None:
    asked = Exchange(name(1), "chat", "m", Principal(), (), session="\udcff")
    done(pair, Begin(tmp_path, USUAL), Batch([record.row(Trip(0.0, exchange=asked), asked)]), End())
    (line,) = (line for line in lines(tmp_path) if line["kind"] == "exchange")
    assert line["session"] == hashlib.sha256(b"default\0\xed\xb3\xbf").hexdigest()[:16]


def test_of_too_many_words_as_many_are_written_as_there_is_room_for(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket]
) -> None:
    done(pair, Begin(tmp_path, USUAL), Standing(Policy("full", room=8), HOUSE), Batch([row(1)]), End())
    (line,) = (line for line in lines(tmp_path) if line["kind"] == "exchange")
    assert (line["said"], line["asked"], line["left_out"]) == ({"0": "surely f…"}, [], 1)


def test_when_the_gateway_is_no_more_all_is_written_and_left_as_broken_off(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket]
) -> None:
    done(pair, Begin(tmp_path, USUAL), Standing(Policy("full"), HOUSE), Batch([row(1)]))
    assert kinds(tmp_path) == ["start", "house", "exchange"]


@pytest.mark.parametrize(("skip", "lost"), [(0, 5), (2, None)])
def test_what_another_clerk_has_written_is_not_written_again(
    tmp_path: Path, pair: tuple[socket.socket, socket.socket], skip: int, lost: int | None
) -> None:
    batches = Batch([row(n) for n in range(3)], 5), Batch([row(n) for n in range(3, 5)])
    done(pair, Begin(tmp_path, USUAL, again=3, skip=skip), *batches, End())
    start, *told = lines(tmp_path)
    assert [line["id"] for line in told[:-1]] == [name(n) for n in range(skip, 5)]
    assert (start["again"], told[0].get("lost")) == (3, lost)


def test_what_is_logged_reaches_the_gateway(pair: tuple[socket.socket, socket.socket]) -> None:
    teller = Teller(pair[1])
    for words in ("a %s", "b" * 2 * LONGEST + "%s"):
        teller.emit(logging.LogRecord("x", logging.ERROR, "", 0, words, ("c",), None))
    pair[1].close()
    with pair[0].makefile("rb") as said:
        first, second = (_letters.news(line) for line in said)
    assert (first.level, first.words, len(second.words)) == (logging.ERROR, "a c", LONGEST)


def test_if_the_gateway_is_no_more_nobody_is_told(pair: tuple[socket.socket, socket.socket]) -> None:
    pair[0].close()
    Teller(pair[1]).count("written", 1)
