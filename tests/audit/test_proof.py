"""What is found of a log that was tampered with, and what is no break."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

from gateway.audit import _files
from gateway.audit._chain import GENESIS, Head, Link, chained, hashed
from gateway.audit._files import HeadFile, read_head
from gateway.audit._log import Bounds, Log
from gateway.audit.proof import Chain, head_of, size, verified
from tests.audit.logs import USUAL, exchange, reuse, write

FIRST = "w0-00000001.jsonl"


def only(folder: Path) -> Chain:
    (chain,) = verified(folder)
    return chain


def test_a_log_as_it_was_written_is_whole(tmp_path: Path) -> None:
    write(tmp_path, [*(exchange(n) for n in range(50)), reuse(1), reuse(2, donor=1)], batch=7)
    told: list[int] = []
    (chain,) = verified(tmp_path, told.append)
    assert (chain.broken, chain.lines, chain.first, chain.last.seq, chain.files) == (None, 54, 1, 54, 1)
    assert (chain.starts, chain.unclean, chain.lost, chain.lacks, chain.unended) == (1, 0, 0, 0, 0)
    assert sum(told) == size(tmp_path) == (tmp_path / FIRST).stat().st_size


Lines = list[bytes]


def changed(lines: Lines) -> None:
    lines[4] = lines[4].replace(b'"tenant":"acme"', b'"tenant":"evil"')


def missing(lines: Lines) -> None:
    del lines[4:6]


def moved(lines: Lines) -> None:
    lines[4], lines[5] = lines[5], lines[4]


def twice(lines: Lines) -> None:
    lines.insert(5, lines[4])


def damaged(lines: Lines) -> None:
    lines[4] = lines[4][:40] + b"\0" * 20


def put_in(lines: Lines) -> None:
    """With the right number and the right hash before it; but the next line knows another."""
    told = orjson.loads(lines[3])
    forged, _ = chained(Link(told["seq"], hashed(lines[3])), exchange(99))
    lines.insert(4, forged)


@pytest.mark.parametrize(
    ("tamper", "line", "kind"),
    [
        (changed, 5, "changed"),
        (missing, 5, "missing"),
        (moved, 5, "missing"),
        (twice, 6, "moved"),
        (damaged, 5, "foreign"),
        (put_in, 6, "moved"),
    ],
)
def test_what_was_done_to_a_line_is_found_at_its_place(
    tmp_path: Path, tamper: Callable[[Lines], None], line: int, kind: str
) -> None:
    write(tmp_path, (exchange(n) for n in range(10)))
    path = tmp_path / FIRST
    lines = path.read_bytes().splitlines()
    tamper(lines)
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.file, broken.line, broken.kind) == (path, line, kind)
    assert broken.meaning


@pytest.mark.parametrize("at", [0, 3, 10])
def test_a_byte_that_was_changed_anywhere_is_found(tmp_path: Path, at: int) -> None:
    write(tmp_path, (exchange(n) for n in range(10)))
    path = tmp_path / FIRST
    lines = path.read_bytes().splitlines()
    for place in range(10, len(lines[at]) - 2, 29):
        bent = bytearray(lines[at])
        bent[place] ^= 1
        path.write_bytes(b"".join(one + b"\n" for one in [*lines[:at], bytes(bent), *lines[at + 1 :]]))
        broken = only(tmp_path).broken
        assert broken is not None, place
        assert abs(broken.line - (at + 1)) <= 1


def test_the_last_line_is_held_by_what_its_writer_noted(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    path = tmp_path / FIRST
    path.write_bytes(path.read_bytes().replace(b'"kind":"stop"', b'"kind":"stop" '))
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.kind, broken.line) == ("changed", 3)


def test_lines_that_were_cut_off_the_end_are_missed(tmp_path: Path) -> None:
    write(tmp_path, (exchange(n) for n in range(5)))
    path = tmp_path / FIRST
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.kind, broken.line) == ("cut", 5)
    assert broken.meaning.startswith("2 lines")


def turned_over(folder: Path, keep: int) -> list[Path]:
    """The files of a log that has filled many."""
    log = Log(folder, Bounds(2000, keep, "rotate", 0.02))
    for number in range(40):
        log.append([exchange(number)])
    log.close()
    return _files.chains(folder)["w0"]


def test_chains_reach_over_files(tmp_path: Path) -> None:
    files = turned_over(tmp_path, 100)
    chain = only(tmp_path)
    assert (chain.broken, chain.files) == (None, len(files))
    assert chain.files > 5
    files[2].unlink()
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.file, broken.line, broken.kind) == (files[3], 1, "missing")


def test_old_files_that_made_room_are_no_break_and_others_are(tmp_path: Path) -> None:
    files = turned_over(tmp_path, 4)
    chain = only(tmp_path)
    assert chain.broken is None
    assert chain.first > 1
    files[0].unlink()
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.file, broken.kind) == (files[1], "missing")


def test_the_beginning_of_a_log_that_never_made_room_is_missed(tmp_path: Path) -> None:
    turned_over(tmp_path, 100)[0].unlink()
    assert only(tmp_path).broken is not None


def test_a_log_that_is_being_written_is_whole(tmp_path: Path) -> None:
    log = Log(tmp_path, USUAL)
    log.append([exchange(1)])
    path = tmp_path / FIRST
    before = path.read_bytes()
    path.write_bytes(before + b'{"seq":3,"prev"')
    chain = only(tmp_path)
    assert (chain.broken, chain.unended) == (None, 15)
    path.write_bytes(before)
    log.close()


def test_a_capture_whose_hash_does_not_follow_is_found(tmp_path: Path) -> None:
    """Though all the lines hold each other."""
    write(tmp_path, [reuse(1), reuse(2, donor=1), exchange(3)])
    path = tmp_path / FIRST
    link, out = Link(), []
    for line in path.read_bytes().splitlines():
        told = orjson.loads(line)
        del told["seq"], told["prev"]
        if told.get("donor"):
            told["injected"] = 9999
        forged, link = chained(link, told)
        out.append(forged)
    path.write_bytes(b"".join(line + b"\n" for line in out))
    noted = HeadFile(tmp_path, "w0")
    noted.write(link)
    noted.close()
    broken = only(tmp_path).broken
    assert broken is not None
    assert (broken.kind, broken.line) == ("capture", 3)


def test_a_capture_that_is_said_to_follow_another_donor_is_found(tmp_path: Path) -> None:
    write(tmp_path, [reuse(1), reuse(2), reuse(3, donor=1), reuse(4, donor=2)])
    path = tmp_path / FIRST
    first, second = (line for line in map(orjson.loads, path.read_bytes().splitlines()) if line.get("donor"))
    assert first["kv"]["prev"] != second["kv"]["prev"]
    assert only(tmp_path).broken is None


def test_what_a_log_owns_up_to_is_told_and_no_break(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1, lost=7)])
    log = Log(tmp_path, USUAL)
    log.append([exchange(2)])
    log._release()
    write(tmp_path, [{"kind": "act", "lost": 2}])
    chain = only(tmp_path)
    assert (chain.broken, chain.starts, chain.unclean) == (None, 3, 1)
    assert chain.lost == 9


def test_each_worker_s_chain_is_verified(tmp_path: Path) -> None:
    logs: Sequence[Log] = [Log(tmp_path, USUAL) for _ in range(3)]
    for log in logs:
        log.append([exchange(1)])
        log.close()
    path = tmp_path / "w1-00000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"acme", b"evil"))
    assert [chain.broken is None for chain in verified(tmp_path)] == [True, False, True]


def test_what_a_line_says_of_itself_can_be_asked(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert head_of((tmp_path / FIRST).read_bytes().splitlines()[0]) == Head(1, GENESIS)
    assert head_of(b"nothing") == Head(0, GENESIS)
    assert read_head(tmp_path, "w0") is not None
