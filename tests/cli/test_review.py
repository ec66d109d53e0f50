"""`retrace review`: a reviewer's work, on a queue in a file and on one in Redis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest

from gateway.cli.review import Verdict
from gateway.refine.docket import VERDICTS
from tests.cli.inside import said
from tests.cli.queues import CHINESE, ENGLISH, FILE, configured, fill
from tests.commands import retrace
from tests.redis_server import RedisServer, redis_server
from tests.refine.entries import entry

_numbers = count()


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


@pytest.fixture(params=["file", "redis"])
def queue(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What refine.yaml says of an empty queue."""
    if request.param == "file":
        return FILE
    url = request.getfixturevalue("server").url
    return {"type": "redis", "url": url, "stream": f"queue{next(_numbers)}"}


@pytest.fixture
def config(tmp_path: Path, queue: dict[str, Any]) -> str:
    return configured(tmp_path, queue=queue)


def tickets(config: str, *words: str) -> list[str]:
    told = said("review", *(words or ("list",)), "--json", "-c", config)
    assert told.exit_code == 0, told.stderr
    return [json.loads(line)["ticket"] for line in told.stdout.splitlines()]


def test_what_waits_is_listed_with_what_one_must_know_to_choose(config: str) -> None:
    fill(config, [CHINESE, ENGLISH])
    told = said("review", "list", "-c", config)
    assert (told.exit_code, told.stderr) == (0, "")
    head, first, second, counts = told.stdout.splitlines()
    assert head.split() == ["ticket", "when", "tenant", "domain", "why", "taken", "question"]
    for words, line in (
        (("银行", "finance", "unreachable, risk", "利率是多少？"), first),
        (("acme", "legal", "late", "When was the rule passed, and what is the fine?"), second),
    ):
        assert all(word in line for word in words), line
        assert re.search(r" 11-1[45] \d\d:13 ", line)
    assert counts == "2 wait, none of them taken; unreachable 1, risk 1, late 1"


def test_an_empty_queue_says_so(config: str) -> None:
    for words in (("list",), ("take", "--reviewer", "Li")):
        told = said("review", *words, "-c", config)
        assert (told.exit_code, told.stderr) == (0, "")
        assert "nothing waits" in told.stdout


def test_lines_for_programs_hold_all_of_it(config: str) -> None:
    fill(config, [CHINESE, ENGLISH])
    said("review", "take", "--reviewer", "王", "-c", config)
    told = said("review", "list", "--json", "-c", config)
    first, second = [json.loads(line) for line in told.stdout.splitlines()]
    assert (first["id"], first["reviewer"], second["reviewer"]) == ("zh-1", "王", "")
    assert first["since"] > first["time"] == CHINESE.time
    assert second["answer"] == ENGLISH.answer
    assert second["spans"] == [[17, 21, "date"], [35, 39, "money"], [44, 46, "percent"]]
    assert second["why"] == ["late"]


def test_of_many_the_oldest_are_shown_and_that_there_are_more(config: str) -> None:
    fill(config, [entry(f"x-{n}") for n in range(3)])
    whole = tickets(config)
    assert tickets(config, "list", "--most", "2") == whole[:2]
    told = said("review", "list", "--most", "2", "-c", config).stdout
    assert "2 wait" in told
    assert "more" in told
    assert "more" not in said("review", "list", "--most", "3", "-c", config).stdout


def test_who_takes_an_answer_reads_it_in_full_with_what_to_verify(config: str) -> None:
    fill(config, [CHINESE, ENGLISH])
    told = said("review", "take", "2", "--reviewer", "Li", "-c", config)
    assert (told.exit_code, told.stderr) == (0, "")
    for line in (
        "利率是多少？",
        "利率是[[5%]]。",
        "请核对。",
        "It was passed in [[1998]].",
        "When was the rule passed",
    ):
        assert line in told.stdout
    assert "retrace review done TICKET" in told.stdout
    assert "Li" in said("review", "list", "-c", config).stdout
    assert "(Li 2)" in said("review", "list", "-c", config).stdout


def test_two_reviewers_never_have_the_same(config: str) -> None:
    fill(config, [entry(f"x-{n}") for n in range(4)])
    whole = tickets(config)
    assert tickets(config, "take", "3", "--reviewer", "王") == whole[:3]
    assert tickets(config, "take", "3", "--reviewer", "Li") == whole[3:]
    assert tickets(config, "take", "3", "--reviewer", "王") == whole[:3]
    told = said("review", "take", "-c", config, "--json", RETRACE_REVIEWER="Li")
    assert [json.loads(line)["ticket"] for line in told.stdout.splitlines()] == whole[3:]


def test_what_is_done_leaves_the_queue_and_is_kept_with_its_verdict(config: str, queue: dict[str, Any]) -> None:
    fill(config, [CHINESE, ENGLISH])
    first, second = tickets(config, "take", "2", "--reviewer", "王")
    told = said("review", "done", first, "--verdict", "wrong", "--note", "利率是4%", "-c", config)
    assert (told.exit_code, told.stdout, told.stderr) == (0, f"{first}: wrong\n", "")
    assert tickets(config) == [second]
    again = said("review", "done", first, "--verdict", "right", "-c", config)
    assert (again.exit_code, again.stdout) == (1, "")
    assert first in again.stderr
    assert "retrace review list" in again.stderr
    if queue is FILE:
        kept = (Path(config).parent / "waiting.jsonl.marks").read_text(encoding="utf-8")
        assert all(word in kept for word in ('"王"', '"wrong"', '"利率是4%"'))


def test_a_ticket_that_never_was_is_told(config: str) -> None:
    fill(config, [CHINESE])
    told = said("review", "done", "no\x1bsuch", "--verdict", "right", "-c", config)
    assert told.exit_code == 1
    assert "no�such" in told.stderr
    assert len(tickets(config)) == 1


def test_what_can_t_be_read_is_told_beside_what_can(config: str, queue: dict[str, Any], request: Any) -> None:
    fill(config, [CHINESE])
    if queue is FILE:
        with (Path(config).parent / "waiting.jsonl").open("a") as file:
            file.write('{"torn\n')
    else:
        request.getfixturevalue("server").ask("XADD", queue["stream"], "*", "other", "x")
    told = said("review", "list", "-c", config)
    assert told.exit_code == 0
    assert "1 wait" in told.stdout
    assert "1 could not be read" in told.stderr
    assert len(tickets(config)) == 1


def test_wrong_words_are_told_before_the_queue_is_asked(tmp_path: Path) -> None:
    config = configured(tmp_path, queue=FILE)
    for words, hint in (
        (("take",), "--reviewer"),
        (("take", "--reviewer", "a\nb"), "reviewer has a name"),
        (("take", "0", "--reviewer", "Li"), "count"),
        (("done", "x"), "--verdict"),
        (("done", "x", "--verdict", "wrnog"), "wrong"),
        (("done", "x", "--verdict", "wrong", "--note", "x" * 2001), "2000 characters"),
        (("lst",), "list"),
    ):
        told = said("review", *words, "-c", config)
        assert told.exit_code == 2, words
        assert hint in told.stderr, words
    assert not (tmp_path / "waiting.jsonl.lock").exists()


def test_its_verdicts_are_the_queue_s() -> None:
    assert get_args(Verdict) == VERDICTS


def test_it_is_taught_with_an_example() -> None:
    for words in ((), ("list",), ("take",), ("done",)):
        told = said("review", *words, "--help")
        assert told.exit_code == 0
        assert "Example: retrace review" in told.stdout


@pytest.mark.long
def test_a_reviewer_has_it_as_a_command(tmp_path: Path) -> None:
    config = configured(tmp_path, queue=FILE)
    fill(config, [CHINESE])
    told = retrace("review", "take", "--reviewer", "Li", "-c", config)
    assert (told.returncode, told.stderr) == (0, "")
    assert "利率是[[5%]]。" in told.stdout
    assert retrace("review", "done", "zh-1", "--verdict", "right", "-c", config).stdout == "zh-1: right\n"
