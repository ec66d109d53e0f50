"""The audit log of a running gateway."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.audit._files import chains
from gateway.audit.page import rendered
from gateway.audit.proof import verified
from gateway.audit.story import name_of, told
from tests.answering import in_turn, says
from tests.audit.logs import lines
from tests.dialects import PATHS, SURFACES, before
from tests.plugin import REPORT, engine, in_front
from tests.refine.rigs import ANSWER, RATE, both, reads, refining
from tests.rig import Running, answers, completion, delta, gateway, quiet, regex, rule, streams, until, upstream

MAIL = "li.wei@example.com"
FULL: dict[str, Any] = {"audit": {"text": "full"}}
surfaces = pytest.mark.parametrize("surface", SURFACES)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


def log_of(running: Running, kind: str = "exchange") -> list[dict[str, Any]]:
    """The lines of a kind that have been written so far."""
    folder = running.folder / "audit"
    return [line for line in lines(folder) if line["kind"] == kind] if chains(folder) else []


async def counted(running: Running, event: str, least: int) -> None:
    """So many lines are counted: a moment after they stand in the file."""
    async with asyncio.timeout(10):
        while (await running.metrics()).get(f'retrace_audit_total{{event="{event}"}}', 0) < least:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def logged(folder: Path) -> bool:
    """Whether anything was logged anywhere."""
    return any(folder.glob("**/*.jsonl"))


async def written(running: Running, count: int = 1, kind: str = "exchange") -> list[dict[str, Any]]:
    """So many lines of a kind, once they are there."""
    await until(lambda: len(log_of(running, kind)) >= count, 10)
    return log_of(running, kind)


async def test_without_a_word_in_the_file_nothing_is_written(tmp_path: Path) -> None:
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], []) as running:
        await running.chat("hello")
    assert not logged(tmp_path)


async def test_each_exchange_has_its_line_and_the_configuration_stands_before_it(tmp_path: Path) -> None:
    rules = [regex("bomb", id="in", side="input"), regex("surely", id="out", action="tag")]
    async with (
        upstream(answers(completion("surely fine"))) as (url, _),
        gateway(tmp_path, [url], rules, **FULL) as running,
    ):
        first = await running.chat("hello", {"x-retrace-session": "s1"}, temperature=0.5)
        await running.chat("a bomb")
        await running.http.get(f"{running.url}/v1/nothing")
        passed, blocked = await written(running, 2)
        houses = {house["revision"]: house for house in log_of(running, "house")}
        await counted(running, "written", 3)
    assert passed["id"] == first.headers["x-retrace-id"]
    assert (passed["status"], passed["verdict"], passed["backend"], passed["model"]) == (200, "tag", "up", "m")
    assert (passed["parameters"], passed["usage"], len(passed["session"])) == ({"temperature": 0.5}, [7, 5], 16)
    assert passed["asked"] == [{"role": "user", "text": "hello"}]
    assert passed["said"] == {"0": "surely fine"}
    assert [(one["rule"], one["side"]) for one in passed["findings"]] == [("out", "output")]
    assert (blocked["status"], blocked["verdict"], blocked["said"]) == (400, "block", {})
    assert blocked["asked"] == [{"role": "user", "text": "a bomb"}]
    assert houses[passed["revision"]]["rules"].keys() == {"in", "out"}
    assert all(chain.broken is None for chain in verified(tmp_path / "audit"))
    assert [line["kind"] for line in lines(tmp_path / "audit")][-1] == "stop"


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


async def test_what_an_engine_reused_is_written_and_leads_back(tmp_path: Path) -> None:
    long = "The rules of the house are these. " * 120
    async with (
        engine(answers(completion("a bad word"))) as (url, up, plugin),
        in_front(tmp_path, [url], [regex("bad word")], audit={}) as running,
    ):
        first = await running.chat(long)
        await until(lambda: plugin.heard)
        await written(running, 1, "reuse")
        up.script = answers(completion("fine"))
        plugin.report = {**REPORT, "injected_tokens": 256, "mode": "prefix"}
        second = await running.chat(long + "And now?")
        reused = await written(running, 2, "reuse")
        made, served = await written(running, 2)
    assert served["captures"][0]["donor"] == made["captures"][0]["capture"] == reused[1]["donor"]
    assert (reused[1]["injected"], reused[1]["kv"]["prev"]) == (256, reused[0]["kv"]["hash"])
    story = told(tmp_path / "audit", second.headers["x-retrace-id"])
    assert story is not None
    assert [hop.capture["exchange"] for hop in story.hops] == [
        second.headers["x-retrace-id"],
        first.headers["x-retrace-id"],
    ]
    assert "R101" in rendered(story)


async def test_an_act_of_the_gateway_is_written(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], [], audit={}) as running:
        running.server.auditor.note("act", {"what": "fallback", "code": "R203", "why": {"cs": 0.7}})
        (line,) = await written(running, 1, "act")
    assert (line["what"], line["code"], line["why"]) == ("fallback", "R203", {"cs": 0.7})


async def test_without_a_log_an_act_is_no_matter(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], []) as running:
        running.server.auditor.note("act", {})
    assert not logged(tmp_path)


async def test_a_disk_that_refuses_costs_no_request_and_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "audit").write_text("in the way")
    with caplog.at_level(logging.ERROR):
        async with (
            upstream(answers(completion("fine"))) as (url, _),
            gateway(tmp_path, [url], [], audit={}) as running,
        ):
            assert (await running.chat("hello")).status == 200
            await counted(running, "failed", 1)
            (tmp_path / "audit").unlink()
            (line,) = await written(running)
            await quiet(running)
    assert line["status"] == 200
    assert "can't be written" in caplog.text


async def test_the_log_is_turned_on_off_and_elsewhere_by_an_edit(tmp_path: Path) -> None:
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], []) as running:

        async def edited(audit: Any) -> None:
            before = running.server.steward.house.revision
            path = tmp_path / "gateway.yaml"
            file = yaml.safe_load(path.read_text())
            path.write_text(yaml.safe_dump({**file, "audit": audit}))
            await until(lambda: running.server.steward.house.revision != before, 5)
            await (await running.chat("hello")).read()

        await edited({})
        await written(running)
        await edited({"folder": "elsewhere"})
        await until(lambda: chains(tmp_path / "elsewhere"), 10)
        await edited(None)
        await quiet(running)
    for name in ("audit", "elsewhere"):
        told = [line["kind"] for line in lines(tmp_path / name)]
        assert list(dict.fromkeys(told)) == ["start", "house", "exchange", "stop"]
        assert told.count("exchange") == told.count("start") == told.count("stop") == 1


@pytest.mark.long
async def test_what_is_written_does_not_have_the_files_read_again(tmp_path: Path) -> None:
    """The log lies beside the files that are followed."""
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], [], audit={}) as running:
        await running.chat("hello")
        await written(running)
        await asyncio.sleep(1.2)
        before = await running.metrics()
        for _ in range(6):
            await running.chat("hello")
            await asyncio.sleep(0.15)
        await written(running, 7)
        after = await running.metrics()
    name = 'retrace_reloads_total{result="ok"}'
    assert after[name] == before[name]


@surfaces
async def test_the_name_that_a_message_has_leads_to_its_story(tmp_path: Path, surface: str) -> None:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
    body = {"completions": {"prompt": "hi"}, "responses": {"input": "hi"}}.get(surface, asked)
    async with before(tmp_path, says("fine"), **FULL) as (sdks, _):
        answer = orjson.loads(await sdks.running.ask(PATHS[surface], {"model": "m", **body}))
        await written(sdks.running)
        head = await sdks.running.http.post(f"{sdks.running.url}{PATHS[surface]}", json={"model": "m", **body})
        await written(sdks.running, 2)
    name = answer["id"] if surface in ("responses", "messages") else head.headers["x-retrace-id"]
    assert told(tmp_path / "audit", name_of(name)) is not None
