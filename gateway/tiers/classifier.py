"""`type: classifier`: a small model reads question, context and answer, and says how likely an error is.

It works in a thread of its own and begins while the answer still streams, so that its word is mostly there when it is
asked for. What earlier tiers saw is added to the model's in log-odds.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from gateway import marks
from gateway.tiers import PASS, Case, Decision, Opinion, Tier, TierFault, TierSpec, _model
from gateway.tiers._batcher import Batcher
from gateway.tiers._line import Line
from gateway.tiers._model import Load, asked

_CERTAIN = 1e-6  # a probability is no nearer to 0 or 1 than this


class Plug(TierSpec):
    """The classifier, and from which probability on it has an answer checked."""

    type: Literal["classifier"] = "classifier"
    model: Path | None = Field(default=None, description="Its folder, relative to this file; null: the one shipped.")
    threshold: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Probability of an error from which an answer is checked; null: the model's.",
    )
    false_trigger_cost: float | None = Field(
        default=None,
        gt=0,
        description="Instead of `threshold`: what a needless check costs, where an error that goes out costs 1.",
    )
    skip_below: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Probability below which later tiers are not asked; null: they always are.",
    )
    batch: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Answers that are scored together at most. All of a batch wait for its last, and the model shipped "
        "is no faster for it.",
    )
    queue: int = Field(
        default=64, ge=1, le=10_000, description="Answers that may wait; more are judged without this tier."
    )
    timeout_ms: float = Field(default=300.0, gt=0, le=10_000, description="How long an answer may wait for its score.")

    @model_validator(mode="after")
    def _sensible(self, info: ValidationInfo) -> Self:
        if self.threshold is not None and self.false_trigger_cost is not None:
            raise ValueError("`threshold` and `false_trigger_cost` say the same; keep one of the two")
        least = self.least
        if least is not None and self.skip_below is not None and self.skip_below > least:
            raise ValueError("`skip_below` lies above the threshold; lower it")
        if self.model is not None:
            object.__setattr__(self, "model", Path((info.context or {}).get("folder", ".")) / self.model)
        return self

    @property
    def least(self) -> float | None:
        """The threshold that YAML sets. Checking pays where p x 1 > (1 - p) x cost."""
        cost = self.false_trigger_cost
        return self.threshold if cost is None else cost / (1 + cost)

    def connect(self) -> Tier:
        return Classifier(self, partial(_model.load, self.model or _model.FOLDER))


class Classifier:
    """The living tier. `load` brings the model, and may block."""

    def __init__(self, spec: Plug, load: Load, now: Callable[[], float] = time.monotonic) -> None:
        self._spec = spec
        self._seconds = spec.timeout_ms / 1000
        self._batcher = Batcher(load, Line(spec.batch, spec.queue), patience=2 * self._seconds, now=now)

    async def start(self) -> None:
        await self._batcher.start()

    async def stop(self) -> None:
        await self._batcher.stop()

    def foresee(self, case: Case) -> None:
        self._batcher.foresee(asked(case))

    async def judge(self, case: Case) -> Opinion:
        """TierFault: `broken` (no model, or it failed), `slow` (past its time), `busy` (too many wait)."""
        model = self._batcher.model()
        least = self._spec.least
        if least is None:
            least = model.threshold(case.language, bool(case.context.strip()))
        risk = logit(await self._risk(case)) + case.risk
        if risk >= logit(least):
            return Opinion(Decision.FORCE, "classifier")
        if self._spec.skip_below is not None and risk < logit(self._spec.skip_below):
            return Opinion(Decision.SKIP, "classifier")
        return PASS

    async def _risk(self, case: Case) -> float:
        job = self._batcher.want(asked(case))
        try:
            async with asyncio.timeout(self._seconds):
                score = await job.score
        except TimeoutError as fault:
            raise TierFault(f"no score within {self._spec.timeout_ms:g} ms", kind="slow") from fault
        finally:
            self._batcher.withdraw(job)
        if isinstance(score, TierFault):
            raise TierFault(str(score), kind=score.kind)
        marks.note(confidence_score=1.0 - score)
        return score


def logit(probability: float) -> float:
    """The log-odds of a probability."""
    bounded = min(max(probability, _CERTAIN), 1 - _CERTAIN)
    return math.log(bounded / (1 - bounded))
