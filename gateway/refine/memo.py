"""What was read once is not read again: corrections by tenant, model, question and answer, bounded in every way.

An entry serves the same question and answer, or ones so near that no gate finds a difference: similarity codes find
what may be the same, the gates decide, and whatever was found wrong must stand in the new answer word for word. A hit
that somebody calls wrong is gone, and that pair never meets again. Nothing is ever found across two tenants.
"""

from __future__ import annotations

import hmac
import secrets
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from pydantic import Field

from gateway.gates import LONGEST, same_question
from gateway.plug import Strict
from gateway.refine._agree import differ
from gateway.refine._bands import Bands
from gateway.types import Correction

Corrections: TypeAlias = tuple[Correction, ...]
Codes: TypeAlias = Callable[[str], tuple[int, ...]]
Observe: TypeAlias = Callable[[str], None]

BANNED = 16_384  # pairs that were called wrong; of more, the oldest are forgotten
_OVERHEAD = 1500  # bytes of an entry beside its texts
_SIZE = 16  # bytes of a name


class CacheSpec(Strict):
    """What YAML says of it."""

    most: int = Field(default=10_000, ge=1, description="Answers remembered, over all tenants.")
    bytes: int = Field(default=64 << 20, ge=1 << 16, description="What they take at most.")
    ttl_seconds: float = Field(default=86_400, gt=0, description="How long what was found is believed.")
    near: bool = Field(
        default=True, description="Whether a question that is asked in other words may be served, if no gate objects."
    )
    radius: int = Field(default=3, ge=0, le=7, description="So many of 64 bits of two questions' codes may differ.")


class Hit(NamedTuple):
    """What was found. `entry` is what `wrong` wants to know; not `exact`: by another question or answer."""

    entry: str
    corrections: Corrections
    exact: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    tenant: str
    whose: bytes
    question: str
    answer: str
    corrections: Corrections
    codes: tuple[int, ...]
    until: float
    size: int


class Memo:
    """The living cache; what was used least goes first. `now` tells seconds.

    `codes` gives the similarity codes of a question; without it there are no near hits. `observe` hears of each `get`
    how it went: `exact`, `near` or `miss`, and before that `refused_GATE` for each near one that a gate refused; beside
    that `stored`, `displaced`, `expired`, `too_large`, `wrong` and `pardoned` (a pair forgotten for others).
    """

    def __init__(
        self,
        spec: CacheSpec,
        codes: Codes | None,
        observe: Observe,
        now: Callable[[], float] = time.monotonic,
        secret: bytes | None = None,
    ) -> None:
        self._spec, self._observe, self._now = spec, observe, now
        self._codes = codes if spec.near else None
        self._secret = secret or secrets.token_bytes(32)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._bands = Bands(spec.radius)
        self._banned: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, tenant: str, question: str, answer: str, model: str) -> Hit | None:
        """What was found before; None if nothing is known, or nothing that serves beyond doubt."""
        name = self._name(tenant, model, question, answer)
        hit = self._exact(name, answer) or self._near(tenant, model, question, answer, name)
        self._observe("miss" if hit is None else "exact" if hit.exact else "near")
        return hit

    def put(self, tenant: str, model: str, question: str, answer: str, corrections: Corrections) -> str:
        """Remember what was found, be it nothing; what to call it."""
        name = self._name(tenant, model, question, answer)
        if name in self._kept:
            self._drop(name)
        texts = (question, answer, *(text for correction in corrections for text in correction))
        size = _OVERHEAD + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if size > self._spec.bytes:
            self._observe("too_large")
            return name
        while len(self._kept) >= self._spec.most or self._size + size > self._spec.bytes:
            self._drop(next(iter(self._kept)))
            self._observe("displaced")
        whose, codes = self._hash("whose", tenant, model), self._codes_of(question)
        until = self._now() + self._spec.ttl_seconds
        self._kept[name] = _Kept(tenant, whose, question, answer, corrections, codes, until, size)
        self._size += size
        if codes:
            self._bands.add(whose, codes, name)
        self._observe("stored")
        return name

    def wrong(self, tenant: str, entry: str) -> bool:
        """That hit, or what `put` gave, was wrong: it is gone, and that pair never meets again. False if this tenant
        has no such hit."""
        name, _, rest = entry.partition("-")
        asked, _, sign = rest.partition("-")
        if asked and not hmac.compare_digest(sign.encode("utf-8", "replace"), self._sign(tenant, name, asked).encode()):
            return False
        kept = self._kept.get(name)
        gone = kept is not None and kept.tenant == tenant
        if gone:
            self._drop(name)
        if asked:
            pair = _pair(name, asked)
            gone = gone or pair not in self._banned
            self._banned[pair] = None
            if len(self._banned) > BANNED:
                self._banned.popitem(last=False)
                self._observe("pardoned")
        if gone:
            self._observe("wrong")
        return gone

    def _exact(self, name: str, answer: str) -> Hit | None:
        kept = self._living(name)
        if kept is None or not _stand(kept, answer):
            return None
        self._kept.move_to_end(name)
        return Hit(name, kept.corrections, True)

    def _near(self, tenant: str, model: str, question: str, answer: str, asked: str) -> Hit | None:
        whose = self._hash("whose", tenant, model)
        if not self._bands.known(whose):
            return None
        for name in self._bands.near(whose, self._codes_of(question)):
            kept = self._living(name)
            if kept is None or name == asked:
                continue
            refused = "wrong" if _pair(name, asked) in self._banned else _refused(kept, question, answer)
            if not refused:
                self._kept.move_to_end(name)
                return Hit(f"{name}-{asked}-{self._sign(tenant, name, asked)}", kept.corrections, False)
            self._observe(f"refused_{refused}")
        return None

    def _living(self, name: str) -> _Kept | None:
        kept = self._kept.get(name)
        if kept is not None and kept.until <= self._now():
            self._drop(name)
            self._observe("expired")
            return None
        return kept

    def _drop(self, name: str) -> None:
        kept = self._kept.pop(name)
        self._size -= kept.size
        if kept.codes:
            self._bands.remove(kept.whose, kept.codes, name)

    def _codes_of(self, question: str) -> tuple[int, ...]:
        return self._codes(question) if self._codes and len(question) <= LONGEST else ()

    def _name(self, tenant: str, model: str, question: str, answer: str) -> str:
        return self._hash("name", tenant, model, _question(question), plain(answer)).hex()

    def _sign(self, tenant: str, name: str, asked: str) -> str:
        return self._hash("sign", tenant, name, asked).hex()

    def _hash(self, *parts: str) -> bytes:
        """Nobody can make one up, and no two lists of parts have the same."""
        digest = blake2b(key=self._secret, digest_size=_SIZE)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.digest()


def _pair(one: str, other: str) -> str:
    return min(one, other) + max(one, other)


def _stand(kept: _Kept, answer: str) -> bool:
    """Whether all that was found wrong stands in this answer too, as often."""
    quotes = {correction.quote for correction in kept.corrections}
    return all(quote in answer and answer.count(quote) == kept.answer.count(quote) for quote in quotes)


def _refused(kept: _Kept, question: str, answer: str) -> str:
    """Which gate finds that an entry does not serve; "" if none does."""
    if not _stand(kept, answer):
        return "quote"
    gate = same_question(kept.question, question)
    if not gate.same:
        return gate.differs
    found = differ(kept.answer, answer)
    return f"answer_{found}" if found else ""


_MEANT = ("<super>", "<sub>", "<fraction>", "<circle>")  # what such a form says would be lost


def plain(text: str) -> str:
    """A text whatever its width and blanks (NFKC, less what would change its meaning: 10⁵ is not 105)."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate({ord(char): _folded(char) for char in set(text)}))
    return " ".join(text.split())


def _folded(char: str) -> str:
    return char if unicodedata.decomposition(char).startswith(_MEANT) else unicodedata.normalize("NFKC", char)


def _question(text: str) -> str:
    """Its first letter's case says nothing; elsewhere it may ("US")."""
    folded = plain(text)
    return folded if folded[1:2].isupper() else folded[:1].lower() + folded[1:]
