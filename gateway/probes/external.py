"""`type: external`: a team's own verification service, asked over HTTP.

It is sent {"id", "side", "role", "text", "tenant", "model"} and answers {"verdict": "pass" | "flag"}. With a flag it
may say `spans`, a list of [start, end) in characters (code points) of the text, or else it means all; and as `reason`
a code of reasons.yaml instead of the rule's. If it answers anything else, or not in time, the rule is broken and does
what its `on_error` says. After several faults in a row it is left alone for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Literal

import aiohttp
import orjson
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from yarl import URL

from gateway import marks
from gateway.addresses import Keyed, http
from gateway.breaker import Breaker
from gateway.probes import Probe, ProbeFault, ProbeSpec, Question, Sighting

LONGEST = 1 << 18  # bytes of an answer
_ITS_OWN = (400, 413, 422)  # statuses that are about one text, and tell nothing of the service


class Plug(Keyed, ProbeSpec):
    """Asks a verification service of your own (POST, JSON)."""

    type: Literal["external"] = "external"
    url: Annotated[str, AfterValidator(http("http://host:9000/verify"))] = Field(
        examples=["http://127.0.0.1:9000/verify"]
    )
    timeout_ms: float = Field(default=1000.0, gt=0, le=60_000, description="How long a text may wait for its verdict.")
    at_most: int = Field(
        default=64, ge=1, le=10_000, description="Questions on their way at once; more wait, within their time."
    )

    def connect(self) -> Probe:
        return External(self, self.key)


class _Told(BaseModel):
    """What the service says; fields that are not known here are its own affair."""

    verdict: Literal["pass", "flag"]
    spans: tuple[tuple[int, int], ...] = ()
    reason: str | None = None


class External:
    """The living probe. `now` tells seconds."""

    def __init__(self, spec: Plug, key: str | None, now: Callable[[], float] = time.monotonic) -> None:
        self._url, self._seconds = URL(spec.url), spec.timeout_ms / 1000
        self._headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
        self._places = asyncio.Semaphore(spec.at_most)
        self._breaker = Breaker(now)
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            trust_env=False,
        )

    async def stop(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(self, question: Question) -> Sighting:
        """ProbeFault: `open` (left alone for now), `busy` (too many ask), `slow`, `unreachable`, `status_...`,
        `garbage`."""
        if not self._breaker.allows():
            raise ProbeFault("it has failed several times in a row, and is left alone for a while", kind="open")
        clock = asyncio.get_running_loop().time
        asked = ends = clock() + self._seconds
        try:
            async with asyncio.timeout_at(ends), self._places:
                asked = clock()
                sighting = _read(await self._post(question), len(question.text))
        except TimeoutError as fault:
            if ends - asked < self._seconds / 2:  # it was given too little time, or none, to be blamed
                raise ProbeFault("too many ask it at once (`at_most`)", kind="busy") from fault
            self._breaker.failed()
            raise ProbeFault(f"no answer within {1000 * self._seconds:g} ms (`timeout_ms`)", kind="slow") from fault
        except ProbeFault as fault:
            if fault.kind not in _ONE_TEXT:
                self._breaker.failed()
            raise
        self._breaker.succeeded()
        return sighting

    async def _post(self, question: Question) -> bytes:
        """The body of its answer."""
        assert self._session is not None, "start() comes first"
        body = orjson.dumps(question._asdict())
        try:
            headers = marks.carried({})
            async with self._session.post(self._url, data=body, headers=headers, allow_redirects=False) as response:
                if response.status != 200:
                    raise ProbeFault(f"it answered with status {response.status}", kind=f"status_{response.status}")
                told = b""
                while piece := await response.content.readany():
                    told += piece
                    if len(told) > LONGEST:
                        raise ProbeFault(f"its answer is larger than {LONGEST} bytes", kind="garbage")
                return told
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as fault:
            raise ProbeFault(f"it can't be reached: {fault}", kind="unreachable") from fault


_ONE_TEXT = frozenset(f"status_{status}" for status in _ITS_OWN)


def _read(raw: bytes, length: int) -> Sighting:
    """What was found in a text of this length."""
    try:
        told = _Told.model_validate_json(raw)
    except ValidationError as fault:
        raise ProbeFault(
            f"its answer is not what was agreed: {fault.errors(include_url=False, include_input=False)}", kind="garbage"
        ) from fault
    if told.verdict == "pass":
        return Sighting()
    if not all(0 <= start <= end <= length for start, end in told.spans):
        raise ProbeFault(f"its spans do not lie within the {length} characters of the text", kind="garbage")
    return Sighting(told.spans or ((0, length),), told.reason or "")
