"""`make watch`: Prometheus on what `make up` left running, and Grafana where there is one; `make down` stops them.

Prometheus gets a copy of deploy/prometheus in .run/, with the addresses of this clone's gateway and engine. Both listen
on this machine alone, and whoever opens Grafana may look without signing in.
"""

import json
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from deploy.setup import gateway, ports, process, prometheus
from deploy.setup.paths import ROOT, RUN, number
from deploy.setup.process import Service
from deploy.setup.say import SetupError, run, step, tell
from deploy.setup.wait import Gone, TimedOut, answers, until_ok

NAME = "prometheus"
PORT = "RETRACE_PROMETHEUS_PORT"
GRAFANA = "grafana"
GRAFANA_PORT = "RETRACE_GRAFANA_PORT"
SHIPPED = ROOT / "deploy" / "prometheus"
BOARDS = ROOT / "deploy" / "grafana"
HOMES = (Path("/usr/share/grafana"), Path("/opt/grafana"))
"""Where a package of Grafana puts what its server reads."""
READY_SECONDS = 60


def main() -> None:
    """Start what is missing, and say where to look."""
    front = process.find(gateway.NAME)
    if front is None:
        raise SetupError("The gateway of this clone does not run, so there is nothing to watch.", "start it: make up")
    tell("\n  ReTrace Gateway: watching\n")
    programs = prometheus.ensure()
    watch = _prometheus(programs, front)
    board = _grafana(watch)
    _say_where(watch, board)


def furnish(folder: Path, front: str, engine: str) -> Path:
    """What Prometheus reads, in `folder`, for a gateway and an engine at these addresses; returns its main file.

    Who is scraped may be changed while it runs.
    """
    shutil.copytree(SHIPPED, folder, dirs_exist_ok=True)
    for name, url in (("gateway", front), ("engine", engine)):
        beside = folder / "targets" / f"{name}.json.new"
        beside.write_text(json.dumps([{"targets": [urlsplit(url).netloc]}]) + "\n")
        beside.replace(folder / "targets" / f"{name}.json")
    return folder / "prometheus.yml"


def _prometheus(programs: prometheus.Programs, front: Service) -> Service:
    folder = RUN / NAME
    with step("prometheus") as s:
        running = process.find(NAME)
        if running is not None and running.older_than(*(path for path in SHIPPED.rglob("*") if path.is_file())):
            process.stop(running)
            running = None
        config = furnish(folder, front.url, front.about)
        service = running or _start_prometheus(programs.prometheus, config)
        _wait(service, "/-/ready", "look at what the log names; promtool check config tells where a file is wrong.")
        s.done(f"{'already runs' if running else 'started'}: {service.url}, process {service.pid}")
        return service


def _start_prometheus(program: Path, config: Path) -> Service:
    port = _port(PORT, 9090)
    command = [str(program), f"--config.file={config}", f"--storage.tsdb.path={config.parent / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=15d"]
    return process.start(NAME, command, {}, port, str(config))


def _grafana(watch: Service) -> Service | None:
    """None if there is none on this machine."""
    program = shutil.which("grafana-server")
    if program is None:
        return None
    with step("grafana") as s:
        running = process.find(GRAFANA)
        if running is not None and running.about != watch.url:
            process.stop(running)
            running = None
        service = running or _start_grafana(program, watch.url)
        _wait(service, "/api/health", "look at what the log names.")
        s.done(f"{'already runs' if running else 'started'}: {service.url}, process {service.pid}")
        return service


def _start_grafana(program: str, source: str) -> Service:
    port = _port(GRAFANA_PORT, 3000)
    home = [f"--homepath={where}" for where in HOMES if where.is_dir()][:1]
    return process.start(GRAFANA, [program, *home], _settings(port, source), port, source)


def _settings(port: int, source: str) -> dict[str, str]:
    """What Grafana reads from its environment."""
    return {
        "GF_SERVER_HTTP_ADDR": "127.0.0.1",
        "GF_SERVER_HTTP_PORT": str(port),
        "GF_PATHS_DATA": str(RUN / GRAFANA),
        "GF_PATHS_LOGS": str(RUN / GRAFANA),
        "GF_PATHS_PROVISIONING": str(BOARDS / "provisioning"),
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "RETRACE_PROMETHEUS_URL": source,
        "RETRACE_DASHBOARDS": str(BOARDS / "dashboards"),
    }


def _port(variable: str, usual: int) -> int:
    """The one the user wants; if nobody has said so and the usual one is taken, any free one."""
    wanted = number(variable, usual)
    try:
        ports.require(wanted, "it", variable)
    except SetupError as e:
        if os.environ.get(variable):
            raise SetupError(e.what, f"stop that program, or unset {variable} to have any free port.") from None
        return ports.free()
    return wanted


def _wait(service: Service, path: str, do: str) -> None:
    try:
        until_ok(f"{service.url}{path}", service, READY_SECONDS, lambda: None)
    except (Gone, TimedOut) as e:
        process.stop(service)
        raise SetupError(f"{service.name.capitalize()} {e.story}", do) from None


def _say_where(watch: Service, board: Service | None) -> None:
    pages = watch.url if answers(f"{watch.url}/alerts") else f"{watch.url}/classic"  # Debian's has the old pages alone
    tell(
        f"""
  Alerts     {pages}/alerts    rules in deploy/prometheus/rules/
  Targets    {pages}/targets
  Ask        {pages}/graph"""
    )
    if board is not None:
        tell(f"  Dashboards {board.url}/dashboards    from deploy/grafana/dashboards/")
    else:
        tell("  Dashboards there is no grafana-server on PATH; install Grafana, then make watch again.")
    tell("  Stop       make down\n")


if __name__ == "__main__":
    run(main)
