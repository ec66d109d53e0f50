"""The plugin's routes before a server of the engine's kind, and who calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from gateway.kv.api import RetraceMiddleware


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"the engine's own {request.url.path} {(await request.body()).decode()}")


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())
    await socket.close()


def server(**options: Any) -> Starlette:
    routes = [Route("/{rest:path}", hello, methods=["GET", "POST"]), WebSocketRoute("/{rest:path}", echo)]
    app = Starlette(routes=routes)
    app.add_middleware(RetraceMiddleware, **{"report_seconds": 0.0} | options)
    return app


@asynccontextmanager
async def caller(peer: str | None = "127.0.0.1", **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(server(**options), client=(peer, 1))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://engine/retrace/v1") as client:
        yield client


def told(response: httpx.Response, status: int, code: str) -> str:
    """The message of an error of the agreed shape."""
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    assert response.json()["error"]["code"] == code
    message: str = response.json()["error"]["message"]
    assert message
    return message
