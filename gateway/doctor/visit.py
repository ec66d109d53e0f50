"""All that a doctor looks at: what the configuration names, and what he is told beside it. Nothing is changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gateway import shipped
from gateway.backends._patched import SECRET
from gateway.config import House, Source, build
from gateway.doctor import answers, feedback
from gateway.doctor.folders import folder
from gateway.doctor.http import Address, Asker
from gateway.doctor.servers import server
from gateway.errors import ConfigFault
from gateway.refine.file import RefineFile
from gateway.symptoms import Answers, Configuration, Facts, Server
from gateway.tiers import _model, rules
from gateway.tiers._patterns import Phrases
from gateway.yamlfile import Document

_ANYWHERE = ("0.0.0.0", "::")


class Wish(NamedTuple):
    """What to look at beside what the configuration names. `seconds`: how long engines are looked at."""

    source: Source
    url: str | None = None
    log: Path | None = None
    feedback: Path | None = None
    prometheus: str | None = None
    seconds: float = 2.0
    scores: bool = True


def visit(wish: Wish, step: Callable[[], None] = lambda: None) -> Facts:
    """All facts. ConfigFault if a log or a file of feedback that was named can't be read."""
    house, configuration = _built(wish.source)
    said = None if wish.log is None else _answers(wish, house, step)
    voices = None if wish.feedback is None else feedback.gathered(wish.feedback, feedback.phrases())
    facts = Facts(configuration, address=wish.url or _address(house), answers=said, feedback=voices)
    facts = facts._replace(folders=[folder(use, path) for use, path in _folders(house)])
    return asyncio.run(_asked(wish, house, facts))


def _built(source: Source) -> tuple[House | None, Configuration]:
    try:
        house = build(source)
    except ConfigFault as fault:
        return None, Configuration(str(source.path), tuple(map(str, fault.complaints)))
    return house, Configuration(str(source.path), (), house.revision, len(house.rules))


async def _asked(wish: Wish, house: House | None, facts: Facts) -> Facts:
    """What others know, all asked at once."""
    async with Asker() as asker:
        replicas = asyncio.gather(*(asker.replica(one, wish.seconds) for one in _addresses(house)))
        servers = asyncio.gather(*(server(use, url) for use, url in _redis(house)))
        ready = asyncio.ensure_future(asker.ask(f"{facts.address}/readyz")) if facts.address else None
        watch = asyncio.ensure_future(asker.alerts(wish.prometheus)) if wish.prometheus else None
        found: Sequence[Server] = await servers
        facts = facts._replace(replicas=await replicas, servers=found)
        if ready:
            facts = facts._replace(gateway=await ready)
        if watch:
            reply, firing = await watch
            trends = await asker.trends(wish.prometheus or "") if reply.status == 200 else ()
            facts = facts._replace(prometheus=reply, alerts=firing, trends=trends)
    return facts


def _address(house: House | None) -> str:
    """Where this configuration listens, as this machine reaches it."""
    if house is None or not house.file.listen.port:
        return ""
    host = house.file.listen.host
    host = "127.0.0.1" if host in _ANYWHERE else host
    return f"http://{f'[{host}]' if ':' in host else host}:{house.file.listen.port}"


def _addresses(house: House | None) -> Iterator[Address]:
    for spec in house.file.backends if house else ():
        key = os.environ.get(getattr(spec, "key_env", None) or "", "")
        secret = os.environ.get(SECRET, "") if spec.type == "vllm" else None
        for url in getattr(spec, "urls", ()):
            yield Address(spec.name, url, getattr(spec, "health_path", "/health"), key, secret)


def _redis(house: House | None) -> Iterator[tuple[str, str]]:
    """What each server is for, and its address, which may hold a password."""
    if house is None:
        return
    queue = house.refine.queue if house.refine else None
    for use, spec in (("store", house.file.retrace.store), ("review queue", queue)):
        if spec is not None and spec.type == "redis":
            yield f"redis ({use})", str(getattr(spec, "address", ""))


def _folders(house: House | None) -> Iterator[tuple[str, Path]]:
    """Where this configuration has files written, and where an engine on this machine keeps its pool."""
    if house is not None:
        yield "rules", house.folder
        if house.file.audit is not None:
            yield "audit", house.folder / house.file.audit.folder
        queue = house.refine.queue if house.refine else None
        if queue is not None and queue.type == "file":
            yield "review queue", (house.folder / queue.path).parent
    pool = Path(os.environ.get("RETRACE_POOL") or "/dev/shm/retrace")
    if pool.exists():
        yield "pool", pool
    if disk := os.environ.get("RETRACE_POOL_DISK"):
        yield "pool, second tier", Path(disk)


def _answers(wish: Wish, house: House | None, step: Callable[[], None]) -> Answers:
    assert wish.log is not None
    load = partial(_model.load, _model.FOLDER) if wish.scores else None
    refine = house.refine if house else None
    doubts = _doubts(refine or Document(shipped.RULES / "refine.yaml").into(RefineFile))
    if load is None:
        return answers.gathered(wish.log, doubts, None, step)
    return _scored(wish.log, doubts, load, step)


def _scored(
    path: Path, doubts: Sequence[Phrases], load: Callable[[], _model.Scorer], step: Callable[[], None]
) -> Answers:
    """With scores if the model is in order."""
    from classifiers.manifest import ModelFault

    try:
        return answers.gathered(path, doubts, load, step)
    except (ModelFault, ImportError) as fault:
        return answers.gathered(path, doubts, None, step)._replace(lacks=f"({fault})")


def _doubts(file: RefineFile) -> list[Phrases]:
    """The words by which the rules of a second reading know that an answer hedges."""
    signs = [sign for tier in file.tiers if isinstance(tier, rules.Plug) for sign in tier.signs]
    return [phrases for sign in signs if sign.means == "doubt" for phrases in (sign.zh, sign.en)]
