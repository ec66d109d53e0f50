"""One connection shared by all who ask, against a real server and against what is none."""

from __future__ import annotations

import asyncio

import pytest

from gateway.stores._link import Fault, Link, Refusal, check_url
from tests.redis_server import RedisServer, redis_server
from tests.stores.servers import listening, says

LONG = 20.0  # seconds


async def test_answers_go_to_who_has_asked(server: RedisServer) -> None:
    for url in (server.url, server.unix_url):
        link = Link(url)
        await link.open(LONG)
        answers = await asyncio.gather(*(link.ask("ECHO", str(n)) for n in range(200)))
        assert answers == [str(n).encode() for n in range(200)]
        assert await link.ask_all([("ECHO", "a"), ("ECHO", b"\x00"), ("ECHO", 7)]) == [b"a", b"\x00", b"7"]
        await link.close()
        assert not link.is_open


async def test_who_gives_up_takes_nothing_from_the_others(server: RedisServer) -> None:
    link = Link(server.url)
    await link.open(LONG)
    slow = asyncio.create_task(link.ask("BLPOP", "nothing-here", 1))
    await asyncio.sleep(0.05)
    after = asyncio.create_task(link.ask("ECHO", "after"))
    slow.cancel()
    assert await after == b"after"
    assert await link.ask("ECHO", "later") == b"later"
    await link.close()


async def test_a_refusal_is_told_in_the_server_s_own_code(server: RedisServer) -> None:
    link = Link(server.url)
    await link.open(LONG)
    with pytest.raises(Refusal) as refused:
        await link.ask("EVALSHA", "0" * 40, 0)
    assert refused.value.unknown_script
    assert (refused.value.kind, refused.value.said) == ("refused", "NOSCRIPT")
    first, second = await link.ask_all([("ECHO", "a"), ("NO-SUCH-COMMAND",)])
    assert first == b"a"
    assert isinstance(second, Refusal)
    assert not second.unknown_script
    assert link.is_open
    await link.close()


async def test_when_the_server_ends_all_who_wait_hear_it_and_it_can_be_opened_again() -> None:
    with redis_server() as server:
        link = Link(server.url)
        await link.open(LONG)
        waiting = [asyncio.create_task(link.ask("BLPOP", "nothing-here", 0)) for _ in range(3)]
        await asyncio.sleep(0.05)
        server.kill()
        for one in waiting:
            with pytest.raises(Fault) as broken:
                await one
            assert broken.value.kind == "unreachable"
        assert not link.is_open
        with pytest.raises(Fault, match="unreachable"):
            await link.ask("ECHO", "a")
        with pytest.raises(Fault, match="unreachable"):
            await link.open(LONG)
        server.start()
        await link.open(LONG)
        assert await link.ask("ECHO", "a") == b"a"
        await link.close()


async def test_a_wrong_password_is_a_refusal_and_nobody_says_which() -> None:
    with redis_server("--requirepass", "right") as server:
        link = Link(server.url.replace("//", "//:not-so@"))
        with pytest.raises(Refusal) as refused:
            await link.open(LONG)
        assert refused.value.kind == "refused"
        assert "not-so" not in f"{refused.value!r}{refused.value.said}"
        unsigned = Link(server.url)
        await unsigned.open(LONG)
        with pytest.raises(Refusal):
            await unsigned.ask("ECHO", "a")
        await unsigned.close()
        signed = Link(server.url.replace("//", "//:right@"))
        await signed.open(LONG)
        assert await signed.ask("ECHO", "a") == b"a"
        await signed.close()


@pytest.mark.parametrize(
    "words",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x50", b"*1\r\n*1\r\n?\r\n", b"-MOVED what\r\n"],
)
async def test_who_speaks_something_else_speaks_garbage(words: bytes) -> None:
    async with listening(says(words)) as url:
        link = Link(url)
        await link.open(LONG)
        with pytest.raises(Fault) as garbage:
            await link.ask("ECHO", "a")
        assert garbage.value.kind == "garbage"
        assert not link.is_open
        await link.close()


async def test_an_answer_too_many_is_garbage_and_the_link_is_closed() -> None:
    async with listening(says(b"+OK\r\n+OK\r\n")) as url:
        link = Link(url)
        await link.open(LONG)
        assert await link.ask("ECHO", "a") == b"OK"
        await asyncio.sleep(0.05)
        assert not link.is_open
        await link.close()


async def test_who_never_signs_us_in_is_waited_for_so_long_and_no_longer() -> None:
    async with listening(says(b"")) as url:
        link = Link(url.replace("//", "//:word@"))
        async with asyncio.timeout(LONG):
            with pytest.raises(Fault, match="timeout"):
                await link.open(0.1)
        assert not link.is_open
        await link.close()


@pytest.mark.parametrize(
    "url", ["http://a", "redis://a?no_such_option=1", "a", "", "redis://a?socket_timeout=x", "redis://a:b"]
)
def test_no_address_is_told_before_anything_is_opened(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_url(url)


def test_all_kinds_of_address_are_known() -> None:
    for url in ("redis://a", "redis://u:p@a:1/2", "rediss://a:6380", "unix:///run/redis.sock?db=1"):
        check_url(url)
