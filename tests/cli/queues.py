"""A configuration with a review queue, and answers that wait in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from gateway.cli._queue import named
from gateway.refine.docket import Entry
from tests.refine.entries import ONE
from tests.rig import regex, write_config

URL = ["http://127.0.0.1:9"]
FILE = {"type": "file", "path": "waiting.jsonl"}

CHINESE = replace(ONE, id="zh-1")
ENGLISH = replace(
    ONE,
    id="en-1",
    tenant="acme",
    why=("late",),
    language="en",
    question="When was the rule passed, and what is the fine?",
    answer="It was passed in 1998.\nThe fine is $250, or 5% of a year's sales.",
    spans=((17, 21, "date"), (35, 39, "money"), (44, 46, "percent")),
    domain="legal",
)


def configured(folder: Path, **refine: Any) -> str:
    """The path of gateway.yaml, which names a refine.yaml with these fields."""
    path = write_config(folder, URL, [regex("x")], refine="refine.yaml")
    (folder / "refine.yaml").write_text(yaml.safe_dump({"delivery": "hold", **refine}), encoding="utf-8")
    return str(path)


def fill(config: str, entries: Iterable[Entry]) -> None:
    """As a gateway does it."""

    async def add() -> None:
        heard: list[str] = []
        docket = named(Path(config)).spec.connect(Path(config).parent, heard.append)
        await docket.start()
        for entry in entries:
            docket.add(entry)
        await docket.stop()
        assert heard == []

    asyncio.run(add())
