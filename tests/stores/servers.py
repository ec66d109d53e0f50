"""Servers that are no Redis, or a Redis far away: what a store may meet at its address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

SOON = 20.0  # seconds, for what takes one or two on an idle machine
Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(speak: Speak) -> AsyncIterator[str]:
    """The address of a server that speaks so."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await speak(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await asyncio.sleep(0.05)  # so that each has seen it


def says(words: bytes) -> Speak:
    """Answers everything with these words."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1 << 16):
            writer.write(words)
            await writer.drain()

    return speak


def far_from(port: int, seconds: float) -> Speak:
    """All that the server at this port says, so much later."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        near_reader, near_writer = await asyncio.open_connection("127.0.0.1", port)

        async def there() -> None:
            while data := await reader.read(1 << 16):
                near_writer.write(data)
            near_writer.close()

        passing = asyncio.create_task(there())
        while data := await near_reader.read(1 << 16):
            await asyncio.sleep(seconds)
            writer.write(data)
        await passing

    return speak
