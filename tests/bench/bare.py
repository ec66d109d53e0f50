"""What the gateway is compared with: the plainest aiohttp proxy that can be written. It reads, calls, and copies."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

import aiohttp
import uvloop
from aiohttp import web

_HOP = ("transfer-encoding", "content-length", "connection", "date", "server", "host", "authorization")


def _passed(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP}


class Bare:
    """Passes every request on to one upstream."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def session(self, _app: web.Application) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        async with self._session.post(
            self._url + request.path, data=body, headers=_passed(request.headers)
        ) as upstream:
            headers = _passed(upstream.headers)
            if not upstream.headers.get("content-type", "").startswith("text/event-stream"):
                return web.Response(status=upstream.status, headers=headers, body=await upstream.read())
            response = web.StreamResponse(status=upstream.status, headers=headers)
            await response.prepare(request)
            async for chunk in upstream.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response


async def _serve(sock: socket.socket, url: str) -> None:
    bare = Bare(url)
    app = web.Application(client_max_size=64 << 20)
    app.on_startup.append(bare.session)
    app.router.add_post("/{path:.*}", bare.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.SockSite(runner, sock, backlog=1024).start()
    await asyncio.Event().wait()


def run(sock: socket.socket, url: str) -> None:
    """Serve until killed."""
    uvloop.run(_serve(sock, url))
