"""Programs that are brought here: only if they are nowhere, by one at a time, and without starting a service."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.setup import debian, redis
from deploy.setup.say import SetupError

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose programs lie in one folder, apt among them, and whose cache and policy are its own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for needed in ("touch", "chmod", "cp", "cat"):
        (folder / needed).symlink_to(str(shutil.which(needed)))
    program(folder / "dpkg-deb", "")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(debian, "POLICY", tmp_path / "policy-rc.d")
    return folder


def program(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


def never() -> str:
    raise AssertionError("it is here already")


def test_what_is_here_is_not_brought(bin_: Path) -> None:
    assert debian.ensured("thing", lambda: "here", never) == "here"


def test_what_another_has_brought_meanwhile_is_not_brought_again(bin_: Path) -> None:
    found = iter([None, "here"])
    assert debian.ensured("thing", lambda: next(found), never) == "here"


def test_what_is_nowhere_even_then_is_told(bin_: Path) -> None:
    def nowhere() -> str | None:
        return None

    with pytest.raises(SetupError, match="thing was installed, but PATH"):
        debian.ensured("thing", nowhere, nowhere)


def apt(bin_: Path, first: str = "") -> Callable[[], list[str]]:
    """An apt that installs by putting a program there, and what it was called for; `first` comes before."""
    calls = bin_.parent / "calls"
    put = f"cp {bin_}/dpkg-deb {bin_}/redis-server; cat {bin_.parent}/policy-rc.d > {bin_.parent}/seen"
    program(bin_ / "apt-get", f'echo "$@" >> {calls}\n{first}\ncase "$1" in install) {put};; esac')
    return lambda: calls.read_text().splitlines()


INSTALL = "install -y -qq --no-install-recommends redis-server"


@ROOT
def test_redis_is_installed_while_no_service_may_start(bin_: Path) -> None:
    calls = apt(bin_)
    assert redis.ensure() == bin_ / "redis-server"
    assert calls() == [INSTALL]
    assert (bin_.parent / "seen").read_text() == "#!/bin/sh\nexit 101\n"
    assert not debian.POLICY.exists()
    assert redis.ensure() == bin_ / "redis-server"
    assert calls() == [INSTALL]


@ROOT
def test_a_list_of_packages_that_is_too_old_is_renewed(bin_: Path) -> None:
    once = bin_.parent / "once"
    calls = apt(bin_, f"[ -e {once} ] || {{ touch {once}; echo 'Unable to locate package' >&2; exit 100; }}")
    assert redis.ensure() == bin_ / "redis-server"
    assert calls() == [INSTALL, "update -qq", INSTALL]


@ROOT
def test_what_apt_says_is_told_and_the_policy_of_the_machine_stays(bin_: Path) -> None:
    debian.POLICY.write_text("mine")
    apt(bin_, "echo 'no such mirror' >&2; exit 100")
    with pytest.raises(SetupError, match="no such mirror"):
        redis.ensure()
    assert debian.POLICY.read_text() == "mine"


def test_where_there_is_no_apt_somebody_must_install_it(bin_: Path) -> None:
    with pytest.raises(SetupError, match="no redis-server on PATH"):
        redis.ensure()
