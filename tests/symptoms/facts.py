"""Facts of a house in which all is well, to be spoilt one by one."""

from __future__ import annotations

import re
from typing import Any

from gateway.symptoms import Configuration, Facts, Light, Look, Replica, Reply, Sign, Symptom

CHINESE = re.compile(r"[\u4e00-\u9fff]")
NOW = 1_700_000_000.0


def reply(status: int = 200, **fields: Any) -> Reply:
    return Reply(**{"status": status, "seconds": 0.01, "ours": NOW, "clock": NOW, **fields})


def plugin(fingerprint: str = "f", version: str = "0.1.0", **fields: Any) -> Reply:
    told = {
        "plugin": version,
        "engine": {"fingerprint": fingerprint, "modes": ["prefix", "splice"]},
        "pool": {"bytes": 1 << 30, "size": 4 << 30, "entries": {"kept": 10, "pending": 1}},
    }
    return reply(told={**told, **fields})


def replica(number: int = 0, **fields: Any) -> Replica:
    usual = {"backend": "local", "url": f"http://10.0.0.{number}:8000", "health": reply(), "plugin": plugin()}
    return Replica(**{**usual, **fields})


def look(at: float = NOW, **fields: Any) -> Look:
    usual = {
        "used": 0.2,
        "capacity": 10_000.0,
        "running": 4.0,
        "prompts": (50_000.0, 100.0),
        "answers": (5_000.0, 100.0),
    }
    return Look(at, **{**usual, **fields})


def facts(**fields: Any) -> Facts:
    return Facts(**{"configuration": Configuration("gateway.yaml", (), "abc", 3), **fields})


def seen(symptom: Symptom, **fields: Any) -> list[Sign]:
    """What it sees, each told in both languages, and with a fix unless all is well or nobody could look."""
    signs = list(symptom.look(facts(**fields)))
    assert signs
    for sign in signs:
        assert sign.seen.en
        assert sign.seen.zh
        if sign.light in (Light.YELLOW, Light.RED):
            assert sign.fix.en
            assert CHINESE.search(sign.fix.zh)
    return signs


def lights(symptom: Symptom, **fields: Any) -> list[str]:
    return [sign.light.value for sign in seen(symptom, **fields)]
