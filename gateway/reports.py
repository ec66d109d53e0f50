"""What an engine reports of a request: read with care, since it is another program's word.

Whatever it may say, labels of metrics hold our words alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from gateway.backends import Capture
from gateway.errors import UpstreamFault

OTHER = "other"  # what counts instead of a word we don't know
MODES = frozenset({"none", "prefix", "splice"})
# Why a plugin may decline a donor.
DECLINED = frozenset(
    {
        *("bad_ask", "unknown_donor", "not_kept", "tenant", "adapter", "fingerprint", "no_match", "sensitive"),
        *("holes", "cached", "unsupported", "no_splice", "load_failed", "preempted", "on_disk", "fault"),
    }
)
_GONE = frozenset({"unknown_donor", "not_kept", "tenant", "adapter", "fingerprint"})


class Report(NamedTuple):
    """One report, understood as far as it makes sense. Counts are tokens."""

    captured: int = 0
    injected: int = 0
    recomputed: int = 0
    mode: str = "none"
    declined: str | None = None

    @property
    def gone(self) -> bool:
        """Whether there is no use in naming that donor again."""
        return self.declined in _GONE


def read(told: Mapping[str, Any]) -> Report:
    """What a report says; nothing where it makes no sense."""
    mode, declined = told.get("mode"), told.get("declined")
    known = isinstance(mode, str) and mode in MODES
    why = (declined if declined in DECLINED else OTHER) if isinstance(declined, str) else None
    captured, injected, recomputed = (
        _tokens(told, f"{name}_tokens") for name in ("captured", "injected", "recomputed")
    )
    return Report(captured, injected, recomputed, str(mode) if known else OTHER, why)


def _tokens(told: Mapping[str, Any], name: str) -> int:
    count = told.get(name)
    return count if isinstance(count, int) and count > 0 else 0


def without_report(raw: bytes, capture: Capture) -> bytes:
    """An answer in one piece less what the engine says of retrace in it, which is noted with the capture.

    What is no JSON object stays as it is; UpstreamFault if it can't be written again.
    """
    if b'"kv_transfer_params"' not in raw:
        return raw
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw  # whoever judges it says so
    told = body.pop("kv_transfer_params", None) if isinstance(body, dict) else None
    if told is None:
        return raw
    report = told.get("retrace") if isinstance(told, dict) else None
    capture.report = report if isinstance(report, dict) else None
    try:
        return orjson.dumps(body)
    except TypeError as fault:  # it was JSON once, so all that can be wrong is its depth
        raise UpstreamFault("the upstream's answer is nested too deeply", kind="garbage") from fault
