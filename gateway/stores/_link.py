"""One connection to a Redis server, shared by all who ask. The only file that knows the client library.

Questions go out as they come and are answered in that order, so nobody waits for a connection of his own, and none is
ever opened while a request waits. A question that nobody waits for any more costs nothing but its answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from redis import exceptions as faults
from redis.asyncio.connection import AbstractConnection, Connection, parse_url

Kind: TypeAlias = Literal["timeout", "unreachable", "refused", "garbage"]
Command: TypeAlias = Sequence[bytes | str | int]


class Fault(Exception):
    """There is no answer; `kind` says why. `said` is the server's own word for it, if it has one."""

    def __init__(self, kind: Kind, said: str = "") -> None:
        super().__init__(said or kind)
        self.kind = kind
        self.said = said


class Refusal(Fault):
    """The server understands, and will not. `unknown_script`: it only needs to be told the script again."""

    def __init__(self, said: str, unknown_script: bool = False) -> None:
        super().__init__("refused", said)
        self.unknown_script = unknown_script


def check_url(url: str) -> None:
    """ValueError if this is no address that a link could have. Opens nothing."""
    _connection(url)


# What the client library and the network raise; what is in no line is garbage.
_KINDS: Sequence[tuple[tuple[type[Exception], ...], Kind]] = (
    ((faults.AuthenticationError, faults.AuthorizationError, faults.BusyLoadingError), "refused"),
    ((faults.ResponseError,), "refused"),
    ((TimeoutError, faults.TimeoutError), "timeout"),
    ((OSError, faults.ConnectionError), "unreachable"),
)
_RAISED = (faults.RedisError, OSError, ValueError)


class Link:
    """Closed until it is opened; closed again as soon as it breaks."""

    def __init__(self, url: str) -> None:
        check_url(url)
        self._url = url
        self._connection: AbstractConnection | None = None
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._reader: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    async def open(self, seconds: float) -> None:
        """Connect and sign in. Fault if that can't be done in so many seconds."""
        connection = _connection(self._url)
        try:
            async with asyncio.timeout(seconds):
                await connection.connect()  # type: ignore[no-untyped-call]
        except BaseException as fault:
            await connection.disconnect(nowait=True)
            if isinstance(fault, _RAISED):
                raise _explained(fault) from fault
            raise
        self._connection = connection
        self._reader = asyncio.create_task(self._read(connection))

    async def close(self) -> None:
        """Whoever still waits hears that it is unreachable."""
        reader, self._reader = self._reader, None
        if reader:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        await self._shut(Fault("unreachable"))

    async def ask(self, *command: bytes | str | int) -> Any:
        """The answer. Fault if there is none."""
        (answer,) = await self.ask_all([command])
        if isinstance(answer, Refusal):
            raise answer
        return answer

    async def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        """All answers, refusals among them, in one round trip. Fault if the connection breaks before the last."""
        connection = self._connection
        if connection is None or not connection.is_connected:
            raise Fault("unreachable")
        asked = [asyncio.get_running_loop().create_future() for _ in commands]
        self._waiting.extend(asked)
        try:
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
            answers = [await answer for answer in asked]
        except _RAISED as fault:
            raise _explained(fault) from fault
        finally:
            for answer in asked:
                answer.cancel()
        for answer in answers:
            if isinstance(answer, Fault) and not isinstance(answer, Refusal):
                raise answer
        return answers

    async def _read(self, connection: AbstractConnection) -> None:
        """Give each answer to who has asked first, for as long as there are any."""
        try:
            while True:
                try:
                    answer = await connection.read_response(disconnect_on_error=False)
                except faults.ResponseError as refusal:
                    answer = Refusal(_word(refusal), isinstance(refusal, faults.NoScriptError))
                if not self._waiting:
                    raise ValueError("an answer that nobody has asked for")
                asked = self._waiting.popleft()
                if not asked.done():
                    asked.set_result(answer)
        except _RAISED as fault:
            await self._shut(_explained(fault))

    async def _shut(self, fault: Fault) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.disconnect(nowait=True)
        while self._waiting:
            asked = self._waiting.popleft()
            if not asked.done():
                asked.set_result(fault)


def _connection(url: str) -> AbstractConnection:
    fields = dict(parse_url(url))
    kind: Any = fields.pop("connection_class", Connection)
    # Time is kept by who asks. The old protocol needs no handshake, and every server speaks it.
    fields |= {"protocol": 2, "socket_timeout": None, "driver_info": None, "health_check_interval": 0}
    try:
        connection: AbstractConnection = kind(**fields)
    except (TypeError, faults.RedisError) as fault:
        raise ValueError("this address has options that are not known") from fault
    return connection


def _explained(fault: Exception) -> Fault:
    kind: Kind = next((kind for raised, kind in _KINDS if isinstance(fault, raised)), "garbage")
    return Refusal(_word(fault)) if kind == "refused" else Fault(kind)


def _word(fault: Exception) -> str:
    """The server's code for it, such as OOM; the rest of what it says may hold anything."""
    return getattr(fault, "status_code", None) or type(fault).__name__
