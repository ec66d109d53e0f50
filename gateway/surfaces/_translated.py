"""Surfaces whose clients speak what upstreams don't: the request becomes one for chat, and so the answer is chat's.

So rules, rewinding and refining meet one format alone, and any endpoint that can chat serves these surfaces too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from gateway.surfaces import Asked, Asking, Continuation, Outward
from gateway.surfaces.chat import Plug as Chat
from gateway.types import Exchange


class Translated(Chat):
    """Everything that the upstream hears and says is chat's: `free` and `review` are of the body that goes upstream."""

    upstream_path = Chat.paths[0]

    @abstractmethod
    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request for chat; BadRequest names a field that has no counterpart there. Nothing is left out quietly."""

    @abstractmethod
    def outward(self, exchange: Exchange, body: Mapping[str, Any]) -> Outward:
        """What tells the answer to a client that asked with this body."""

    def asked(self, body: Mapping[str, Any]) -> Asked:
        return Chat.admit(self, body)

    def upstream_body(self, exchange: Exchange, body: Mapping[str, Any]) -> dict[str, Any]:
        return super().upstream_body(exchange, self.chat(body))

    def review(self, body: Mapping[str, Any], answer: str, instruction: str) -> Asking:
        return super().review(body, answer, instruction)._replace(path=self.upstream_path)

    def resume(self, body: Mapping[str, Any], more: Continuation) -> Asking:
        return super().resume(body, more)._replace(path=self.upstream_path)
