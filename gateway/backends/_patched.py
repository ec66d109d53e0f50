"""The plugin inside a vLLM: whether a replica has it, what it is asked with a request, and the verdicts it is told.

Verdicts travel behind the client's back: they wait in a bounded queue and are sent by tasks of the backend.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

import orjson

from gateway.backends import Outcome, Plan
from gateway.backends._replicas import Engine, Replica
from gateway.leaves import parsed

log = logging.getLogger(__name__)

SECRET = "RETRACE_ENGINE_SECRET"  # the environment variable, here and at the engine
MOST = 1024  # verdicts that wait; one more displaces the oldest, whose capture then runs out of time by itself
SENDERS = 4  # verdicts on their way at once
ASK_AGAIN = 12  # looks at a replica's health between two questions for its plugin
PAUSE = 0.5  # seconds before a verdict is sent once more
FLUSH = 1.0  # seconds that stopping may take to send what waits

_REFUSED = (401, 403)
_HEALTH = "/retrace/v1/health"
_CAPTURES = "/retrace/v1/captures/"

# method, address, headers, body -> status and body; status 0 if there was no answer in time
Ask = Callable[[str, str, Mapping[str, str], bytes], Awaitable[tuple[int, bytes]]]


class Captured:
    """A capture that one replica was asked to make."""

    __slots__ = ("_decided", "_enqueue", "_plan", "asked", "id", "replica", "report")

    def __init__(self, replica: Replica, plan: Plan, enqueue: Callable[[Ruling], None]) -> None:
        self.id = secrets.token_hex(16)
        self.replica = replica
        self.report: Mapping[str, Any] | None = None
        self.asked: Mapping[str, Any] = {"capture": self.id, "donor": None, "mode": "none"}
        self._plan, self._enqueue = plan, enqueue
        self._decided = False

    def keep(self, reason: str, terms: Mapping[str, Any]) -> None:
        self._decide(Ruling(self, "POST", reason, orjson.dumps({"reason": reason, **terms})))

    def drop(self, reason: str) -> None:
        self._decide(Ruling(self, "DELETE", reason, b""))

    def _decide(self, ruling: Ruling) -> None:
        if not self._decided:
            self._decided = True
            self._enqueue(ruling)

    def tell(
        self,
        verdict: Literal["kept", "dropped", "gone", "failed", "lost"],
        reason: str,
        report: Mapping[str, Any] | None = None,
    ) -> None:
        """Tell whoever made the plan what became of it."""
        self._plan.told(Outcome(self.id, self.replica.url, verdict, reason, self.report or report))


class Ruling(NamedTuple):
    """A verdict on its way to the engine."""

    capture: Captured
    method: Literal["POST", "DELETE"]
    reason: str
    body: bytes


class Plugin:
    """What one backend has to do with the plugin of its replicas. `start` comes first."""

    def __init__(self, name: str, secret: str = "") -> None:
        self._name = name
        self._headers = {"content-type": "application/json", **({"x-retrace-secret": secret} if secret else {})}
        self._waiting: asyncio.Queue[Ruling] = asyncio.Queue(MOST)
        self._looks: dict[str, int] = {}  # how many more pass before a replica is asked again
        self._warned: set[str] = set()
        self._ask: Ask

    def start(self, ask: Ask) -> list[asyncio.Task[None]]:
        """The tasks that send verdicts, until they are cancelled."""
        self._ask = ask
        return [asyncio.create_task(self.run()) for _ in range(SENDERS)]

    async def look(self, replica: Replica, changed: bool) -> None:
        """Ask a healthy replica, now and then, whether it has the plugin: at once if its health has `changed`."""
        left = self._looks.get(replica.url, 0)
        if left and not changed:
            self._looks[replica.url] = left - 1
            return
        status, body = await self._ask("GET", replica.url + _HEALTH, self._headers, b"")
        told = parsed(body) if status == 200 else {}
        engine = _engine(told)
        if status in _REFUSED:
            self._warn(replica, status)
        if (engine is None) is not (replica.engine is None):
            words = f"has the plugin; modes {', '.join(sorted(engine.modes))}" if engine else "has no plugin (any more)"
            log.info("%s %s %s", self._name, replica.url, words)
        replica.engine = engine
        if engine:
            self._warned.discard(replica.url)
        starting = "plugin" in told and engine is None
        self._looks[replica.url] = 0 if status == 0 or status >= 500 or starting else ASK_AGAIN

    def added(self, body: bytes, plan: Plan, replica: Replica, engine: Engine) -> tuple[bytes, Captured | None]:
        """The body with what the plan adds to it for this replica, and the capture that it asks for."""
        more: dict[str, Any] = {"cache_salt": plan.salt}
        capture = None
        if plan.captures:
            capture = Captured(replica, plan, self.enqueue)
            capture.asked = {**capture.asked, **_injection(plan, replica, engine), **plan.more}
            more["kv_transfer_params"] = {"retrace": capture.asked}
        return body[:-1] + b"," + orjson.dumps(more)[1:], capture

    def enqueue(self, ruling: Ruling) -> None:
        """Send it when there is time."""
        if self._waiting.full():
            self._lose()
        self._waiting.put_nowait(ruling)

    async def run(self) -> None:
        """Send verdicts, for ever."""
        while True:
            ruling = await self._waiting.get()
            try:
                await self._send(ruling)
            except asyncio.CancelledError:
                ruling.capture.tell("lost", ruling.reason)
                raise
            finally:
                self._waiting.task_done()

    async def flush(self) -> None:
        """Send what waits as far as that is quickly done; the rest is lost."""
        try:
            async with asyncio.timeout(FLUSH):
                await self._waiting.join()
        except TimeoutError:
            while not self._waiting.empty():
                self._lose()

    def _lose(self) -> None:
        oldest = self._waiting.get_nowait()
        self._waiting.task_done()
        oldest.capture.tell("lost", oldest.reason)

    async def _send(self, ruling: Ruling) -> None:
        capture = ruling.capture
        if not capture.replica.healthy:  # to wait for it would hold up the others
            capture.tell("failed", ruling.reason)
            return
        status, body = await self._try(ruling)
        if status == 0 or status >= 500:
            await asyncio.sleep(PAUSE)
            status, body = await self._try(ruling)
        report = parsed(body).get("report")
        report = report if isinstance(report, dict) else None
        if 200 <= status < 300:
            capture.tell("kept" if ruling.method == "POST" else "dropped", ruling.reason, report)
            return
        if status in _REFUSED:
            self._warn(capture.replica, status)
        capture.tell("gone" if status in (404, 410) else "failed", ruling.reason, report)

    async def _try(self, ruling: Ruling) -> tuple[int, bytes]:
        capture = ruling.capture
        return await self._ask(ruling.method, capture.replica.url + _CAPTURES + capture.id, self._headers, ruling.body)

    def _warn(self, replica: Replica, status: int) -> None:
        """Once, until it is set right."""
        if replica.url not in self._warned:
            self._warned.add(replica.url)
            told = "%s %s answered %s when asked for its plugin: retrace is off there; if it has one, set %s as there"
            log.warning(told, self._name, replica.url, status, SECRET)


def _injection(plan: Plan, replica: Replica, engine: Engine) -> dict[str, Any]:
    """The donor, if this is the replica that holds it, in the best mode that policy and engine both know."""
    donor = plan.donor
    if donor and donor.replica == replica.url:
        mode = "prefix" if donor.mode == "splice" and "splice" not in engine.modes else donor.mode
        if mode == "none" or mode in engine.modes:  # none: its terms alone count
            return {"donor": donor.capture, "mode": mode, **donor.terms}
    return {"donor": None, "mode": "none"}


def _engine(told: Mapping[str, Any]) -> Engine | None:
    """The engine behind the plugin; None if there is no plugin, or if it does not know its engine yet."""
    engine = told.get("engine") if "plugin" in told else None
    if not isinstance(engine, dict) or not isinstance(engine.get("modes"), list):
        return None
    return Engine(str(engine.get("fingerprint")), frozenset(str(mode) for mode in engine["modes"]))
