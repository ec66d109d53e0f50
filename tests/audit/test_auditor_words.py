"""Which words the audit log of a running gateway has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.answering import in_turn, says
from tests.audit.running import written
from tests.dialects import SURFACES, before
from tests.refine.rigs import ANSWER, RATE, both, reads, refining
from tests.rig import answers, completion, delta, gateway, regex, rule, streams, upstream

FULL: dict[str, Any] = {"audit": {"text": "full"}}
MAIL = "li.wei@example.com"
surfaces = pytest.mark.parametrize("surface", SURFACES)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@streamed
@surfaces
async def test_what_the_client_reads_is_what_is_written(tmp_path: Path, surface: str, stream: bool) -> None:
    rules = [regex("private", id="mask", action="mask"), regex("secret word", id="block")]
    async with before(tmp_path, says("a pri", "vate th", "ing."), rules, **FULL) as (sdks, up):
        masked = await sdks.ask(surface, stream)
        up.script = says("it is a sec", "ret wo", "rd you see")
        blocked = await sdks.ask(surface, stream)
        first, second = await written(sdks.running, 2)
    assert first["said"] == {"0": masked.text} == {"0": "a *** thing."}
    assert second["said"] == {"0": blocked.text} == {"0": "it is a "}
    assert (second["verdict"], second["halted"]) == ("block", {"0": ["block", "R101"]})


@streamed
@surfaces
async def test_of_an_answer_that_was_cut_back_the_client_s_text_is_written(
    tmp_path: Path, surface: str, stream: bool
) -> None:
    script = in_turn(says("The", " fund", " pays", " a", " guaranteed", " return."), says(" return ", "that varies."))
    async with before(tmp_path, script, [regex("guaranteed", action="rewind")], **FULL) as (sdks, _):
        read = await sdks.ask(surface, stream)
        (line,) = await written(sdks.running)
    assert line["said"] == {"0": read.text} == {"0": "The fund pays a return that varies."}
    (attempt,) = line["attempts"]
    assert (attempt["reason"], attempt["rule"], attempt["anchor"]) == ("R101", "output.regex", "word")
    assert line["verdict"] == "rewind"


@streamed
@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_of_a_corrected_answer_what_the_client_reads_is_written(
    tmp_path: Path, delivery: str, stream: bool
) -> None:
    script = both(says(ANSWER), reads(RATE))
    async with refining(tmp_path, script, delivery=delivery, main=FULL) as (running, _):
        async with await running.chat(stream=stream) as response:
            body = (await response.read()).decode()
        (line,) = await written(running)
    assert line["refined"]["0"]["outcome"] == "corrected"
    assert line["corrections"]["0"] == [RATE]
    assert RATE["fixed"] in line["said"]["0"]
    assert (RATE["quote"] in line["said"]["0"]) is (RATE["quote"] in body or delivery == "live")


@streamed
@surfaces
async def test_words_that_the_rules_say_in_the_model_s_stead_are_written(
    tmp_path: Path, surface: str, stream: bool
) -> None:
    async with before(tmp_path, says("x"), [regex("bad", side="input", respond="answer")], **FULL) as (sdks, _):
        read = await sdks.ask(surface, stream, "bad")
        (line,) = await written(sdks.running)
    assert line["said"] == {"0": read.text} == {"0": "Not this."}


async def test_each_choice_has_its_words(tmp_path: Path) -> None:
    events = [delta("one ", 0), delta("two ", 1), delta("more", 0), *(delta(finish="stop", index=n) for n in range(2))]
    async with upstream(streams(events)) as (url, _), gateway(tmp_path, [url], [], **FULL) as running:
        await (await running.chat(stream=True, n=2)).read()
        (line,) = await written(running)
    assert line["said"] == {"0": "one more", "1": "two "}


async def test_of_an_answer_that_never_came_nothing_was_read(tmp_path: Path) -> None:
    """It was to be whole, and was cut back while it was made; its end did not come."""
    async with (
        upstream(streams([delta("The fund "), delta("pays ")])) as (url, _),
        gateway(tmp_path, [url], [regex("guaranteed", action="rewind")], **FULL) as running,
    ):
        response = await running.chat(stream=False)
        (line,) = await written(running)
    assert response.status == line["status"] == 502
    assert line["said"] == {}


async def test_a_client_that_leaves_has_read_what_it_was_sent(tmp_path: Path) -> None:
    slow = streams([delta("word "), *([delta("more ")] * 100)], pause=0.02)
    async with upstream(slow) as (url, _), gateway(tmp_path, [url], [], **FULL) as running:
        async with await running.chat(stream=True) as response:
            got = b""
            while b"more" not in got:
                got += await response.content.readany()
            response.close()
        (line,) = await written(running)
    assert line["status"] == 499
    assert line["said"]["0"].startswith("word more")
    assert len(line["said"]["0"]) < 400


async def test_an_answer_that_is_held_was_not_read_before_it_left(tmp_path: Path) -> None:
    slow = both(streams([delta(ANSWER), *([delta(" more")] * 100)], pause=0.02), reads(RATE))
    async with refining(tmp_path, slow, delivery="hold", main=FULL) as (running, _):
        async with await running.chat(stream=True) as response:
            await asyncio.sleep(0.2)
            response.close()
        (line,) = await written(running)
    assert (line["status"], line["said"]["0"]) == (499, "")


async def test_personal_data_is_not_written_unless_all_is(tmp_path: Path) -> None:
    rules = [rule({"type": "words", "words": ["surely"]}, "tag", id="tag")]
    async with (
        upstream(answers(completion(f"surely ask {MAIL}"))) as (url, _),
        gateway(tmp_path, [url], rules, audit={}) as running,
    ):
        await running.chat(f"I am {MAIL}")
        (line,) = await written(running)
    assert line["asked"][0]["text"] == "I am [***]"
    assert line["said"]["0"] == "[R101] ask [***]"
    assert MAIL.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "audit").iterdir())


PII = [rule({"type": "pii"}, "monitor", side=side, id=f"{side}.pii") for side in ("input", "output")]


async def test_what_was_not_judged_is_looked_at_before_it_is_written(tmp_path: Path) -> None:
    """Rules look for personal data themselves here; but a request that is too large reaches none of them."""
    async with (
        upstream(answers(completion("fine"))) as (url, _),
        gateway(tmp_path, [url], PII, audit={}, limits={"text_chars": 2000}) as running,
    ):
        await running.chat(f"I am {MAIL}")
        await running.chat(f"I am {MAIL}. " * 200)
        told = await written(running, 2)
    assert [line["status"] for line in told] == [200, 413]
    assert MAIL not in str(told)


async def test_after_a_check_has_broken_all_is_looked_at_again(tmp_path: Path) -> None:
    async with (
        upstream(answers(completion("fine"))) as (url, _),
        gateway(tmp_path, [url], PII, audit={}) as running,
    ):
        await running.chat("hello")
        running.server.metrics.guard_broken("input.pii")
        await running.chat("hello again")
        assert len(await written(running, 2)) == 2


async def test_no_words_are_kept_where_none_are_to_be(tmp_path: Path) -> None:
    async with (
        upstream(answers(completion("a long story"))) as (url, _),
        gateway(tmp_path, [url], [], audit={"text": "none"}) as running,
    ):
        await running.chat("hello there")
        (line,) = await written(running)
    assert "asked" not in line
    assert "said" not in line


SYSTEM, USER = "a " * 20, "b " * 20


@pytest.mark.parametrize(
    ("room", "asked", "left_out"),
    [(24, [("user", USER[:13] + "…")], 1), (60, [("system", SYSTEM[:9] + "…"), ("user", USER)], None)],
    ids=["handed over as far as there is room", "cut by the clerk"],
)
async def test_of_a_long_exchange_the_latest_words_are_written(
    tmp_path: Path, room: int, asked: list[tuple[str, str]], left_out: int | None
) -> None:
    audit = {"text": "full", "text_chars": room}
    async with (
        upstream(answers(completion("It is fine."))) as (url, _),
        gateway(tmp_path, [url], [], audit=audit) as running,
    ):
        told = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
        await running.chat(messages=told)
        (line,) = await written(running)
    assert (line["said"], line.get("left_out")) == ({"0": "It is fine."}, left_out)
    assert [(one["role"], one["text"]) for one in line["asked"]] == asked
