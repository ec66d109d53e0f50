"""A real redis-server tells what it is; one that is not there, frozen or wants a password is told of in a word."""

from __future__ import annotations

import pytest

from deploy.setup import ports
from gateway.doctor.servers import server
from tests.redis_server import redis_server


@pytest.mark.parametrize("policy", ["noeviction", "allkeys-lru"])
async def test_a_server_tells_time_policy_and_memory(policy: str) -> None:
    with redis_server("--maxmemory", "64mb", "--maxmemory-policy", policy) as running:
        told = await server("store", running.url)
    assert (told.use, told.why, told.policy, told.most) == ("store", "", policy, 64 << 20)
    assert 0 < told.used < 64 << 20
    assert told.milliseconds > 0
    assert told.ahead is not None
    assert abs(told.ahead) < 1


async def test_who_can_t_be_asked_is_told_in_a_word() -> None:
    gone = await server("store", f"redis://127.0.0.1:{ports.free()}/0")
    assert gone.why == "unreachable"
    with redis_server("--requirepass", "secret") as running:
        refused = await server("store", running.url)
        let_in = await server("store", running.url.replace("://", "://:secret@"))
        assert refused.why
        assert "secret" not in refused.why
        assert let_in.why == ""
        running.freeze()
        silent = await server("store", running.url, patience=0.2)
        running.thaw()
    assert silent.why == "timeout"


async def test_a_server_that_does_not_tell_its_memory_is_asked_for_the_rest() -> None:
    with redis_server("--rename-command", "INFO", "") as running:
        told = await server("store", running.url)
    assert (told.why, told.policy, told.most) == ("", None, 0)
