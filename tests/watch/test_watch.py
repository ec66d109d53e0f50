"""`make watch` and `make down`, in a clone of its own: Prometheus on a gateway that runs, Grafana where one is."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from deploy.setup import ports, wait, watch
from deploy.setup.process import Service
from tests.commands import served
from tests.watch import plans

NOWHERE = "http://127.0.0.1:9"
# Stands in for Grafana, which Debian doesn't have: answers when it is ready, and tells what it was given.
GRAFANA = f"""#!{sys.executable}
import http.server, json, os

class Told(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(os.environ)).encode())

address = (os.environ["GF_SERVER_HTTP_ADDR"], int(os.environ["GF_SERVER_HTTP_PORT"]))
http.server.HTTPServer(address, Told).serve_forever()
"""


def clone(folder: Path) -> Path:
    """The part of this project that `make watch` reads."""
    shutil.copytree(plans.ROOT / "deploy", folder / "deploy", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".run").mkdir()
    return folder


def made(folder: Path, part: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"deploy.setup.{part}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), **env},
        capture_output=True,
        text=True,
        check=False,
    )


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[int]:
    """A gateway that the clone believes it has started; its port."""
    async with served("--backend", NOWHERE, "--port", "0") as (url, process):
        port = int(url.rpartition(":")[2])
        believe(folder, process.pid, port)
        yield port


def believe(folder: Path, pid: int, port: int) -> None:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    told = Service("gateway", pid, int(stat[19]), port, NOWHERE)
    (folder / ".run" / "gateway.json").write_text(json.dumps(asdict(told)))


def service(folder: Path, name: str) -> Service:
    return Service(**json.loads((folder / ".run" / f"{name}.json").read_text()))


def equipped(folder: Path) -> dict[str, str]:
    """The environment of a clone that looks often, on a machine with a Grafana."""
    config = folder / "deploy" / "prometheus" / "prometheus.yml"
    config.write_text(config.read_text().replace("15s", "1s"))
    (folder / "bin").mkdir()
    (folder / "bin" / "grafana-server").write_text(GRAFANA)
    (folder / "bin" / "grafana-server").chmod(0o755)
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "RETRACE_PROMETHEUS_PORT": str(ports.free()),
        "RETRACE_GRAFANA_PORT": str(ports.free()),
    }


def check_given(given: dict[str, str], source: str) -> None:
    """What Grafana was told leads to what it needs."""
    assert given["RETRACE_PROMETHEUS_URL"] == source
    assert Path(given["RETRACE_DASHBOARDS"], "overview.json").is_file()
    assert Path(given["GF_PATHS_PROVISIONING"], "dashboards", "retrace.yml").is_file()


async def asked(url: str) -> Any:
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        assert response.status == 200
        return json.loads(await response.text())


async def scraped(url: str) -> list[dict[str, Any]]:
    """The targets that Prometheus has looked at, once it has."""
    async with asyncio.timeout(60):
        while True:
            told = (await asked(f"{url}/api/v1/targets"))["data"]["activeTargets"]
            if len(told) == 2 and all(target["health"] != "unknown" for target in told):
                return list(told)
            await asyncio.sleep(0.2)


@pytest.mark.long
async def test_it_watches_the_gateway_that_runs_and_is_stopped_with_it(tmp_path: Path) -> None:
    folder = clone(tmp_path)
    env = equipped(folder)
    async with running(folder) as port:
        try:
            first = await asyncio.to_thread(made, folder, "watch", **env)
            assert first.returncode == 0, first.stdout
            parts = [service(folder, name) for name in ("prometheus", "grafana")]
            url = f"http://127.0.0.1:{env['RETRACE_PROMETHEUS_PORT']}"
            (shown,) = re.findall(rf"{url}\S*/alerts", first.stdout)
            assert wait.answers(shown) or not shutil.which("prometheus")  # unpacked it lacks what its pages are made of
            targets = {target["labels"]["job"]: target for target in await scraped(url)}
            assert {job: target["health"] for job, target in targets.items()} == {
                "retrace-gateway": "up",
                "retrace-engine": "down",
            }
            assert targets["retrace-gateway"]["labels"]["instance"] == f"127.0.0.1:{port}"
            rules = (await asked(f"{url}/api/v1/rules"))["data"]["groups"]
            assert {rule["name"] for group in rules for rule in group["rules"]} >= set(plans.alerts())
            check_given(await asked(f"http://127.0.0.1:{env['RETRACE_GRAFANA_PORT']}/"), url)
            again = await asyncio.to_thread(made, folder, "watch", **env)
            assert again.stdout.count("already runs") == 2
            assert [part.alive for part in parts] == [True, True]
        finally:
            (folder / ".run" / "gateway.json").unlink()  # the test's own, not the clone's to stop
            down = await asyncio.to_thread(made, folder, "down")
    assert "prometheus: stopped" in down.stdout
    assert "grafana: stopped" in down.stdout
    assert [part.alive for part in parts] == [False, False]


def test_without_a_gateway_it_says_what_to_do(tmp_path: Path) -> None:
    told = made(clone(tmp_path), "watch")
    assert told.returncode == 1
    assert "does not run" in told.stdout
    assert "make up" in told.stdout


def test_a_machine_without_prometheus_and_without_debian_s_packages_is_told_what_to_bring(tmp_path: Path) -> None:
    told = made(clone(tmp_path), "prometheus", PATH=str(tmp_path))
    assert told.returncode == 1
    assert "no prometheus with its promtool on PATH" in told.stdout
    assert "What to do:" in told.stdout


def test_a_machine_that_reaches_no_mirror_is_told_so_in_apt_s_words(tmp_path: Path) -> None:
    folder = clone(tmp_path)
    (folder / "bin").mkdir()
    for name, does in (("apt-get", "echo 'E: Could not resolve deb.example' >&2; exit 100"), ("dpkg-deb", "exit 1")):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / "bin" / name).chmod(0o755)
    told = made(folder, "prometheus", PATH=str(folder / "bin"))
    assert told.returncode == 1
    assert "Could not resolve deb.example" in told.stdout
    assert "put their folder on PATH" in told.stdout


@pytest.mark.parametrize(("version", "code"), [("2.31.2", 1), ("2.42.0", 0), ("3.4.1", 0)])
def test_a_prometheus_that_is_too_old_is_turned_down(tmp_path: Path, version: str, code: int) -> None:
    folder = clone(tmp_path)
    (folder / "bin").mkdir()
    for name in ("prometheus", "promtool"):
        (folder / "bin" / name).write_text(f"#!/bin/sh\necho '{name}, version {version} (branch: x)'\n")
        (folder / "bin" / name).chmod(0o755)
    told = made(folder, "prometheus", PATH=str(folder / "bin"))
    assert told.returncode == code
    assert ("too old" in told.stdout) is bool(code)


@pytest.mark.parametrize(
    ("url", "target"), [("http://127.0.0.1:8000", "127.0.0.1:8000"), ("http://vllm.internal:80/", "vllm.internal:80")]
)
def test_the_engine_is_scraped_where_the_gateway_finds_it(tmp_path: Path, url: str, target: str) -> None:
    config = watch.furnish(tmp_path, "http://127.0.0.1:8080", url)
    assert config.read_text() == (plans.PROMETHEUS / "prometheus.yml").read_text()
    assert json.loads((tmp_path / "targets" / "engine.json").read_text()) == [{"targets": [target]}]
    assert json.loads((tmp_path / "targets" / "gateway.json").read_text()) == [{"targets": ["127.0.0.1:8080"]}]
