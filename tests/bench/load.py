"""A load: some connections that each send the next request as soon as the last answer is complete."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import cast

import orjson

_NAMES = ("order", "refund", "ledger", "batch", "courier", "invoice", "voucher", "basket", "parcel", "branch")


def prompt() -> str:
    """About 400 words, no sentence twice."""
    pairs = [(one, two) for one in _NAMES for two in _NAMES if one < two]
    return " ".join(f"Please explain how the {one} of a shop differs from its {two}." for one, two in pairs[:36])


# As many headers as an SDK sends.
_HEADERS = "".join(
    f"{name}: {value}\r\n"
    for name, value in {
        "host": "127.0.0.1",
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "AsyncOpenAI/Python 3.57.0",
        "authorization": "Bearer none",
        "x-stainless-lang": "python",
        "x-stainless-package-version": "3.57.0",
        "x-stainless-os": "Linux",
        "x-stainless-arch": "x64",
        "x-stainless-runtime": "CPython",
        "x-stainless-runtime-version": "3.11.7",
        "x-stainless-async": "async:asyncio",
        "x-stainless-retry-count": "0",
        "x-stainless-read-timeout": "600",
    }.items()
)


def request(model: str, stream: bool) -> bytes:
    """One chat request, with a prompt of about 400 words."""
    body = orjson.dumps({"model": model, "stream": stream, "messages": [{"role": "user", "content": prompt()}]})
    return f"POST /v1/chat/completions HTTP/1.1\r\n{_HEADERS}content-length: {len(body)}\r\n\r\n".encode() + body


@dataclass(slots=True)
class Lap:
    """What one lap measured."""

    seconds: float
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def quantile(self, share: float) -> float:
        """Milliseconds."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class _Connection(asyncio.Protocol):
    def __init__(self, payload: bytes, lap: Lap, until: float) -> None:
        self._payload, self._lap, self._until = payload, lap, until
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's is none of asyncio's classes
        self._send()

    def _send(self) -> None:
        self._data = bytearray()
        self._length = -1
        self._start = time.perf_counter()
        self._transport.write(self._payload)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._complete():
            return
        now = time.perf_counter()
        if not self._data.startswith(b"HTTP/1.1 200"):
            self.over.set_exception(RuntimeError(f"the proxy answered {bytes(self._data[:300])!r}"))
            self._transport.close()
            return
        self._lap.latencies.append(now - self._start)
        if now < self._until:
            self._send()
        else:
            self._transport.close()

    def _complete(self) -> bool:
        if self._length < 0:
            end = self._data.find(b"\r\n\r\n")
            if end < 0:
                return False
            head = bytes(self._data[:end]).lower()
            _, mark, rest = head.partition(b"content-length:")
            self._length = end + 4 + int(rest.split(b"\r\n", 1)[0]) if mark else 0
        return len(self._data) >= self._length if self._length else self._data.endswith(b"0\r\n\r\n")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)


async def lap(port: int, payload: bytes, connections: int, seconds: float) -> Lap:
    """`seconds` of load on a local port."""
    loop = asyncio.get_running_loop()
    measured = Lap(seconds)
    start = time.perf_counter()
    made = [
        await loop.create_connection(lambda: _Connection(payload, measured, start + seconds), "127.0.0.1", port)
        for _ in range(connections)
    ]
    async with asyncio.timeout(seconds + 30):
        await asyncio.gather(*(protocol.over for _, protocol in made))
    measured.seconds = time.perf_counter() - start
    return measured


async def ready(port: int) -> None:
    """Wait until somebody answers there; SystemExit if nobody does for ten seconds."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            await lap(port, request("whole", False), 1, 0.01)
            return
        await asyncio.sleep(0.05)
    raise SystemExit(f"nothing answers on port {port}")
