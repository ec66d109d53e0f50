"""The gateway of this clone as a background process, in front of an engine."""

from deploy.setup import ports, process
from deploy.setup.engine import Engine
from deploy.setup.paths import ROOT, VENV, gateway_port
from deploy.setup.say import SetupError, step
from deploy.setup.wait import Gone, TimedOut, until_ok

NAME = "gateway"
READY_SECONDS = 60
IN_THE_FILE = "http://127.0.0.1:8000"
"""The backend that rules/gateway.yaml names; only another one has to be said on the command line."""


def ensure(engine: Engine) -> process.Service:
    """The gateway in front of `engine`: started if none runs, started anew if the running one is outdated."""
    with step("gateway") as s:
        service = process.find(NAME)
        how = "already runs"
        if service is not None and (reason := _outdated(service, engine)):
            process.stop(service)
            service = _start(engine)
            how = f"started anew, {reason}"
        elif service is None:
            service = _start(engine)
            how = "started"
        try:
            until_ok(f"{service.url}/readyz", service, READY_SECONDS, lambda: s.now("getting ready"))
        except (Gone, TimedOut) as e:
            process.stop(service)
            raise SetupError(
                f"The gateway {e.story}",
                "correct what the log names (most often a file under rules/), then run the command again.",
            ) from None
        s.done(f"{how}: {service.url}, process {service.pid}")
        return service


def require_port() -> None:
    """Raise SetupError if a gateway is still to be started and its port is taken."""
    if process.find(NAME) is None:
        ports.require(gateway_port(), "the gateway", "RETRACE_PORT")


def _outdated(service: process.Service, engine: Engine) -> str | None:
    """Why the running gateway is not the one wanted, if so. Changed rules it takes over by itself."""
    if service.about != engine.url:
        return f"since it faced {service.about}"
    if service.older_than(ROOT / "gateway"):
        return "since its code has changed"
    return None


def _start(engine: Engine) -> process.Service:
    port = gateway_port()
    require_port()
    command = [str(VENV / "bin" / "python"), "-m", "gateway.cli", "serve", "--config", "rules/gateway.yaml"]
    command += ["--port", str(port)]
    if engine.url != IN_THE_FILE:
        command += ["--backend", engine.url]
    return process.start(NAME, command, {}, port, engine.url)
