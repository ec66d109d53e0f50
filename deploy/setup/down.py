"""`make down`: stop what `make up` and `make watch` of this clone left running, by process id, and nothing else."""

from deploy.setup import engine, gateway, process, watch
from deploy.setup.say import run, tell


def main() -> None:
    """Who watches first, then the gateway, so that nobody is answered with a connection error from behind."""
    names = (watch.GRAFANA, watch.NAME, gateway.NAME, engine.NAME)
    services = [s for s in map(process.find, names) if s is not None]
    if not services:
        tell("  Nothing of this clone is running.")
    for service in services:
        seconds = process.stop(service)
        tell(f"  ✓ {service.name}: stopped process {service.pid} ({seconds:.1f} s)")
    if engine.forget():
        tell("  ✓ captures: their memory is free again")


if __name__ == "__main__":
    run(main)
