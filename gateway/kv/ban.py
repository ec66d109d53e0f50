"""A logits processor that keeps an answer from repeating what was sensitive in its donor.

Only for requests that ask for it (`ban`); the spans are those the verdict on the donor named. n-grams of tokens are
banned (ngram.py), so the same words in other tokens can still be said: output rules judge them as ever.
"""

from __future__ import annotations

from typing import Any

import torch

from gateway.kv.airlock import LogitsProcessor, MoveDirectionality
from gateway.kv.ask import BadAsk, parse
from gateway.kv.ngram import Ban
from gateway.kv.pool import Pool
from gateway.kv.settings import Settings
from gateway.kv.shield import Shield
from gateway.kv.stats import Counts


class RetraceBan(LogitsProcessor):
    """The bans of the requests in the batch, by their place in it."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._shield = Shield(Counts())
        self._pool: Pool | None = None
        self._bans: dict[int, tuple[Ban, list[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: Any) -> None:
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._bans.pop(index, None)
        for index, params, _, output in batch_update.added:
            self._bans.pop(index, None)
            with self._shield("ban"):
                ban = self._ban(params)
                if ban is not None:
                    self._bans[index] = ban, output
        for source, target, kind in batch_update.moved:
            moved, other = self._bans.pop(source, None), self._bans.pop(target, None)
            if moved is not None:
                self._bans[target] = moved
            if other is not None and kind == MoveDirectionality.SWAP:
                self._bans[source] = other

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        if self._bans:
            with self._shield("ban"):
                self._forbid(logits)
        return logits

    def _forbid(self, logits: torch.Tensor) -> None:
        for index, (ban, output) in self._bans.items():
            forbidden = [token for token in ban.forbidden(output[-8:]) if token < logits.shape[1]]
            if forbidden:
                logits[index, forbidden] = float("-inf")

    def _ban(self, params: Any) -> Ban | None:
        try:
            ask = parse((params.extra_args or {}).get("kv_transfer_params"))
        except BadAsk:
            return None  # the scheduler's side has said so
        if ask is None or not ask.ban or ask.donor is None:
            return None
        self._pool = self._pool or Pool(Settings.read())
        donor = self._pool.find(ask.donor)
        if donor is None:
            return None
        tokens = (*donor.tokens, *donor.tail)
        spans = [tokens[start:end] for start, end in (*donor.sensitive, *ask.sensitive) if end <= len(tokens)]
        return Ban(spans) if spans else None
