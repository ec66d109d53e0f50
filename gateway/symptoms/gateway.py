"""Whether the gateway answers, is ready, and serves what the files say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green, grey, table

_START = Said("start it: `retrace serve`, or name its address with --url", "启动：`retrace serve`，或用 --url 指明地址")
_STORE = Said("look at the Redis lines below", "查看下面的 Redis 各行")
_REFINE = Said("see whether the backend that reads answers once more is up", "检查负责复核的后端是否可用")
_RELOAD = Said(
    "`retrace check` says file, line and fix; it serves the last good files",
    "`retrace check` 会指出文件、行与改法；当前仍用上一份正确的配置",
)


class Plug(Symptom):
    """Its /readyz."""

    title = Said("gateway", "网关")
    order = 20

    def look(self, facts: Facts) -> Iterator[Sign]:
        reply, at = facts.gateway, facts.address
        if reply is None:
            yield grey(at, "nobody knows where it listens", "不知道它的监听地址", _START)
        elif not reply.status:
            yield Sign(Light.RED, at, Said(f"does not answer: {reply.why}", f"没有应答：{reply.why}"), _START)
        elif "ready" not in reply.told:
            seen = Said(f"answers {reply.status}, but not as a gateway", f"返回 {reply.status}，但不是网关的应答")
            yield Sign(Light.RED, at, seen, _START)
        else:
            signs = list(_ready(at, reply.told, facts.configuration.revision))
            milliseconds = 1000 * reply.seconds
            yield from signs or [green(at, f"ready, {milliseconds:.0f} ms", f"就绪，{milliseconds:.0f} ms")]


def _ready(at: str, told: Mapping[str, Any], revision: str) -> Iterator[Sign]:
    """What it says itself."""
    if not told["ready"]:
        down = ", ".join(name for name, up in table(told.get("backends")).items() if not up)
        fix = Said("see the backends below", "查看下面的后端")
        yield Sign(Light.RED, at, Said(f"not ready, down: {down}", f"未就绪，不可用：{down}"), fix)
    if told.get("last_error"):
        seen = Said("the files on disk are wrong and were not taken", "磁盘上的配置有误，未被采用")
        yield Sign(Light.RED, at, seen, _RELOAD)
    elif revision and told.get("revision") not in (None, revision):
        seen = Said(
            f"serves revision {told['revision']}, these files are {revision}",
            f"正在使用版本 {told['revision']}，而这些文件是 {revision}",
        )
        fix = Said("is it started with this --config?", "它是用同一个 --config 启动的吗？")
        yield Sign(Light.YELLOW, at, seen, fix)
    if told.get("store") is False:
        yield Sign(Light.YELLOW, at, Said("its store of captures is down", "捕获索引不可用"), _STORE)
    if told.get("refine") is False:
        yield Sign(Light.YELLOW, at, Said("answers can't be read once more", "无法复核回答"), _REFINE)
