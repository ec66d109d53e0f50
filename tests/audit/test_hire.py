"""One clerk after the other. What they write: test_desk.py."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from gateway.audit import _hire, _letters
from gateway.audit._hire import Hire
from gateway.audit._letters import Begin, News
from tests.audit.logs import USUAL, kinds
from tests.rig import until


def sockets(pid: int) -> list[int]:
    """Which handles of a process are sockets; its output and errors are ours, whatever they are."""
    paths = [path for path in Path(f"/proc/{pid}/fd").iterdir() if path.name not in ("1", "2")]
    return sorted(int(path.name) for path in paths if str(path.readlink()).startswith("socket:"))


class Employer:
    """Counts what becomes of clerks."""

    def __init__(self, folder: Path) -> None:
        self.briefed = self.died = 0
        self._folder = folder
        self.hire = Hire(self.brief, self.hear, self.gone)

    def brief(self) -> list[bytes]:
        self.briefed += 1
        return [_letters.written(Begin(self._folder, USUAL))]

    def hear(self, _news: News) -> None:
        raise AssertionError("he has nothing to say")

    def gone(self) -> None:
        self.died += 1


async def test_who_is_told_to_end_is_followed_by_nobody(tmp_path: Path) -> None:
    employer = Employer(tmp_path)
    employer.hire.start()
    await until(lambda: employer.briefed, 20)
    await employer.hire.stop()
    assert (employer.briefed, employer.died) == (1, 0)


async def test_a_clerk_holds_nothing_of_ours_but_his_line(tmp_path: Path) -> None:
    """Else a port that the gateway serves would stay open when it is no more."""
    employer = Employer(tmp_path)
    before = {child.pid for child in psutil.Process().children()}
    employer.hire.start()
    await until(lambda: employer.briefed, 20)
    (clerk,) = (child for child in psutil.Process().children() if child.pid not in before)
    held = sockets(clerk.pid)
    await employer.hire.stop()
    assert held == [0]


async def test_who_never_says_anything_is_followed_later_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hire, "COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    monkeypatch.setattr(_hire, "RETRY", 0.01)
    employer = Employer(tmp_path)
    employer.hire.start()
    await until(lambda: employer.died >= 3, 20)
    await employer.hire.stop()
    assert employer.died == employer.briefed
    assert not kinds(tmp_path)


async def test_at_the_end_it_is_tried_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_hire, "COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    monkeypatch.setattr(_hire, "RETRY", 100.0)
    employer = Employer(tmp_path)
    employer.hire.start()
    await until(lambda: employer.died == 1, 20)
    await employer.hire.stop()
    assert employer.died == 3
