"""A real redis-server of a test's own: on a free port and a unix socket, in a temporary folder, keeping nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from deploy.setup import ports
from deploy.setup.redis import ensure

_SECONDS = 20.0  # for it to start or to end, on a machine that is busy


class RedisServer:
    """One server, which may be frozen, killed, and started again at the same address."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.port = folder, ports.free()
        self.path = folder / "redis.sock"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        for _ in range(4):
            try:
                self.start()
                return
            except RuntimeError:  # others look for a free port at the same time
                self.port = ports.free()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def unix_url(self) -> str:
        return f"unix://{self.path}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "it does not run"
        return self._process.pid

    def start(self, *options: str) -> None:
        """It answers when this returns."""
        command: Sequence[str] = [
            *(str(ensure()), "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", str(self.path)),
            *("--save", "", "--appendonly", "no", "--dir", str(self.folder), "--daemonize", "no"),
            *(self._options + options),
        ]
        log = (self.folder / "redis.log").open("ab")
        with log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + _SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"redis-server did not start:\n{(self.folder / 'redis.log').read_text()}")
            time.sleep(0.02)

    def freeze(self) -> None:
        """It holds its connections, and takes new ones, but says nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """It is gone, with all it knew."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_SECONDS)
            self._process = None

    def ask(self, *command: str | bytes | int) -> Any:
        """A command, on a connection of its own."""
        with Redis(port=self.port) as client:
            return client.execute_command(*command)

    def all_keys(self) -> list[bytes]:
        keys: list[bytes] = self.ask("KEYS", "*")
        return keys

    @contextmanager
    def watched(self) -> Iterator[list[bytes]]:
        """All that the server is asked to do meanwhile, by scripts too, a line each as MONITOR tells it."""
        seen: list[bytes] = []
        with socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS) as line:
            line.sendall(b"MONITOR\r\n")
            stream = line.makefile("rb")
            assert stream.readline() == b"+OK\r\n"
            yield seen
            self.ask("ECHO", "that was all")
            while b"that was all" not in (told := stream.readline()):
                seen.append(told)
            stream.close()

    def _answers(self) -> bool:
        """Whether it runs, and not another one at its port; one that wants a password or is full does."""
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(1)
                line.connect(str(self.path))
                line.sendall(b"PING\r\n")
                return line.recv(64).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False


@contextmanager
def redis_server(*options: str) -> Iterator[RedisServer]:
    """A server that is gone afterwards, whatever a test has done to it."""
    with tempfile.TemporaryDirectory(prefix="retrace-redis-") as folder:
        server = RedisServer(Path(folder), *options)
        try:
            yield server
        finally:
            server.kill()
