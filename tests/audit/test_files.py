"""Where chains lie, who writes which, and what a file ends with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.audit import _files
from gateway.audit._chain import Link, chained
from gateway.audit._files import HeadFile, chains, claim, line_at, named, read_head, tail
from gateway.audit._files import lines as read


def three(path: Path) -> list[bytes]:
    """A file of three lines."""
    link, out = Link(), []
    for number in range(3):
        line, link = chained(link, {"kind": "x", "n": number})
        out.append(line)
    path.write_bytes(b"".join(line + b"\n" for line in out))
    return out


def test_each_process_gets_a_chain_of_its_own_and_the_next_goes_on_with_it(tmp_path: Path) -> None:
    first, second = claim(tmp_path / "new"), claim(tmp_path / "new")
    assert (first.worker, second.worker) == ("w0", "w1")
    os.close(first.handle)
    third = claim(tmp_path / "new")
    assert third.worker == "w0"
    os.close(second.handle)
    os.close(third.handle)


def test_the_folder_and_its_files_are_their_owner_s_alone(tmp_path: Path) -> None:
    taken = claim(tmp_path / "log")
    HeadFile(tmp_path / "log", "w0").close()
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "log").iterdir()] == [0o600, 0o600]
    os.close(taken.handle)


def test_a_folder_that_can_t_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        claim(tmp_path / "file")


def test_chains_are_found_with_their_files_in_order(tmp_path: Path) -> None:
    for worker, number in (("w10", 1), ("w2", 10), ("w2", 9)):
        named(tmp_path, worker, number).touch()
    (tmp_path / "w2-00000009.torn").touch()
    (tmp_path / "notes-w2.jsonl").touch()
    found = chains(tmp_path)
    assert list(found) == ["w2", "w10"]
    assert [_files.number(path) for path in found["w2"]] == [9, 10]


def test_a_file_s_end_is_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "w0-00000001.jsonl"
    *_, last = three(path)
    assert tail(path) == (last, path.stat().st_size, b"")


@pytest.mark.parametrize("torn", [b'{"seq":4,"prev":"', b"\0" * 5000, b"garbage\n", b'{"seq":4}\n\0\0\n'])
def test_what_a_crash_left_behind_the_last_line_is_told_from_it(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "w0-00000001.jsonl"
    *_, last = three(path)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + torn)
    assert tail(path) == (last, size, torn)


def test_a_line_that_only_begins_like_one_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "w0-00000001.jsonl"
    *_, last = three(path)
    line, _ = chained(Link(3, "a" * 64), {"kind": "x", "text": "some words"})
    path.write_bytes(path.read_bytes() + line[:-8] + b"}\n")
    assert tail(path).line == last


def test_a_file_without_a_line_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "w0-00000001.jsonl"
    path.write_bytes(b"nothing\nof this")
    assert tail(path) == (None, 0, b"nothing\nof this")
    assert tail(path).link is None


def test_lines_are_read_with_their_places_less_one_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "w0-00000001.jsonl"
    written = three(path)
    path.write_bytes(path.read_bytes() + b'{"seq":4')
    found = list(read(path))
    assert [line for _, line in found] == written
    assert [line_at(path, place) for place, _ in found] == written
    assert list(read(path, found[1][0])) == found[1:]


def test_how_far_a_chain_had_come_is_noted_in_the_same_place(tmp_path: Path) -> None:
    file = HeadFile(tmp_path, "w0")
    for link in (Link(99_999, "a" * 64), Link(5, "b" * 64)):
        file.write(link)
        assert read_head(tmp_path, "w0") == link
    file.close()


@pytest.mark.parametrize("noted", [None, b"", b"{}", b"[1]", b'{"seq":"x","hash":"y"}'])
def test_a_note_that_can_t_be_read_is_none(tmp_path: Path, noted: bytes | None) -> None:
    if noted is not None:
        (tmp_path / "w0.head").write_bytes(noted)
    assert read_head(tmp_path, "w0") is None
