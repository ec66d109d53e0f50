"""What the set-up tells the person in front of it: a line for each step, live while it lasts, a hint on
failure.
"""

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

QUIET_SECONDS = 10.0
"""Without a terminal (CI, a log file) a live line cannot be redrawn: it is repeated this often instead."""


class SetupError(Exception):
    """A step cannot go on. Holds what happened and what to do about it."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what)
        self.what = what
        self.do = do


class Step:
    """One step that takes a while: `now` says what it is at, `done` closes its line.

    A thread keeps the line moving, so that a long silent part does not look dead.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._note = ""
        self._terminal = sys.stdout.isatty()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def now(self, note: str) -> None:
        """What the step is doing from now on; cheap to call often."""
        self._note = note

    def done(self, note: str) -> None:
        """The step is over and well."""
        self.close()
        tell(f"  ✓ {self._title}: {note} ({self._seconds():.1f} s)")

    def close(self) -> None:
        """Wipe the live line, so that what comes next stands on a line of its own."""
        if not self._over.is_set():
            self._over.set()
            self._ticker.join()
            if self._terminal:
                sys.stdout.write("\r\x1b[2K")

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _tick(self) -> None:
        while not self._over.wait(0.2 if self._terminal else QUIET_SECONDS):
            line = f"  … {self._title}: {self._note} ({self._seconds():.0f} s)"
            if self._terminal:
                width = max(20, shutil.get_terminal_size().columns - 1)
                sys.stdout.write(f"\r\x1b[2K{line[:width]}")
                sys.stdout.flush()
            else:
                tell(line)


@contextlib.contextmanager
def step(title: str) -> Iterator[Step]:
    """A step; however the block ends, its live line is wiped."""
    it = Step(title)
    try:
        yield it
    finally:
        it.close()


def tell(line: str = "") -> None:
    """Print at once, even into a pipe."""
    print(line, flush=True)


def tail(log: Path, lines: int = 25) -> str:
    """The end of a log, indented, to be shown under an error."""
    if not log.is_file():
        return "    (no log was written)"
    with log.open("rb") as f:
        f.seek(max(0, log.stat().st_size - 64_000))
        text = f.read().decode(errors="replace")
    return "\n".join(f"    {line[:240]}" for line in text.splitlines()[-lines:])


def cause(log: Path) -> str:
    """The first error line of a log: the end of a long traceback tells what failed last, not what failed first."""
    with contextlib.suppress(OSError):
        for line in log.read_text(errors="replace").splitlines():
            if found := re.search(r"\b\w*(?:Error|Exception): .*", line):
                return f" It seems to be: {found.group()[:300]}"
    return ""


def run(main: Callable[[], None]) -> None:
    """Call a command's main; turn what a user can mend into plain words and exit status 1."""
    try:
        main()
    except SetupError as e:
        tell(f"\n  ✗ {e.what}\n\n  What to do: {e.do}")
        raise SystemExit(1) from None
    except BrokenPipeError:
        # Whoever read our output (`make up | head`) has gone; so has the need to say more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        tell("\n  Interrupted. Nothing is half done for good: the same command picks it up again.")
        raise SystemExit(130) from None
