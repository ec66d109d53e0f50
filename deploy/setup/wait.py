"""Wait until a service answers, and notice early that it never will."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable

from deploy.setup.process import Service
from deploy.setup.say import cause, tail


class _Unready(Exception):
    """`story` tells what happened and shows what the service printed."""

    def __init__(self, how: str, service: Service) -> None:
        super().__init__(how)
        self.story = f"{how}.{cause(service.log)}\n\n  The end of its log, {service.log}:\n\n{tail(service.log)}"


class Gone(_Unready):
    """The process ended while we waited."""


class TimedOut(_Unready):
    """It still runs, but did not answer in time."""


def until_ok(url: str, service: Service, seconds: float, tick: Callable[[], None]) -> None:
    """Return once GET `url` answers 200; call `tick` while waiting. Raises Gone or TimedOut."""
    end = time.monotonic() + seconds
    while not answers(url):
        if not service.alive:
            raise Gone("ended before it was ready", service)
        if time.monotonic() > end:
            raise TimedOut(f"was not ready within {seconds:.0f} s", service)
        tick()
        time.sleep(0.3)


def answers(url: str) -> bool:
    """Whether GET `url` answers 200 right now."""
    # No proxy: the services are on this machine, whatever http_proxy says.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
