"""Whether Redis answers in time, keeps what it is given, and has room."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Said, Server, Sign, Symptom, green, grey

SLOW = 5.0  # milliseconds; a request waits 15 for it by default
FULL = 0.9

_REACH = Said(
    "is it running, and is its address right? Requests go on without it, nothing is reused",
    "它在运行吗？地址对吗？请求仍会继续，但不能复用",
)
_NEAR = Said("put it nearer, or raise `timeout_ms`", "把它放近一些，或调大 `timeout_ms`")
_ROOM = Said(
    "raise `maxmemory`, or lower `most` and `bytes` of the store", "调大 `maxmemory`，或调小存储的 `most` 与 `bytes`"
)
_QUEUE = Said(
    "a review queue must not be thrown away: set `maxmemory-policy noeviction`, or give the queue a server of its own",
    "待复核队列不可被淘汰：设置 `maxmemory-policy noeviction`，或为队列单独部署",
)
_BOUND = Said("set `maxmemory`, so that it can't take all of the machine", "设置 `maxmemory`，以免占满整台机器")


class Plug(Symptom):
    """Each server that the configuration names."""

    title = Said("Redis", "Redis")
    order = 100

    def look(self, facts: Facts) -> Iterator[Sign]:
        if not facts.servers:
            yield grey("redis", "the configuration names none", "配置中没有 Redis")
        for server in facts.servers:
            yield _seen(server)


def _seen(server: Server) -> Sign:
    use = server.use
    if server.why:
        return Sign(Light.RED, use, Said(f"does not answer: {server.why}", f"没有应答：{server.why}"), _REACH)
    if server.milliseconds > SLOW:
        seen = Said(f"answers in {server.milliseconds:.1f} ms", f"应答需 {server.milliseconds:.1f} ms")
        return Sign(Light.YELLOW, use, seen, _NEAR)
    if server.most and server.used > FULL * server.most:
        share = f"{server.used / server.most:.0%}"
        return Sign(Light.YELLOW, use, Said(f"{share} of its memory is used", f"内存已用 {share}"), _ROOM)
    if server.policy and server.policy.startswith("allkeys") and "queue" in use:
        seen = Said(
            f"throws any key away when it is full ({server.policy})", f"内存满时会淘汰任意键（{server.policy}）"
        )
        return Sign(Light.RED, use, seen, _QUEUE)
    if not server.most and server.policy is not None:
        return Sign(Light.YELLOW, use, Said("may take all memory of its machine", "可能占满机器内存"), _BOUND)
    policy = server.policy or "?"
    figures = f"{server.milliseconds:.1f} ms, {server.used >> 20} / {server.most >> 20} MiB, {policy}"
    return green(use, figures, figures)
