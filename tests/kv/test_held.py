"""Rights on a capture's file: what a lease reads is what was written, and a closed one reads nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.kv._files import Files
from gateway.kv._held import HEADER, Claim, Torn
from tests.kv.pools import leased


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_record_that_is_not_what_was_written_is_torn(files: Files) -> None:
    with leased(files, [b"1234", b"5678"]) as lease:
        with files.path("a").open("r+b") as file:
            file.seek(HEADER + 5)
            file.write(b"x")
        into = bytearray(4)
        lease.read(0, into)
        with pytest.raises(Torn, match="block 1 of a is not what was written"):
            lease.read(1, into)
        os.truncate(files.path("a"), HEADER + 7)
        with pytest.raises(Torn, match="short"):
            lease.read(1, into)
        for index in (-1, 2):
            with pytest.raises(Torn, match="no block"):
                lease.read(index, into)


def test_a_lease_says_how_it_is_used(files: Files) -> None:
    lease = leased(files, [b"1234"])
    for wrong in (bytearray(3), bytearray(5)):
        with pytest.raises(ValueError, match="4 bytes"):
            lease.read(0, wrong)
    lease.close()
    lease.close()
    with pytest.raises(ValueError, match="closed"):
        lease.read(0, bytearray(4))


def test_a_claim_removes_its_file_and_is_closed_once(tmp_path: Path) -> None:
    path = tmp_path / "a.kv"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    with Claim(path, fd) as claim:
        claim.remove()
        claim.remove()
    assert claim.fd is None
    assert not path.exists()
    claim.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
