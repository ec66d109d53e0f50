"""Which kept capture fits a request: the one whose prompt agrees with it for longest, or one that holds the same text.

Only hashes are remembered, no text, and tenant and model are part of each. Whether tokens agree is the engine's to say.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

MOST = 1024  # captures remembered
CROWD = 8  # of those that share a key, the newest this many
DEEPEST = 128  # messages, or steps of a prompt, that are told apart; behind them only the whole is
STEP = 1024  # characters of a prompt from one key to the next
LONG = 1000  # characters from which on a text is worth finding by itself
TEXTS = 32  # of those, the first this many

# What a chat template puts before the messages.
_HEAD = ("tools", "functions", "documents", "chat_template", "chat_template_kwargs")


class Key(NamedTuple):
    """The hash of a part of a request, and how many bytes that part has."""

    digest: bytes
    size: int


class Keys(NamedTuple):
    """A request's prompt from its start, longer and longer; and its long texts, wherever they stand."""

    prefix: tuple[Key, ...]
    texts: tuple[Key, ...] = ()


class Kept(NamedTuple):
    """A capture that an engine has confirmed to keep: where, why, under which keys, until when."""

    capture: str
    replica: str
    reason: str
    keys: Keys
    until: float


def keys(tenant: str, model: str, body: Mapping[str, Any]) -> Keys:
    """The keys of a request body as it goes upstream."""
    whose = orjson.dumps([tenant, model])
    messages = body.get("messages")
    if isinstance(messages, list):
        head = _canonical({name: body[name] for name in _HEAD if body.get(name)})
        pieces = [_canonical(message) for message in messages[:DEEPEST]]
        pieces += [_canonical(messages[DEEPEST:])] if messages[DEEPEST:] else []
        return Keys(_running(whose, head, pieces), tuple(_alone(whose, messages)))
    prompt = body.get("prompt")
    text = prompt if isinstance(prompt, str) else "".join(prompt or ())
    ends = [*range(0, min(len(text), DEEPEST * STEP), STEP), len(text)]
    pieces = [text[start:end].encode() for start, end in itertools.pairwise(ends)]
    return Keys(_running(whose, b"", pieces))


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _running(whose: bytes, head: bytes, pieces: Iterable[bytes]) -> tuple[Key, ...]:
    running = blake2b(whose + head, digest_size=16, person=b"prompt")
    size = len(head)
    found = []
    for piece in pieces:
        running.update(piece)
        size += len(piece)
        found.append(Key(running.digest(), size))
    return tuple(found)


def _alone(whose: bytes, messages: Iterable[Any]) -> Iterator[Key]:
    left = TEXTS
    for message in messages:
        text = message.get("content") if isinstance(message, dict) else None
        if isinstance(text, str) and len(text) >= LONG and left:
            left -= 1
            words = text.encode()
            yield Key(blake2b(whose + words, digest_size=16, person=b"text").digest(), len(words))


class Donors:
    """The captures that may serve as donors, the least lately used forgotten first. `now` tells seconds."""

    def __init__(self, most: int = MOST, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._most = most
        self._kept: dict[str, Kept] = {}  # the least lately used first
        self._sharing: dict[bytes, list[str]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, kept: Kept) -> None:
        """Remember one, found by each of its keys."""
        self._kept[kept.capture] = kept
        for key in (*kept.keys.prefix, *kept.keys.texts):
            sharing = self._sharing.setdefault(key.digest, [])
            sharing.append(kept.capture)
            del sharing[:-CROWD]
        if len(self._kept) > self._most:
            self.forget(next(iter(self._kept)))

    def sharing(self, wanted: Iterable[Key]) -> Iterator[tuple[Kept, int]]:
        """The living ones that share one of these keys, in the keys' order and the newest first; and the key's size."""
        now = self.now()
        for key in wanted:
            for capture in reversed(self._sharing.get(key.digest, ())):
                kept = self._kept[capture]
                if kept.until > now:
                    yield kept, key.size

    def used(self, capture: str) -> None:
        """It was of use just now."""
        self._kept[capture] = self._kept.pop(capture)

    def forget(self, capture: str) -> None:
        """It is gone, if it was here."""
        kept = self._kept.pop(capture, None)
        for key in (*kept.keys.prefix, *kept.keys.texts) if kept else ():
            left = [name for name in self._sharing.get(key.digest, ()) if name != capture]
            if left:
                self._sharing[key.digest] = left
            else:
                self._sharing.pop(key.digest, None)
