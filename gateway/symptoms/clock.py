"""Whether the clocks agree: how long captures live, and what logs say, is told by several machines' clocks."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Reply, Said, Sign, Symptom, green, grey

SOME, MUCH = 2.0, 30.0  # seconds
COARSE = 1.0  # a Date header tells whole seconds

_NTP = Said(
    "run a time service (chrony, systemd-timesyncd) on both machines",
    "在两台机器上运行时间同步服务（chrony、systemd-timesyncd）",
)


class Plug(Symptom):
    """The Date header of backends, gateway and Prometheus; the TIME of Redis."""

    title = Said("clocks", "时钟")
    order = 120

    def look(self, facts: Facts) -> Iterator[Sign]:
        found = dict(_told(facts))
        if not found:
            yield grey("clocks", "nobody tells the time", "没有任何一方给出时间")
        wrong = [_seen(about, *off) for about, off in found.items() if abs(off[0]) - off[1] > SOME]
        yield from wrong
        if found and not wrong:
            most = max(abs(off) - doubt for off, doubt in found.values())
            text = f"{max(most, 0.0):.1f} s"
            names = ", ".join(found)
            yield green(names, f"no more than about {text} apart", f"相差不超过约 {text}")


def _told(facts: Facts) -> Iterator[tuple[str, tuple[float, float]]]:
    """By how many seconds each is ahead of us, and how unsure that is."""
    replies: list[tuple[str, Reply | None]] = [(one.url, one.health) for one in facts.replicas]
    replies += [(facts.address, facts.gateway), ("prometheus", facts.prometheus)]
    for about, reply in replies:
        if reply is not None and reply.clock is not None:
            # Whole seconds, cut off: the truth lies up to one later, so half of one is added.
            yield about, (reply.clock + COARSE / 2 - reply.ours, COARSE / 2 + reply.seconds / 2)
    for server in facts.servers:
        if server.ahead is not None:
            yield server.use, (server.ahead, server.milliseconds / 2000)


def _seen(about: str, off: float, _doubt: float) -> Sign:
    seen = Said(f"is {off:+.1f} s from this machine's clock", f"与本机时钟相差 {off:+.1f} 秒")
    return Sign(Light.RED if abs(off) > MUCH else Light.YELLOW, about, seen, _NTP)
