"""Whether each replica of each backend can be reached, and takes the gateway's key."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Replica, Said, Sign, Symptom, green, grey

SLOW = 1.0  # seconds for a question about health

_REACH = Said("is it running, and is `urls` in gateway.yaml right?", "它在运行吗？gateway.yaml 的 `urls` 是否正确？")
_KEY = Said("set the key of the backend under `key_env`", "在 `key_env` 中设置该后端的密钥")
_BUSY = Said("its process is overloaded; see its own log", "其进程过载；查看它自己的日志")


class Plug(Symptom):
    """Its health path."""

    title = Said("backends", "后端")
    order = 30

    def look(self, facts: Facts) -> Iterator[Sign]:
        if not facts.replicas:
            yield grey("backends", "the configuration names none that can be asked", "配置中没有可以询问的后端")
        for replica in facts.replicas:
            yield _seen(replica)


def _seen(replica: Replica) -> Sign:
    reply, about = replica.health, f"{replica.backend} {replica.url}"
    milliseconds = f"{1000 * reply.seconds:.0f} ms"
    if not reply.status:
        return Sign(Light.RED, about, Said(f"can't be reached: {reply.why}", f"无法连接：{reply.why}"), _REACH)
    if reply.status in (401, 403):
        return Sign(Light.RED, about, Said("refuses the gateway's key", "拒绝网关的密钥"), _KEY)
    if reply.status >= 500:
        seen = Said(f"is not healthy: status {reply.status}", f"不健康：状态 {reply.status}")
        return Sign(Light.RED, about, seen, _BUSY)
    if reply.seconds > SLOW:
        return Sign(Light.YELLOW, about, Said(f"answers slowly: {milliseconds}", f"应答缓慢：{milliseconds}"), _BUSY)
    return green(about, f"answers, {milliseconds}", f"有应答，{milliseconds}")
