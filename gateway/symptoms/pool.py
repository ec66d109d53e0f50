"""Whether the pools have room for captures, and hold any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green, grey, number, table

FULL = 0.95  # share of a pool from which captures make way for each other
PENDING = 0.5  # share of captures that wait for a verdict

_ROOM = Said(
    "raise RETRACE_POOL_GIB, add RETRACE_POOL_DISK, or lower `ttl_seconds` in reasons.yaml",
    "调大 RETRACE_POOL_GIB、增加 RETRACE_POOL_DISK，或调小 reasons.yaml 的 `ttl_seconds`",
)
_VERDICTS = Said(
    "do verdicts arrive? see `retrace_captures_total` of the gateway",
    "裁决送达了吗？查看网关的 `retrace_captures_total`",
)


class Plug(Symptom):
    """What the plugin says of its pool."""

    title = Said("capture pool", "捕获池")
    order = 50

    def look(self, facts: Facts) -> Iterator[Sign]:
        seen = False
        for replica in facts.replicas:
            pool = replica.plugin.told.get("pool") if replica.plugin else None
            if number(table(pool).get("size")) > 0:
                seen = True
                yield _seen(f"{replica.backend} {replica.url}", table(pool))
        if not seen:
            yield grey("pool", "no engine tells of one", "没有引擎报告捕获池")


def _seen(about: str, pool: Mapping[str, Any]) -> Sign:
    size, entries = number(pool["size"]), table(pool.get("entries"))
    share = number(pool.get("bytes")) / size
    count, pending = int(sum(map(number, entries.values()))), int(number(entries.get("pending")))
    room = f"{share:.0%} / {size / (1 << 30):.1f} GiB"
    if count > 20 and pending > PENDING * count:
        seen = Said(
            f"{pending} of {count} captures still wait for a verdict", f"{count} 个捕获中有 {pending} 个仍在等待裁决"
        )
        return Sign(Light.YELLOW, about, seen, _VERDICTS)
    if share >= FULL:
        seen = Said(f"full ({room}): captures make way early", f"已满（{room}）：捕获会被提前淘汰")
        return Sign(Light.YELLOW, about, seen, _ROOM)
    return green(about, f"{count} captures, {room}", f"{count} 个捕获，{room}")
