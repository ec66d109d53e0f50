"""Who may ask: API keys, kept only as hashes, compared in constant time. A key names a tenant and a tier."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from gateway.errors import Unauthorized
from gateway.plug import Strict
from gateway.types import Principal

PREFIX = "rtk-"
_ANYBODY = Principal()
_SHORT = 8  # bytes of a digest by which it is looked up before it is compared


def new_key() -> str:
    """A new key of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hashed(key: str) -> str:
    """What may be written down of a key. It is random and long, so a plain hash is enough."""
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,31}$")]


class KeyEntry(Strict):
    """One key: its hash, or the environment variable that holds it; and whose it is."""

    hash: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$", description="From `retrace key`.")
    env: str | None = Field(default=None, description="The environment variable that holds the key itself.")
    tenant: Name
    tier: Name = "standard"

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.hash is None) == (self.env is None):
            raise ValueError("give either `hash` or `env`; `retrace key` makes a key and its hash")
        if self.env is not None and not os.environ.get(self.env):
            raise ValueError(f"the environment variable {self.env} is empty; export it, or remove this key")
        return self

    @property
    def digest(self) -> bytes:
        text = self.hash or hashed(os.environ[self.env or ""])
        return bytes.fromhex(text.removeprefix("sha256:"))


def _distinct(keys: tuple[KeyEntry, ...]) -> tuple[KeyEntry, ...]:
    if len({key.digest for key in keys}) < len(keys):
        raise ValueError("the same key stands twice; give each tenant a key of its own")
    return keys


class TiersFile(Strict):
    """Keys, tenants and tiers (rules/tiers.yaml). Without any key the gateway serves the local machine only."""

    keys: Annotated[tuple[KeyEntry, ...], AfterValidator(_distinct)] = ()


class Keyring:
    """The keys that are valid now."""

    def __init__(self, entries: Iterable[KeyEntry]) -> None:
        self._known: dict[bytes, list[tuple[bytes, Principal]]] = {}
        for entry in entries:
            self._known.setdefault(entry.digest[:_SHORT], []).append(
                (entry.digest, Principal(entry.tenant, entry.tier))
            )

    def __bool__(self) -> bool:
        return bool(self._known)

    def principal(self, key: str | None) -> Principal:
        """Whose key this is. With no keys at all everybody is the default tenant; else Unauthorized if it is none."""
        if not self._known:
            return _ANYBODY
        if not key:
            raise Unauthorized("no API key was sent; send it as `Authorization: Bearer <key>`")
        digest = hashlib.sha256(key.encode(errors="surrogateescape")).digest()
        for known, principal in self._known.get(digest[:_SHORT], ()):
            if hmac.compare_digest(known, digest):
                return principal
        raise Unauthorized("this API key is not known here; ask whoever runs the gateway for one")
