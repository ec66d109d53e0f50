"""Questions over HTTP: to a gateway, to engines with and without the plugin, to a Prometheus, to nobody."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from deploy.setup import ports
from gateway.doctor import http
from gateway.doctor.http import Address, Asker
from gateway.symptoms import Alert, Trend
from tests.plugin import engine
from tests.rig import RawUpstream, Script, Seen, answers, completion, gateway, upstream
from tests.rig import http as written
from tests.watch.station import station

PAGE = b'vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:num_requests_running{engine="0"} 2\n'


def metrics(page: bytes = PAGE) -> Script:
    return answers(page, headers={"content-type": "text/plain"})


def address(url: str, secret: str | None = "") -> Address:
    return Address("local", url, "/health", "", secret)


def paths(up: RawUpstream) -> list[str]:
    return [seen.path for seen in up.seen]


async def test_a_real_gateway_tells_that_it_is_ready_and_the_time(tmp_path: Path) -> None:
    async with (
        upstream(answers(completion("x"))) as (url, _),
        gateway(tmp_path, [url]) as running,
        Asker() as asker,
    ):
        reply = await asker.ask(f"{running.url}/readyz")
    assert (reply.status, reply.told["ready"], reply.why) == (200, True, "")
    assert reply.clock is not None
    assert abs(reply.clock + 0.5 - reply.ours) < 2
    assert reply.seconds > 0


async def test_an_engine_is_asked_for_health_plugin_and_figures_several_times() -> None:
    async with engine(metrics(), secret="s") as (url, up, _), Asker() as asker:
        told = await asker.replica(address(url, "s"), 0.01)
        refused = await asker.replica(address(url, "wrong"), 0)
    assert told.health.status == 200
    assert told.plugin is not None
    assert told.plugin.told["engine"] == {"fingerprint": "f", "modes": ["prefix", "splice"]}
    assert [look.used for look in told.looks] == [0.25] * http.LOOKS
    assert told.looks[0].at < told.looks[-1].at
    assert refused.plugin is not None
    assert refused.plugin.status == 401
    assert paths(up).count("/health") == 2


async def test_an_endpoint_without_plugin_or_figures_is_asked_no_further() -> None:
    async with upstream(answers(b"{}", 404)) as (url, up), Asker() as asker:
        plain = await asker.replica(address(url, None), 0)
        unpatched = await asker.replica(address(url), 0)
    assert (plain.plugin, plain.looks) == (None, ())
    assert unpatched.plugin is not None
    assert (unpatched.plugin.status, list(unpatched.looks)) == (404, [])
    assert paths(up) == ["/health", "/health", "/retrace/v1/health", "/metrics"]


async def test_the_key_goes_to_the_endpoint_and_the_secret_to_the_plugin_alone() -> None:
    async with engine(metrics(), secret="s") as (url, up, _), Asker() as asker:
        await asker.replica(Address("local", url, "/health", "k", "s"), 0)
    assert {seen.headers.get("authorization") for seen in up.seen} == {"Bearer k"}
    told = {seen.path for seen in up.seen if "x-retrace-secret" in seen.headers}
    assert told == {"/retrace/v1/health"}


async def test_who_is_not_there_is_silent_or_talks_nonsense_is_said_in_a_word() -> None:
    async def silent(_seen: Seen, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def nonsense(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"what?\r\n\r\n")

    nowhere = f"http://127.0.0.1:{ports.free()}"
    async with (
        upstream(silent) as (slow, _),
        upstream(nonsense) as (odd, _),
        upstream(answers(b"[1]", headers={"date": "soon"})) as (listed, _),
        Asker(patience=0.2) as asker,
    ):
        gone, late, wrong, told = [await asker.ask(f"{url}/x") for url in (nowhere, slow, odd, listed)]
        replica = await asker.replica(address(nowhere), 0)
    assert (gone.status, "refused" in gone.why.lower()) == (0, True)
    assert (late.status, late.why) == (0, "no answer within 0.2 s")
    assert (wrong.status, wrong.told) == (0, {})
    assert (told.status, told.told, told.clock) == (200, {}, None)
    assert replica.plugin is replica.health


async def test_only_alerts_that_fire_are_told() -> None:
    alerts = [
        {"state": "firing", "labels": {"alertname": "A", "severity": "critical"}, "annotations": {"summary": "a"}},
        {"state": "pending", "labels": {"alertname": "B"}},
        {"state": "firing", "labels": None},
        "odd",
    ]
    body = orjson.dumps({"status": "success", "data": {"alerts": alerts}})
    async with upstream(answers(body)) as (url, up), upstream(answers(b"{}")) as (other, _), Asker() as asker:
        reply, firing = await asker.alerts(f"{url}/")
        strange, none = await asker.alerts(other)
    assert reply.status == 200
    assert firing == [Alert("A", "critical", "a"), Alert("None", "", "")]
    assert paths(up) == ["/api/v1/alerts"]
    assert (strange.status, strange.why, none) == (0, "not a Prometheus", ())


async def test_what_prometheus_remembers_of_an_engine_is_compared_with_now() -> None:
    async def remembers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        values = {"e:1": "0.01", "e:2": "0.02"} if "offset" in seen.path else {"e:1": "0.04", "e:3": "1", "e:4": "NaN"}
        rows = [{"metric": {"instance": name}, "value": [1, value]} for name, value in values.items()]
        writer.write(
            written(orjson.dumps({"status": "success", "data": {"result": [*rows, "odd", {"value": [1, "x"]}]}}))
        )

    async with upstream(remembers) as (url, _), upstream(answers(b"[]")) as (other, _), Asker() as asker:
        assert await asker.trends(url) == [Trend("e:1", 0.01, 0.04)]
        assert await asker.trends(other) == []


async def test_no_more_is_read_than_a_page_may_have() -> None:
    async def endless(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(written(b"x" * (2 * http.LONGEST)))

    async with upstream(endless) as (url, _), Asker() as asker:
        reply = await asker.ask(f"{url}/x")
    assert (reply.status, reply.told) == (200, {})


async def test_a_real_prometheus_is_asked_as_well(tmp_path: Path) -> None:
    async with station(tmp_path) as there, Asker(patience=20) as asker:
        reply, _ = await asker.alerts(there.url)
        queries = [http._HELD.format(ago=ago) for ago in ("", http.AGO)]
        answered = [await there.ask(query) for query in queries]  # Prometheus understands them
        trends = await asker.trends(there.url)
    assert (answered, trends) == ([[], []], [])
    assert (reply.status, reply.why, reply.told["status"]) == (200, "", "success")
