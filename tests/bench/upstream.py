"""An upstream as fast as Python can be: answers from memory, written to the socket without any HTTP library."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

import orjson
import uvloop

CHUNKS = 64
_TEXT = (
    "The settlement date of an order is the day on which money and goods have both changed hands and a shop that ships "
    "on the same day can book it at once while a bank waits until the clearing house has confirmed the batch so the "
    "two ledgers differ by a day or two which is why the report shows both figures side by side 这是一个例子"
)
_WORDS = _TEXT.split()


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "bench",
    }
    return b"data: " + orjson.dumps({**head, "choices": [choice]}) + b"\n\n"


def pieces() -> list[bytes]:
    """The events of the streamed answer, 64 with text."""
    texts = [(_WORDS[i % len(_WORDS)] if i == 0 else " " + _WORDS[i % len(_WORDS)]) for i in range(CHUNKS)]
    ends = [_event({}, "stop"), b"data: [DONE]\n\n"]
    return [_event({"role": "assistant", "content": ""}), *(_event({"content": text}) for text in texts), *ends]


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM = [_chunk(piece) for piece in pieces()] + [b"0\r\n\r\n"]
BURST = STREAM_HEAD + b"".join(STREAM)


def _whole() -> bytes:
    message = {"role": "assistant", "content": " ".join(_WORDS)}
    usage = {"prompt_tokens": 500, "completion_tokens": 80, "total_tokens": 580}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    head = {"id": "chatcmpl-0123456789abcdef", "object": "chat.completion", "created": 1700000000, "model": "bench"}
    body = orjson.dumps({**head, "choices": [choice], "usage": usage})
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


WHOLE = _whole()


class Upstream(asyncio.Protocol):
    """One connection. The model's name says how to answer: whole, burst, or stream (each piece its own write)."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's is none of asyncio's classes
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._loop = asyncio.get_running_loop()
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, mark, body = self._data.partition(b"\r\n\r\n")
        if not mark or len(body) < length(head):
            return
        self._data = b""
        if b'"model":"stream"' in body:
            self._transport.write(STREAM_HEAD)
            self._loop.call_soon(self._next, 0)
        else:
            self._transport.write(BURST if b'"model":"burst"' in body else WHOLE)

    def _next(self, index: int) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(STREAM[index])
        if index + 1 < len(STREAM):
            self._loop.call_soon(self._next, index + 1)


def length(head: bytes) -> int:
    """How many bytes of a body a head announces."""
    _, mark, rest = head.lower().partition(b"content-length:")
    return int(rest.split(b"\r\n", 1)[0]) if mark else 0


async def _serve(sock: socket.socket, kind: type[Upstream]) -> None:
    server = await asyncio.get_running_loop().create_server(kind, sock=sock, backlog=1024)
    await server.serve_forever()


def run(sock: socket.socket, kind: type[Upstream] = Upstream) -> None:
    """Serve until killed."""
    uvloop.run(_serve(sock, kind))
