"""Logs of traffic whose answer is known: how many requests are rejected, and how much they share.

python -m tests.assess.samples FOLDER     writes one log of each format there
"""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

START = 1_700_000_000.0
PLACES = ("counter", "warehouse", "harbour", "airport", "depot", "office", "station", "yard")


class Asked(NamedTuple):
    """One request of a day."""

    at: float
    tenant: str
    prompt: str
    answer: str
    rejected: bool


def manual(number: int, articles: int = 60) -> str:
    """A document of about 4,000 characters, unlike any other."""
    chance = random.Random(number)
    return " ".join(
        f"Article {n}: a parcel of class {chance.randrange(900)} goes to the {chance.choice(PLACES)} "
        f"by line {chance.randrange(90)}."
        for n in range(articles)
    )


def day(requests: int = 200, documents: int = 5, rejects: int = 5, seed: int = 1) -> list[Asked]:
    """Questions about a few long documents, each behind a greeting of its own so that the document has moved; every
    `rejects`th is rejected."""
    chance = random.Random(seed)
    texts = [manual(number) for number in range(documents)]
    return [
        Asked(
            START + 3.0 * n,
            "acme",
            f"Case {n}, opened by clerk {chance.randrange(10_000)}. {chance.choice(texts)} What of class {n}?",
            f"Class {n} goes by line {n % 90}, as the manual has it.",
            n % rejects == 0,
        )
        for n in range(requests)
    ]


def strangers(requests: int = 200) -> list[Asked]:
    """Long requests that share nothing."""
    return [Asked(START + 3.0 * n, "acme", manual(1000 + n), "It is so.", n % 5 == 0) for n in range(requests)]


def chatter(requests: int = 200) -> list[Asked]:
    """Short ones."""
    return [Asked(START + n, "acme", f"Hello {n}", "Hi.", n % 5 == 0) for n in range(requests)]


def bodies(one: Asked) -> dict[str, Any]:
    return {
        "time": one.at,
        "tenant": one.tenant,
        "request": {"model": "m", "messages": [{"role": "user", "content": one.prompt}]},
        "response": {
            "choices": [
                {
                    "message": {"role": "assistant", "content": one.answer},
                    "finish_reason": "content_filter" if one.rejected else "stop",
                }
            ],
            "usage": {"prompt_tokens": len(one.prompt) // 4, "completion_tokens": len(one.answer) // 4},
        },
    }


def litellm(one: Asked) -> dict[str, Any]:
    return {
        "id": f"c-{one.at}",
        "call_type": "acompletion",
        "status": "failure" if one.rejected else "success",
        "status_fields": {"guardrail_status": "guardrail_intervened" if one.rejected else "success"},
        "startTime": one.at,
        "endTime": one.at + 1,
        "completionStartTime": one.at + 0.2,
        "model": "m",
        "messages": [{"role": "user", "content": one.prompt}],
        "response": {"choices": [{"message": {"content": one.answer}, "finish_reason": "stop"}]},
        "prompt_tokens": len(one.prompt) // 4,
        "completion_tokens": 0 if one.rejected else len(one.answer) // 4,
        "metadata": {"user_api_key_team_id": one.tenant},
    }


def retrace(one: Asked) -> dict[str, Any]:
    """As the audit log has it."""
    return {
        "seq": 1,
        "prev": "0" * 64,
        "at": one.at,
        "kind": "exchange",
        "id": f"rt-{one.at}",
        "tenant": one.tenant,
        "surface": "chat",
        "model": "m",
        "verdict": "block" if one.rejected else "allow",
        "usage": [len(one.prompt) // 4, len(one.answer) // 4],
        "attempts": [],
        "refined": {},
        "asked": [{"role": "user", "text": one.prompt}],
        "said": {"0": one.answer},
    }


def nginx(one: Asked) -> dict[str, Any]:
    return {
        "time_iso8601": datetime.fromtimestamp(one.at, UTC).isoformat(),
        "request": "POST /v1/chat/completions HTTP/1.1",
        "status": "400" if one.rejected else "200",
        "request_length": str(len(one.prompt) + 300),
        "body_bytes_sent": str(len(one.answer) + 200),
    }


def combined(one: Asked) -> bytes:
    when = datetime.fromtimestamp(one.at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    status = 400 if one.rejected else 200
    return (
        f'10.0.0.7 - - [{when}] "POST /v1/chat/completions HTTP/1.1" {status} {len(one.answer) + 200} "-" "sdk/1.0"'
    ).encode()


SHAPES: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "bodies": bodies,
    "litellm": litellm,
    "retrace": retrace,
    "nginx": nginx,
}


def lines(asked: Sequence[Asked], shape: str) -> Iterator[bytes]:
    for one in asked:
        yield orjson.dumps(SHAPES[shape](one))


def write(path: Path, told: Iterator[bytes] | Sequence[bytes]) -> Path:
    """A log, packed if its name says so."""
    raw = b"".join(line + b"\n" for line in told)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHAPES:
        write(folder / f"{name}.jsonl", lines(day(), name))
    write(folder / "combined.log", [combined(one) for one in day()])
