"""A sample of the traffic: bounded, fair, in a file that only its owner may read, and never in the way."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import orjson
import pytest

from gateway import sample, tune
from gateway.metrics import Metrics
from gateway.retrace import Retrace
from gateway.sample import Reservoir, Sampled
from gateway.stores.memory import Plug as Memory
from tests.plugin import engine, in_front
from tests.rig import CHAT, answers, completion, until


def numbers(path: Path) -> list[int]:
    return [orjson.loads(line)["body"]["n"] for line in path.read_bytes().splitlines()]


async def test_each_request_is_as_likely_to_be_kept_as_any_other(tmp_path: Path) -> None:
    random.seed(7)
    kept: list[int] = []
    for _ in range(200):
        made = Reservoir(tmp_path / "s.jsonl", 10, now=lambda: -1.0)
        for n in range(100):
            made.add("t", {"n": n})
        await made.stop()
        found = numbers(made.path)
        assert len(found) == len(set(found)) == 10
        kept += found
    thirds = [sum(low <= n < low + 25 for n in kept) for low in (0, 25, 50, 75)]
    assert all(400 < third < 600 for third in thirds), thirds


async def test_the_file_is_its_owner_s_alone_and_tune_can_read_it(tmp_path: Path) -> None:
    made = Reservoir(tmp_path / "s.jsonl", 10)
    made.add("bank", {"messages": [{"role": "user", "content": "你好"}]})
    await made.stop()
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    (read,) = tune.read(made.path)
    assert (read.tenant, read.body["messages"][0]["content"]) == ("bank", "你好")
    assert os.listdir(tmp_path) == ["s.jsonl"]


async def test_it_is_written_now_and_then_and_not_for_each_request(tmp_path: Path) -> None:
    at = 0.0
    made = Reservoir(tmp_path / "s.jsonl", 1000, now=lambda: at)
    made.add("t", {"n": 0})
    assert made._writing
    await made._writing
    made.add("t", {"n": 1})
    assert numbers(made.path) == [0]
    at = sample.PAUSE
    made.add("t", {"n": 2})
    await made._writing
    assert numbers(made.path) == [0, 1, 2]


async def test_a_folder_that_can_t_be_written_is_said_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = Reservoir(tmp_path / "none" / "s.jsonl", 10)
    made.add("t", {"n": 0})
    await made.stop()
    assert "can't be written" in caplog.text


async def test_the_gateway_samples_what_it_is_told_to(tmp_path: Path) -> None:
    async with (
        engine(answers(completion("fine"))) as (url, _, _),
        in_front(tmp_path, [url], retrace={"sample": {"file": "sample.jsonl", "most": 5}}) as running,
    ):
        await running.ask("/v1/chat/completions", CHAT)
        await until((tmp_path / "sample.jsonl").exists)
        (read,) = tune.read(tmp_path / "sample.jsonl")
    assert read.tenant == "default"
    assert read.body["messages"] == CHAT["messages"]


async def test_a_reload_that_leaves_the_sample_where_it_is_keeps_it(tmp_path: Path) -> None:
    of, place = Retrace(Metrics()), Sampled(tmp_path / "s.jsonl", 10)
    await of.apply(Memory(), place)
    kept = of._reservoir
    assert kept
    kept.add("t", {"n": 1})
    await of.apply(Memory(), place)
    assert of._reservoir is kept
    await of.apply(Memory(), place._replace(most=11))
    assert of._reservoir is not kept
    assert numbers(place.path) == [1]
    await of.stop()
