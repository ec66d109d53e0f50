"""What tests stand on: a real gateway on a real socket, and an upstream that sends exactly the bytes it is told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml

from gateway.backends._http import HttpBackend
from gateway.config import Source
from gateway.server import Server
from gateway.workers import bound

REASONS: dict[str, Any] = {
    "R101": {"name": "sensitive.content", "meaning": "m", "message": {"en": "Not this.", "zh": "此内容不可。"}},
    "R102": {"name": "personal.data", "meaning": "m", "message": {"en": "Personal data.", "zh": "个人信息。"}},
    "R201": {"name": "prompt.injection", "meaning": "m", "message": {"en": "No.", "zh": "不。"}},
    "R307": {"name": "format.violation", "meaning": "m", "message": {"en": "Format.", "zh": "格式。"}},
    "R900": {"name": "guard.broken", "meaning": "m", "status": 503, "message": {"en": "Broken.", "zh": "故障。"}},
}


@dataclass(slots=True)
class Seen:
    """A request that reached the upstream."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    closed: asyncio.Event = field(default_factory=asyncio.Event)  # the gateway has closed this connection

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


Script = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


class RawUpstream:
    """A TCP server that reads one HTTP request after the other and lets a script answer with whatever bytes."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.plugin: Script = answers(b"", 404)  # what speaks in the plugin's place; by default there is none
        self.seen: list[Seen] = []
        self.open = 0  # requests being answered

    @property
    def calls(self) -> list[Seen]:
        """The requests that ask for something (health checks and the plugin's left out)."""
        return [s for s in self.seen if s.path not in ("/health", "/v1/models") and not s.path.startswith("/retrace/")]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while seen := await _request(reader):
                self.seen.append(seen)
                if seen.path == "/health":
                    writer.write(http(b"{}"))
                    continue
                if seen.path.startswith("/retrace/"):
                    await self.plugin(seen, writer)
                    continue
                self.open += 1
                answer = asyncio.ensure_future(self.script(seen, writer))
                gone = asyncio.ensure_future(reader.read(1))
                await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
                self.open -= 1
                if gone.done():
                    gone.exception()  # a reset is a way to leave, too
                    seen.closed.set()
                    answer.cancel()
                    return
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)
                answer.result()
                await writer.drain()
                if writer.is_closing():
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, body)


def http(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP response."""
    told = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    return f"HTTP/1.1 {status} X\r\n".encode() + _lines(told) + body


def stream_head(headers: Mapping[str, str] | None = None) -> bytes:
    """The head of a chunked event stream."""
    told = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **(headers or {})}
    return b"HTTP/1.1 200 OK\r\n" + _lines(told)


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode() + b"\r\n"


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; the empty one ends it."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
    """One chat chunk as an SSE event."""
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **more,
    }
    return b"data: " + orjson.dumps(data) + b"\n\n"


def delta(text: str | None = None, index: int = 0, finish: str | None = None, **fields: Any) -> bytes:
    """A chat chunk of one choice."""
    said = {**({} if text is None else {"content": text}), **fields}
    return event([{"index": index, "delta": said, "logprobs": None, "finish_reason": finish}])


def usage_event(prompt: int = 7, completion: int = 5) -> bytes:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return event([], usage=counts)


DONE = b"data: [DONE]\n\n"


def text_delta(text: str = "", index: int = 0, finish: str | None = None, **more: Any) -> bytes:
    """A chunk of /v1/completions."""
    choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish, **more}
    data = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + orjson.dumps(data) + b"\n\n"


def text_stream(*texts: str) -> list[bytes]:
    """The events of an ordinary answer of /v1/completions."""
    return [*(text_delta(text) for text in texts), text_delta(finish="stop"), usage_event(), DONE]


def chat_stream(*texts: str, done: bool = True) -> list[bytes]:
    """The events of an ordinary answer."""
    events = [delta("", role="assistant"), *(delta(text) for text in texts), delta(finish="stop"), usage_event()]
    return [*events, DONE] if done else events


def completion(text: str, **fields: Any) -> bytes:
    """The body of an ordinary answer that is not streamed."""
    message = {"role": "assistant", "content": text, **fields}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    return orjson.dumps(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


def streams(pieces: Iterable[bytes], pause: float = 0.0, headers: Mapping[str, str] | None = None) -> Script:
    """A script that streams these pieces, each as its own chunk, and ends the body."""

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head(headers))
        for piece in pieces:
            writer.write(chunk(piece))
            await writer.drain()
            await asyncio.sleep(pause)
        writer.write(chunk(b""))

    return script


def answers(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Script:
    """A script that sends one whole response."""

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(http(body, status, headers))

    return script


@asynccontextmanager
async def upstream(script: Script) -> AsyncIterator[tuple[str, RawUpstream]]:
    """A running raw upstream: its address, and what it saw."""
    raw = RawUpstream(script)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", raw
    finally:
        server.close()


@dataclass(slots=True)
class Running:
    """A running gateway."""

    url: str
    server: Server
    folder: Path
    http: aiohttp.ClientSession

    async def chat(
        self, text: str = "hi", headers: Mapping[str, str] | None = None, **fields: Any
    ) -> aiohttp.ClientResponse:
        """A chat request; the caller reads the response."""
        body = {"model": "m", "messages": [{"role": "user", "content": text}], **fields}
        return await self.http.post(f"{self.url}/v1/chat/completions", json=body, headers=headers)

    async def ask(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> bytes:
        """The body of the answer to any request that is answered with 200."""
        async with self.http.post(f"{self.url}{path}", json=body, headers=headers) as response:
            assert response.status == 200, (response.status, await response.read())
            return await response.read()

    async def metrics(self) -> dict[str, float]:
        """What /metrics says: `name{labels}` -> value."""
        async with self.http.get(f"{self.url}/metrics") as response:
            lines = (await response.text()).splitlines()
        return {
            name: float(value)
            for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
        }


def write_config(folder: Path, urls: list[str], rules: list[dict[str, Any]], **fields: Any) -> Path:
    """gateway.yaml and the files it names, in `folder`."""
    backend = {"name": "up", "type": "vllm", "urls": urls, **fields.pop("backend", {})}
    files = {
        "gateway.yaml": {"listen": {"port": 0}, "backends": [backend], "rules": ["rules.yaml"], **fields},
        "rules.yaml": {"rules": rules},
        "reasons.yaml": {"reasons": REASONS},
    }
    for name, value in files.items():
        text = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "gateway.yaml"


@asynccontextmanager
async def gateway(
    folder: Path, urls: list[str], rules: list[dict[str, Any]] | None = None, **fields: Any
) -> AsyncIterator[Running]:
    """A gateway on a free port in front of `urls`, with `rules`; `fields` go into gateway.yaml (`backend`: there)."""
    async with serving(write_config(folder, urls, rules or [], **fields)) as running:
        yield running


@asynccontextmanager
async def serving(config: Path) -> AsyncIterator[Running]:
    """A gateway on a free port, from the files as they are."""
    server = Server(Source(config))
    sock = bound("127.0.0.1", 0)
    await server.start(sock)
    async with aiohttp.ClientSession(auto_decompress=True) as session:
        try:
            yield Running(f"http://127.0.0.1:{sock.getsockname()[1]}", server, config.parent, session)
        finally:
            await server.stop()


def rule(
    check: dict[str, Any], action: str = "block", side: str = "output", reason: str = "R101", **fields: Any
) -> dict[str, Any]:
    """A rule; its id is made from the check's type unless given."""
    return {"id": f"{side}.{check['type']}", "side": side, "check": check, "action": action, "reason": reason, **fields}


def regex(pattern: str, **fields: Any) -> dict[str, Any]:
    return rule({"type": "regex", "pattern": pattern}, **fields)


def payloads(body: bytes) -> list[Any]:
    """The JSON payloads of an SSE body ([DONE] as a text)."""
    datas = [block.removeprefix(b"data: ") for block in body.split(b"\n\n") if block.startswith(b"data: ")]
    return ["[DONE]" if data == b"[DONE]" else orjson.loads(data) for data in datas]


def said(body: bytes, index: int = 0, name: str = "content") -> str:
    """The text of one choice of a streamed chat answer."""
    chunks = [data for data in payloads(body) if isinstance(data, dict)]
    choices = [choice for data in chunks for choice in data.get("choices", ()) if choice["index"] == index]
    return "".join(choice["delta"].get(name) or "" for choice in choices)


# What a gateway must look like when nothing is going on, and a client that does what no library would.


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.005)


FOR_EVER = (
    "Hire._run",  # who writes the audit log is heard
    "Steward.watch",
    "HttpBackend._watch",
    "Watch.run",
    "Plugin.run",
    "Redis._watch",
    "Teller.run",
    "Link._read",
    "Backlog.run",
    "Docket._run",
    "Watchman._read_on",
    "Watchman._repeat_on",
    "Keeper.run",
)  # tasks that end with the gateway


def strays() -> list[str]:
    """Tasks of the gateway that serve a request or clean up after one; none may be left when all is quiet."""
    names = []
    for task in asyncio.all_tasks():
        coro = task.get_coro()
        code = getattr(coro, "cr_code", None)
        name = getattr(coro, "__qualname__", repr(coro))
        ours = code is not None and "/gateway/" in code.co_filename and name not in FOR_EVER
        if ours or "_handle_request" in name or "athrow" in repr(coro) or "asend" in repr(coro):
            names.append(name)
    return names


async def quiet(running: Running, seconds: float = 10.0) -> None:
    """The gateway still answers, nothing is on its way through it, and nothing was left behind."""
    try:
        async with asyncio.timeout(seconds):
            while (await running.metrics())["retrace_in_flight"] or strays() or _taken(running):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    except TimeoutError:
        told = await running.metrics()
        raise AssertionError(
            f"left: in_flight {told['retrace_in_flight']}, tasks {strays()}, upstream slots {_taken(running)}"
        ) from None
    async with running.http.get(f"{running.url}/healthz") as response:
        assert response.status == 200


def _taken(running: Running) -> int:
    """Replica slots that are still taken."""
    backends = [backend for _, backend in running.server._fleet._living]
    return sum(replica.in_flight for b in backends if isinstance(b, HttpBackend) for replica in b._replicas.all)


def post(body: bytes | Mapping[str, Any], path: str = "/v1/chat/completions", **headers: str) -> bytes:
    """A POST request as bytes; `_` in header names means `-`."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    told = {"host": "localhost", "content-type": "application/json", "content-length": str(len(raw))}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    return f"POST {path} HTTP/1.1\r\n".encode() + _lines(told) + raw


CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
PROMPT: dict[str, Any] = {"model": "m", "prompt": "hi"}


@asynccontextmanager
async def wire(running: Running) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the gateway."""
    port = int(running.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def answered(running: Running, raw: bytes, seconds: float = 5.0) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body that raw bytes are answered with. The body needs a length, or ends the connection."""
    async with wire(running) as (reader, writer), asyncio.timeout(seconds):
        writer.write(raw)
        return await response(reader)


async def response(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Read one response."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    length = headers.get("content-length")
    body = await reader.readexactly(int(length)) if length else await reader.read()
    return int(first.split(" ")[1]), headers, body


async def silent(_seen: Seen, _writer: asyncio.StreamWriter) -> None:
    """A script that never says anything."""
    await asyncio.Event().wait()


def raw_answer(*pieces: bytes, pause: float = 0.0, close: bool = True, hang: bool = False) -> Script:
    """A script that sends these very bytes, head included; then it closes, waits for ever, or neither."""

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if hang:
            await asyncio.Event().wait()
        if close:
            writer.close()

    return script


def shaped(body: bytes) -> dict[str, Any]:
    """The error of an OpenAI error body; fails if it has another shape."""
    error: dict[str, Any] = orjson.loads(body)["error"]
    assert isinstance(error["message"], str), error
    assert error["message"], error
    assert error["type"], error
    assert {"code", "param"} <= error.keys(), error
    assert "None" not in (error["type"], error["code"], error["param"]), error
    return error


@contextmanager
def black_hole() -> Iterator[str]:
    """An address at which nobody answers the door: its queue is full."""
    with ExitStack() as all_closed:
        trap = all_closed.enter_context(socket.socket())
        trap.bind(("127.0.0.1", 0))
        trap.listen(0)
        for _ in range(4):
            visitor = all_closed.enter_context(socket.socket())
            visitor.setblocking(False)
            visitor.connect_ex(trap.getsockname())
        yield f"http://127.0.0.1:{trap.getsockname()[1]}"
