"""One at a time: two commands that would make the same thing take turns, also across clones."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from deploy.setup.say import tell


@contextlib.contextmanager
def exclusively(lock: Path, what: str) -> Iterator[None]:
    """Hold `lock` while the block runs. Says so if it has to wait; a holder that dies frees it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"  … another command is at the {what}; waiting for it")
            fcntl.flock(f, fcntl.LOCK_EX)
        yield
