"""The review queue that a configuration names, asked by a command.

Only gateway.yaml and the file it names under `refine` are read, so that a reviewer goes on while a rule is being
mended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gateway.cli._shared import explained
from gateway.errors import Complaint, ConfigFault

if TYPE_CHECKING:
    from gateway.refine.docket import DocketSpec, Reviewing
    from gateway.yamlfile import Document

T = TypeVar("T")

FIXES = {  # by the kind of a QueueFault
    "unreachable": "start its server, or correct the address",
    "timeout": "its server is there and says nothing; see what keeps it busy",
    "refused": "its server says no: look at the password, its memory, and whether something else has this name",
    "garbage": "what listens there is no Redis server; correct the address",
    "locked": "another program holds it; try once more",
    "full": "make room on its disk",
    "unwritable": "correct the path, or give this user the right to read and write there",
}


class Named(NamedTuple):
    """A queue, and the file that names it."""

    spec: DocketSpec
    file: Document


def ask(config: Path, question: Callable[[Reviewing], Coroutine[Any, Any, T]]) -> T:
    """What the queue answers. If there is none, or it can't be used, that is told and ends the command."""
    from gateway.refine.docket import QueueFault

    with explained():
        spec, file = named(config)
        try:
            return asyncio.run(question(spec.reviewing(config.parent)))
        except QueueFault as fault:
            complaint = file.complain(("queue",), f"the queue can't be used: {fault}", FIXES.get(fault.kind, ""))
            raise ConfigFault([complaint]) from fault


def named(config: Path) -> Named:
    """The queue of a configuration. ConfigFault if it has none, or a file is wrong."""
    from gateway.mainfile import GatewayFile
    from gateway.refine.file import RefineFile
    from gateway.yamlfile import Document

    refine = Document(config).into(GatewayFile).refine
    if refine is None:
        problem = "no file says which answers are read once more, so none waits for a person"
        raise ConfigFault([Complaint(config, None, "refine", problem, "write `refine: refine.yaml`")])
    file = Document(config.parent / refine)
    spec = file.into(RefineFile).queue
    if spec is None:
        fix = "write `queue: {type: file, path: review.jsonl}`, or name a Redis server there"
        raise ConfigFault([file.complain(("queue",), "there is none, so no answer waits for a person", fix)])
    return Named(spec, file)
