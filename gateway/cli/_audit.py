"""The audit log that a configuration names, for commands that read it: only gateway.yaml itself is read for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from gateway.cli._shared import errors, explained
from gateway.errors import Complaint, ConfigFault

Folder = Annotated[
    Path | None, typer.Argument(help="The folder of the log; if absent, the one that gateway.yaml names (`audit`).")
]


def named(config: Path) -> Path:
    """The folder of a configuration's audit log; that there is none is told, and ends the command."""
    from gateway.mainfile import GatewayFile
    from gateway.yamlfile import Document

    with explained():
        document = Document(config)
        spec = document.into(GatewayFile).audit
        if spec is None:
            fix = "write `audit: {}` to keep one, or name its folder"
            raise ConfigFault([document.complain(("audit",), "there is no audit log", fix)])
        return config.parent / spec.folder


def there(folder: Path) -> Path:
    """The folder, if it holds a log; that it does not is told, and ends the command."""
    from gateway.audit import _files

    with explained():
        if not _files.chains(folder):
            fix = "name the folder that holds w0-00000001.jsonl; a gateway makes it once `audit` stands in gateway.yaml"
            raise ConfigFault([Complaint(folder, None, "", "there is no audit log", fix)])
    return folder


@contextmanager
def reading() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Bars on stderr: `begin(what, bytes)` gives what is told of each part that was read."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=errors(), transient=True) as progress:

        def begin(what: str, total: int) -> Callable[[int], None]:
            task: TaskID = progress.add_task(what, total=total)
            return lambda count: progress.advance(task, count)

        yield begin


@contextmanager
def unreadable(folder: Path) -> Iterator[None]:
    """That files can't be read is told, and ends the command."""
    import sqlite3

    with explained():
        try:
            yield
        except PermissionError as fault:
            fix = "only the user who runs the gateway may read it: run this as that user"
            raise ConfigFault([Complaint(Path(fault.filename or folder), None, "", "can't be read", fix)]) from fault
        except OSError as fault:
            fix = "look at the disk, then run it again"
            raise ConfigFault([Complaint(folder, None, "", f"can't be read: {fault}", fix)]) from fault
        except sqlite3.Error as fault:
            fix = "another program may hold it; else remove index.db there: it is made anew of the log"
            raise ConfigFault([Complaint(folder, None, "", f"its index can't be used: {fault}", fix)]) from fault
