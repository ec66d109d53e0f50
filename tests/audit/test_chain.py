"""Lines that hold each other."""

from __future__ import annotations

import hashlib

import orjson
import pytest

from gateway.audit._chain import GENESIS, Head, Lineage, Link, capture_hash, chained, hashed, head
from tests.audit.logs import capture, reuse


def test_each_line_holds_the_hash_of_the_one_before() -> None:
    first, link = chained(Link(), {"kind": "a"})
    second, last = chained(link, {"kind": "b", "text": "字"})
    assert orjson.loads(first) == {"seq": 1, "prev": GENESIS, "kind": "a"}
    assert orjson.loads(second)["prev"] == hashlib.sha256(first).hexdigest()
    assert last == Link(2, hashed(second))


def test_what_can_t_be_json_is_no_line() -> None:
    with pytest.raises(TypeError):
        chained(Link(), {"kind": object()})


def test_a_line_says_which_one_it_is() -> None:
    line, _ = chained(Link(41, "a" * 64), {"kind": "x"})
    assert head(line) == Head(42, "a" * 64)


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"text", b'{"seq":0,"prev":"' + b"0" * 64 + b'","kind":1}', b'{"seq":1,"prev":"abc","kind":1}'],
)
def test_what_is_no_line_is_told_from_one(line: bytes) -> None:
    assert head(line) is None


def test_a_torn_line_is_none() -> None:
    line, _ = chained(Link(), {"kind": "x"})
    assert head(line[:-1]) is None


def test_the_hash_of_a_capture_is_over_its_donor_s() -> None:
    lineage = Lineage()
    first = lineage.add(reuse(1))
    second = lineage.add(reuse(2, donor=1))
    assert (first["prev"], second["prev"]) == (None, first["hash"])
    assert second["hash"] == capture_hash(reuse(2, donor=1), first["hash"])
    assert second["hash"] != capture_hash(reuse(2, donor=1), GENESIS)


def test_a_capture_s_hash_changes_with_what_its_line_says() -> None:
    assert capture_hash(reuse(1), GENESIS) != capture_hash(reuse(1, captured=513), GENESIS)


def test_a_donor_that_nobody_here_knows_is_told_as_unknown() -> None:
    assert Lineage().add(reuse(2, donor=1))["prev"] is None


def test_as_many_captures_are_remembered_as_there_is_room_for() -> None:
    lineage = Lineage(most=2)
    for number in (1, 2, 3):
        lineage.note(capture(number), f"{number}" * 64)
    assert lineage.add(reuse(9, donor=1))["prev"] is None
    assert lineage.add(reuse(10, donor=3))["prev"] == "3" * 64
