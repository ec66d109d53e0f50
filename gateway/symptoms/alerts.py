"""Whether Prometheus can be reached, and which of its alerts fire."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green, grey

_REACH = Said("is it running? `make watch` starts one", "它在运行吗？`make watch` 会启动一个")
_NAME = Said("name it with --prometheus http://127.0.0.1:9090", "用 --prometheus http://127.0.0.1:9090 指定")
_BOOK = Said("the alert's own runbook says what to do", "按该告警自带的处理手册处理")
_RED = frozenset({"critical", "page"})


class Plug(Symptom):
    """Its alerts."""

    title = Said("alerts", "告警")
    order = 130

    def look(self, facts: Facts) -> Iterator[Sign]:
        reply = facts.prometheus
        if reply is None:
            yield grey("prometheus", "nobody said where it is", "没有给出地址", _NAME)
        elif reply.status != 200:
            why = reply.why or f"status {reply.status}"
            yield Sign(Light.YELLOW, "prometheus", Said(f"can't be asked: {why}", f"无法询问：{why}"), _REACH)
        elif not facts.alerts:
            yield green("prometheus", "no alert fires", "没有触发的告警")
        for alert in facts.alerts:
            light = Light.RED if alert.severity in _RED else Light.YELLOW
            yield Sign(light, alert.name, Said(alert.summary or "fires", alert.summary or "已触发"), _BOOK)
