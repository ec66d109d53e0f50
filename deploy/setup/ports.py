"""Free ports, and who sits on a busy one."""

import contextlib
import os
import socket
from pathlib import Path

from deploy.setup.say import SetupError


def free() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def require(port: int, what: str, variable: str) -> None:
    """Raise unless `port` can be listened on; the error names who has it and the variable that moves us."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            raise SetupError(
                f"Port {port}, where {what} should listen, is taken by {_owner(port)}.",
                f"stop that program, or choose another port: {variable}={port + 1} make up",
            ) from None


def _owner(port: int) -> str:
    """Who listens on `port`, as far as the kernel lets this user see."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            if any(os.readlink(fd) in sockets for fd in (process / "fd").iterdir()):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                return f"process {process.name} ({command.strip()[:100]})"
    return "another program (of another user, or in another container)"


def _listening(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found
