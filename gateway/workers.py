"""One process or several on one port: started, watched, replaced when they die, and ended together."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import secrets
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess

import uvloop

from gateway.config import Source

log = logging.getLogger(__name__)

Ready = Callable[[], None]

_RESTART_PAUSE = 1.0  # seconds between two starts of a worker that keeps dying


def serve(source: Source, host: str, port: int, workers: int, ready: Callable[[int], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is told the port once it is open."""
    sock = bound(host, port)
    if workers == 1:
        work(source, sock, lambda: ready(sock.getsockname()[1]))
        return
    with tempfile.TemporaryDirectory(prefix="retrace-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before any worker imports the metrics library
        os.environ.setdefault("RETRACE_SALT", secrets.token_hex(32))  # one for all, or they would share no cache
        _supervise(source, sock, workers, lambda: ready(sock.getsockname()[1]))


def bound(host: str, port: int) -> socket.socket:
    """A listening address; OSError if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(1024)  # who comes before a worker is ready waits in the queue
    except OSError:
        sock.close()
        raise
    sock.set_inheritable(True)
    return sock


def work(source: Source, sock: socket.socket, ready: Ready | None = None) -> None:
    """One worker, until it is told to end."""
    uvloop.run(_work(source, sock, ready))


async def _work(source: Source, sock: socket.socket, ready: Ready | None) -> None:
    # Here, since the metrics library looks at the environment when it is imported.
    from gateway.server import Server

    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    if parent := multiprocessing.parent_process():
        asyncio.get_running_loop().add_reader(parent.sentinel, stop.set)  # without it nobody would end this one
    server = Server(source)
    await server.start(sock)
    _settle()
    if ready:
        ready()
    await stop.wait()
    await server.stop()


def _settle() -> None:
    """What stands now stays: the collector need not look at it again, and may look at the young less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def _supervise(source: Source, sock: socket.socket, count: int, ready: Ready) -> None:
    context = multiprocessing.get_context("spawn")
    ending = False

    def end(_signal: int, _frame: object) -> None:
        nonlocal ending
        ending = True

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, end)
    ready()
    workers = [_started(context, source, sock) for _ in range(count)]
    while not ending:
        time.sleep(0.2)
        for index, worker in enumerate(workers):
            if not worker.is_alive() and not ending:
                log.error("worker %s died with code %s; a new one takes its place", worker.pid, worker.exitcode)
                _forget(worker.pid)
                time.sleep(_RESTART_PAUSE)
                workers[index] = _started(context, source, sock)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(timeout=10)
        if worker.is_alive():
            worker.kill()


def _started(context: multiprocessing.context.SpawnContext, source: Source, sock: socket.socket) -> BaseProcess:
    process = context.Process(target=work, args=(source, sock), daemon=True)
    process.start()
    return process


def _forget(pid: int | None) -> None:
    """Gauges of a dead worker no longer count; its counters stay, so that sums never fall."""
    from prometheus_client.multiprocess import mark_process_dead

    if pid is not None:
        mark_process_dead(pid)  # type: ignore[no-untyped-call]
