"""A visit to a real house: a gateway, engines with the plugin, a redis-server, files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.config import Source
from gateway.doctor.visit import Wish, visit
from gateway.errors import ConfigFault
from gateway.symptoms import Facts, Finding, examined
from tests.assess.samples import day, lines, write
from tests.plugin import engine, in_front
from tests.redis_server import redis_server
from tests.rig import answers, completion, regex, upstream, write_config

PAGE = b'vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:num_requests_running{engine="0"} 2\n'


async def visited(config: Path, **fields: Any) -> Facts:
    wish = Wish(Source(config), **{"seconds": 0.01, "scores": False, **fields})
    return await asyncio.to_thread(visit, wish)


def lights(facts: Facts) -> dict[str, set[str]]:
    told: dict[str, set[str]] = {}
    for one in examined(facts):
        told.setdefault(one.symptom, set()).add(one.sign.light.value)
    return told


def of(facts: Facts, symptom: str) -> list[Finding]:
    return [one for one in examined(facts) if one.symptom == symptom]


async def test_a_house_in_which_all_is_well_is_found_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = tmp_path / "pool"
    pool.mkdir()
    monkeypatch.setenv("RETRACE_POOL", str(pool))
    with redis_server("--maxmemory", "64mb") as redis:
        store = {"retrace": {"store": {"type": "redis", "url": redis.url}}}
        page = answers(PAGE, headers={"content-type": "text/plain"})
        async with engine(page) as (url, _, _), in_front(tmp_path, [url], [regex("x")], **store) as running:
            facts = await visited(running.folder / "gateway.yaml", url=running.url)
    told = lights(facts)
    for symptom in ("configuration", "gateway", "backend", "plugin", "reuse", "growth", "redis", "disk", "clock"):
        assert told[symptom] == {"green"}, of(facts, symptom)
    assert [one.use for one in facts.folders] == ["rules", "pool"]
    assert [one.use for one in facts.servers] == ["redis (store)"]
    assert told["alerts"] == told["hedging"] == told["complaints"] == {"grey"}


async def test_replicas_that_differ_a_secret_that_is_wrong_and_one_that_is_gone_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = answers(PAGE)
    async with engine(page) as (one, _, _), engine(page, secret="s") as (two, _, _), upstream(page) as (three, _):
        config = write_config(tmp_path, [one, two, three, "http://127.0.0.1:9"], [])
        facts = await visited(config, url="http://127.0.0.1:9")
        monkeypatch.setenv("RETRACE_ENGINE_SECRET", "s")
        agreed = await visited(config, url="http://127.0.0.1:9")
    assert [one.sign.light.value for one in of(facts, "backend")] == ["green", "green", "green", "red"]
    assert [one.sign.light.value for one in of(facts, "plugin")] == ["red", "yellow", "grey", "green"]
    assert [one.sign.light.value for one in of(agreed, "plugin")] == ["yellow", "grey", "green"]
    assert lights(facts)["gateway"] == {"red"}


async def test_files_that_are_wrong_leave_everything_else_to_be_looked_at(tmp_path: Path) -> None:
    config = write_config(tmp_path, ["http://127.0.0.1:9"], [{"id": "x", "nonsense": 1}])
    feedback = tmp_path / "feedback.jsonl"
    feedback.write_bytes(b"\n".join(orjson.dumps({"text": "wrong answer"}) for _ in range(30)))
    facts = await visited(config, feedback=feedback)
    assert facts.configuration.wrong
    assert "rules.yaml" in facts.configuration.wrong[0]
    told = lights(facts)
    assert (told["configuration"], told["complaints"], told["gateway"]) == ({"red"}, {"red"}, {"grey"})


async def test_answers_are_judged_by_the_words_of_the_house_s_own_rules(tmp_path: Path) -> None:
    said = [one._replace(answer="Maybe zorblax, who can tell?" if n % 2 else "So.") for n, one in enumerate(day(60))]
    log = write(tmp_path / "log", lines(said, "bodies"))
    config = write_config(tmp_path, ["http://127.0.0.1:9"], [])
    shipped = await visited(config, log=log)
    assert shipped.answers is not None
    assert shipped.answers.hedging == 30
    sign = {"name": "odd", "means": "doubt", "weight": 1.0, "en": {"words": ["zorblax"]}}
    (tmp_path / "refine.yaml").write_text(yaml.safe_dump({"tiers": [{"type": "rules", "signs": [sign]}]}))
    config = write_config(tmp_path, ["http://127.0.0.1:9"], [], refine="refine.yaml")
    own = await visited(config, log=log)
    assert own.answers is not None
    assert list(own.answers.words) == [("zorblax", 30)]
    assert lights(own)["hedging"] == {"yellow"}


async def test_the_shipped_classifier_scores_answers_of_a_log(tmp_path: Path) -> None:
    log = write(tmp_path / "log", lines(day(12), "bodies"))
    config = write_config(tmp_path, ["http://127.0.0.1:9"], [])
    facts = await visited(config, log=log, scores=True)
    assert facts.answers is not None
    assert facts.answers.lacks == ""
    (spread,) = facts.answers.spreads
    assert (sum(spread.before), sum(spread.now)) == (6, 6)


async def test_a_log_that_can_t_be_read_is_said(tmp_path: Path) -> None:
    config = write_config(tmp_path, ["http://127.0.0.1:9"], [])
    with pytest.raises(ConfigFault, match="none"):
        await visited(config, log=tmp_path / "none")


async def test_who_asks_a_prometheus_hears_its_alerts(tmp_path: Path) -> None:
    firing = [{"state": "firing", "labels": {"alertname": "A", "severity": "critical"}}]
    body = orjson.dumps({"status": "success", "data": {"alerts": firing}})
    async with upstream(answers(completion("x"))) as (url, _), upstream(answers(body)) as (prometheus, _):
        facts = await visited(write_config(tmp_path, [url], []), prometheus=prometheus)
    assert facts.alerts[0].name == "A"
    assert lights(facts)["alerts"] == {"red"}
    assert facts.address == ""  # it listens on a port of its own
