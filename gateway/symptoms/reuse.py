"""Whether reuse is in force as the files say: what the gateway's own hand holds back, and which policies wait for a
person to confirm them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green, grey, listed, table

_CONFIRM = Said(
    "rules of these codes have changed meaning: look, then `retrace policy confirm CODE`",
    "这些原因码的规则含义已变：核对后执行 `retrace policy confirm 原因码`",
)
_SHOW = Said(
    "`retrace tune --show` says why; `--reset` takes it back", "`retrace tune --show` 说明原因；`--reset` 可撤销"
)
_FAULT = Said("let the gateway write beside gateway.yaml", "让网关可以写入 gateway.yaml 所在目录")


class Plug(Symptom):
    """What /readyz says of the controller and of policies."""

    title = Said("reuse", "复用")
    order = 55

    def look(self, facts: Facts) -> Iterator[Sign]:
        told = facts.gateway.told if facts.gateway else {}
        hand, policies = told.get("controller"), told.get("policies")
        if not isinstance(hand, dict) or not isinstance(policies, dict):
            yield grey(facts.address or "gateway", "the gateway does not tell", "网关没有说明")
            return
        signs = [*_held(hand), *_waiting(policies)]
        yield from signs or [green(facts.address, "in force as the files say", "按配置文件生效")]


def _held(hand: Mapping[str, Any]) -> Iterator[Sign]:
    if hand.get("breaker") == "open":
        yield Sign(
            Light.YELLOW, "controller", Said("off: an engine or the store fails", "已关闭：引擎或索引故障"), _SHOW
        )
    if hand.get("fallback"):
        seen = Said("fallen back: answers with donors differed too much", "已回退：带供体的回答差异过大")
        yield Sign(Light.YELLOW, "controller", seen, _SHOW)
    if off := ", ".join(map(str, listed(hand.get("off")))):
        seen = Said(f"switched off, since they don't pay: {off}", f"因无收益而关闭：{off}")
        yield Sign(Light.YELLOW, "controller", seen, _SHOW)
    if hand.get("kept") is False:
        seen = Said("its acts could not be written down, so a restart forgets them", "其动作无法写入文件，重启后会丢失")
        yield Sign(Light.YELLOW, "controller", seen, _FAULT)


def _waiting(policies: Mapping[str, Any]) -> Iterator[Sign]:
    if codes := ", ".join(sorted(table(policies.get("unconfirmed")))):
        yield Sign(
            Light.YELLOW, "policies", Said(f"not confirmed, so off: {codes}", f"未确认，因此关闭：{codes}"), _CONFIRM
        )
    if fault := policies.get("fault"):
        seen = Said(f"their state can't be kept: {fault}", f"状态无法保存：{fault}")
        yield Sign(Light.YELLOW, "policies", seen, _FAULT)
