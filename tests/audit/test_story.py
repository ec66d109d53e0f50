"""All that a log knows of one exchange."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gateway.audit import story
from gateway.audit.story import Steps, name_of, told
from tests.audit.logs import HOUSE, exchange, name, reuse, write


@pytest.mark.parametrize("prefix", ["rt-", "msg_", "resp_", ""])
def test_an_exchange_is_known_by_the_names_that_its_answer_had(prefix: str) -> None:
    assert name_of(f" {prefix}{'a1' * 12} ") == f"rt-{'a1' * 12}"
    assert name_of("something else") == "something else"


def test_a_story_holds_the_line_its_configuration_what_was_reused_and_the_seal(tmp_path: Path) -> None:
    write(tmp_path, [HOUSE, exchange(1), reuse(1), exchange(2), reuse(2, donor=1)])
    index: list[int] = []
    proof: list[int] = []
    found = told(tmp_path, name(2), Steps(index.append, proof.append))
    assert found is not None
    assert found.exchange["id"] == name(2)
    assert story.rules(found) == HOUSE["rules"]
    assert story.reasons(found) == HOUSE["reasons"]
    assert [hop.deep for hop in found.hops] == [0, 1]
    line = (tmp_path / found.seal.file).read_bytes().splitlines()[found.seal.line - 1]
    assert found.seal.hash == hashlib.sha256(line).hexdigest()
    assert (found.seal.line, found.seal.seq, found.seal.chain.broken) == (5, 5, None)
    assert sum(index) == sum(proof) > 0


def test_what_the_log_does_not_hold_has_no_story(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    assert told(tmp_path, name(2)) is None


def test_a_configuration_that_made_room_leaves_names_unknown(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    found = told(tmp_path, name(1))
    assert found is not None
    assert (found.house, story.rules(found), story.reasons(found)) == (None, {}, {})


def test_a_story_says_that_its_chain_is_broken(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1), exchange(2)])
    path = tmp_path / "w0-00000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seed":7', b'"seed":8', 1))
    found = told(tmp_path, name(2))
    assert found is not None
    assert found.seal.chain.broken is not None
