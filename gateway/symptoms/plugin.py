"""Whether the engines have the plugin, take the secret, and are all the same: only equal ones can share captures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.symptoms import Facts, Light, Replica, Said, Sign, Symptom, green, grey, listed

_PATCH = Said(
    "start vLLM with deploy/vllm (connector, scheduler, middleware); without it requests are guarded, not reused",
    "用 deploy/vllm 启动 vLLM（connector、scheduler、middleware）；没有它请求仍受保护，但不能复用",
)
_SECRET = Said(
    "set the same RETRACE_ENGINE_SECRET at the gateway and at the engine",
    "网关与引擎须设置相同的 RETRACE_ENGINE_SECRET",
)
_WAIT = Said("wait until the engine has started; then see its log", "等引擎启动完毕；之后查看其日志")
_SAME = Said(
    "start all replicas of a backend with one version, model and settings",
    "同一后端的所有副本应使用相同的版本、模型与设置",
)


class Plug(Symptom):
    """What the plugin says of itself."""

    title = Said("plugin", "插件")
    order = 40

    def look(self, facts: Facts) -> Iterator[Sign]:
        able = [replica for replica in facts.replicas if replica.plugin is not None]
        if not able:
            yield grey("plugin", "no backend of `type: vllm`", "没有 `type: vllm` 的后端")
        by: dict[str, list[Replica]] = defaultdict(list)
        for replica in able:
            sign = _seen(replica)
            if sign:
                yield sign
            else:
                by[replica.backend].append(replica)
        for backend, alike in by.items():
            yield from _agreed(backend, alike)


def told(replica: Replica) -> Mapping[str, Any]:
    return replica.plugin.told if replica.plugin else {}


def _seen(replica: Replica) -> Sign | None:
    """What is wrong with one; None if nothing is."""
    reply, about = replica.plugin, f"{replica.backend} {replica.url}"
    assert reply is not None
    if not reply.status:
        return grey(about, f"can't be asked: {reply.why}", f"无法询问：{reply.why}")
    if reply.status in (401, 403):
        return Sign(Light.RED, about, Said("refuses the gateway's secret", "拒绝网关的密钥"), _SECRET)
    if "plugin" not in reply.told:
        return Sign(Light.YELLOW, about, Said("has no plugin: retrace is off", "没有插件：retrace 已关闭"), _PATCH)
    if not isinstance(reply.told.get("engine"), dict):
        return Sign(Light.YELLOW, about, Said("the plugin does not know its engine yet", "插件尚未认识其引擎"), _WAIT)
    return None


def _agreed(backend: str, replicas: Sequence[Replica]) -> Iterator[Sign]:
    """Whether all of a backend say the same."""
    versions = {str(told(one).get("plugin")) for one in replicas}
    engines = {str(told(one)["engine"].get("fingerprint")) for one in replicas}
    modes = {", ".join(sorted(map(str, listed(told(one)["engine"].get("modes"))))) for one in replicas}
    for what, zh, found in (
        ("plugin versions", "插件版本", versions),
        ("engine fingerprints", "引擎指纹", engines),
        ("modes", "模式", modes),
    ):
        if len(found) > 1:
            names = ", ".join(sorted(found))
            yield Sign(Light.RED, backend, Said(f"its {what} differ: {names}", f"{zh}不一致：{names}"), _SAME)
    if len(versions) == len(engines) == len(modes) == 1:
        (version,), (mode,) = versions, modes
        yield green(
            backend,
            f"{len(replicas)} with plugin {version} and one fingerprint; modes: {mode}",
            f"{len(replicas)} 个副本，插件 {version}，指纹一致；模式：{mode}",
        )
