"""Whether the KV cache grows with long contexts: full, preempting, held by nobody, or more of it for each request.

An engine's own figures are looked at several times, seconds apart; what Prometheus remembers of them tells about hours.
`used` is the share of KV blocks that requests hold; blocks that are only kept for later are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gateway.symptoms import Facts, Light, Look, Said, Sign, Symptom, Trend, green, grey

FULL = 0.9  # share of the cache from which requests begin to wait or to be thrown out
IDLE = 0.05  # share that is more than nothing
GROWN = 1.5  # times what a running request held some hours ago
TIMES = 3.0  # what a running request holds, over what requests that ended have had

_ROOM = Said(
    "lower --max-model-len or --max-num-seqs, cut long contexts, or give it more memory for KV",
    "调小 --max-model-len 或 --max-num-seqs，裁剪过长的上下文，或增加 KV 显存",
)
_HELD = Said(
    "something holds blocks of requests that are gone: restart the engine, and report it",
    "有已结束的请求仍占用 KV 块：重启引擎并上报",
)
_LONG = Said(
    "conversations grow: cut or sum up their history, or let routes with long contexts have a limit of tokens",
    "会话在变长：裁剪或总结历史，或给长上下文的路由设置 token 上限",
)


class Plug(Symptom):
    """Used, running, waiting, preempted, and how long requests are."""

    title = Said("KV in long contexts", "长上下文中的 KV")
    order = 60

    def look(self, facts: Facts) -> Iterator[Sign]:
        seen = False
        for replica in facts.replicas:
            looks = [look for look in replica.looks if look.used is not None]
            if looks:
                seen = True
                yield _seen(f"{replica.backend} {replica.url}", looks)
        for trend in facts.trends:
            seen = True
            yield _trend(trend)
        if not seen:
            yield grey("KV", "no engine tells its figures on /metrics", "没有引擎在 /metrics 上给出数据")


def _seen(about: str, looks: Sequence[Look]) -> Sign:
    first, last = looks[0], looks[-1]
    used = [look.used or 0.0 for look in looks]
    thrown = last.preempted - first.preempted
    if thrown > 0:
        seen = Said(
            f"{thrown:.0f} requests were thrown out of a full cache just now",
            f"刚刚有 {thrown:.0f} 个请求因缓存已满被抢占",
        )
        return Sign(Light.RED, about, seen, _ROOM)
    if min(used) >= FULL and last.waiting:
        seen = Said(
            f"{used[-1]:.0%} used, {last.waiting:.0f} wait", f"已用 {used[-1]:.0%}，{last.waiting:.0f} 个在等待"
        )
        return Sign(Light.RED, about, seen, _ROOM)
    if min(used) >= FULL:
        return Sign(Light.YELLOW, about, Said(f"{used[-1]:.0%} used", f"已用 {used[-1]:.0%}"), _ROOM)
    if len(looks) > 1 and not any(look.running or look.waiting for look in looks) and min(used) > IDLE:
        seen = Said(f"{used[-1]:.0%} used while nothing runs", f"空闲时仍占用 {used[-1]:.0%}")
        return Sign(Light.YELLOW, about, seen, _HELD)
    if times := _grown(last):
        seen = Said(
            f"a running request holds {times:.1f} times the tokens of those that ended",
            f"运行中的请求占用的 token 是已结束请求的 {times:.1f} 倍",
        )
        return Sign(Light.YELLOW, about, seen, _LONG)
    running = f"{last.running:.0f}"
    return green(about, f"{used[-1]:.0%} used by {running} requests", f"{running} 个请求占用 {used[-1]:.0%}")


def _trend(trend: Trend) -> Sign:
    before, now = f"{trend.before:.1%}", f"{trend.now:.1%}"
    seen = Said(
        f"a running request holds {now} of the cache, some hours ago {before}",
        f"每个运行中的请求占用缓存的 {now}，数小时前为 {before}",
    )
    if trend.before > 0 and trend.now > GROWN * trend.before:
        return Sign(Light.YELLOW, trend.instance, seen, _LONG)
    return green(trend.instance, *seen)


def _grown(look: Look) -> float | None:
    """How much longer running requests are than those that have ended, if it is a lot."""
    ended = look.prompts[1]
    if not look.capacity or look.running < 1 or ended < 20:
        return None
    usual = (look.prompts[0] + look.answers[0]) / ended
    held = (look.used or 0.0) * look.capacity / look.running
    return held / usual if usual and held > TIMES * usual else None
