"""An exchange repeated on the same replica, with its donor and without: what reuse gave, and what it changed.

How it is kept honest:

- Both sides are repeats. What the client got is not used: it was made while others were served, went through rules, and
  may have been drawn by chance. Both are greedy (temperature 0), as long as each other, and in an order drawn by lot.
- No repeat is captured, booked as a client's, or refined; its tokens are counted apart.
- With a donor that serves a `prefix`, each side has a cache salt that no other request has: the engine's own prefix
  cache serves neither and learns nothing. In earnest it would have served the exchange as well, so the times may be
  compared only if it had next to nothing of the prompt at the time, by the engine's own count. Where that is not told,
  or is more, the pair tells of likeness alone.
- A `splice` is different: the engine keeps all of such a request out of its cache, so it had nothing of its own either
  way. Without a donor it would have had its tenant's cache, and just so is the side without asked: under the tenant's
  own salt. It finds there what the exchange would have found, and leaves what the exchange would have left.
- While others are served, times mean nothing: a pair whose gateway was busy in between tells of likeness alone. What
  other gateways and workers send to the same engine is not seen here.
- Exchanges are drawn by lot among those whose engine has injected something, and repeated when there is time. They tell
  of latency with nobody else about, and of whatever hours the weights prefer.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

from gateway import reports
from gateway.backends import Answer, Donor, Outcome, Plan
from gateway.errors import Fault
from gateway.plug import plugs
from gateway.reports import Report
from gateway.surfaces import Asking, Surface
from gateway.upstream import LARGEST_ERROR
from gateway.watch._side import Listener, Side
from gateway.watch._steps import agreement, wanted
from gateway.watch.alike import rouge_l
from gateway.watch.cases import Case
from gateway.watch.file import Shadowing
from gateway.watch.pairs import Pair

LITTLE = 0.05  # of a prompt; as much of it may have been in the engine's own cache where times are compared
REPORT_SECONDS = 5.0  # that an engine may take to report of a request

_ONCE = frozenset({"n", "best_of", "echo", "stream_options", "logprobs", "top_logprobs", "prompt_logprobs"})
_LIMITS = ("max_tokens", "max_completion_tokens")

# backend, request, plan -> its answer. Fault if there is none.
Ask = Callable[[str, Asking, Plan], Awaitable[Answer]]


class Unmeasured(Exception):
    """There is no pair; `why` is a short stable word."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Heard(NamedTuple):
    """One repeat, and what its engine reports of it."""

    side: Side
    replica: str
    report: Report


class Shadow:
    """Repeats exchanges. `quiet` says whether next to nobody else is served; `spent` hears of tokens: side, count."""

    def __init__(
        self,
        ask: Ask,
        salt: Callable[[str], str],
        quiet: Callable[[], bool],
        spent: Callable[[str, int], None],
        lot: Callable[[], float] = random.random,
    ) -> None:
        self._ask, self._salt, self._quiet, self._spent, self._lot = ask, salt, quiet, spent, lot
        self._surfaces: Mapping[str, Surface] = {kind.name: kind() for kind in plugs("surfaces").values()}
        self._plain: set[str] = set()  # backends that tell no likeliest tokens

    async def pair(self, case: Case, words: Shadowing) -> Pair:
        """Both sides of one exchange. Unmeasured if they are not had."""
        quiet = self._quiet()
        first = "with" if self._lot() < 0.5 else "without"
        heard: dict[str, Heard] = {}
        for side in (first, "without" if first == "with" else "with"):
            heard[side] = await self._heard(case, words, side)
            if side == "with" and not heard[side].report.injected:
                raise Unmeasured("not_injected")
            quiet = quiet and self._quiet()
        ours, theirs = heard["with"], heard["without"]
        if ours.replica != theirs.replica:
            raise Unmeasured("elsewhere")
        agreed = agreement(ours.side.steps, theirs.side.steps)
        return Pair(
            at=case.at,
            reason=case.reason,
            arm=case.arm,
            mode=ours.report.mode,
            first=(ours.side.first, theirs.side.first),
            total=(ours.side.total, theirs.side.total),
            fair=quiet and ours.report.mode == case.mode and fair(case, theirs.side),
            alike=rouge_l(ours.side.text, theirs.side.text),
            top1=agreed.top1 if agreed else None,
            kl=agreed.kl if agreed else None,
        )

    async def _heard(self, case: Case, words: Shadowing, side: str) -> Heard:
        try:
            async with asyncio.timeout(words.seconds):
                return await self._repeat(case, words, side)
        except TimeoutError as fault:
            raise Unmeasured("slow") from fault
        except Fault as fault:
            raise Unmeasured("failed") from fault

    async def _repeat(self, case: Case, words: Shadowing, side: str) -> Heard:
        """One side. The capture it is reported under holds no KV, and is dropped at once."""
        surface = self._surfaces[case.exchange.surface]
        outcomes: asyncio.Queue[Outcome] = asyncio.Queue()
        plan = self._plan(case, side == "with", outcomes.put_nowait)
        count = 0 if case.backend in self._plain else words.top_logprobs
        began = perf_counter()
        answer = await self._ask(case.backend, asking(case, surface, words.answer_tokens, count), plan)
        listener = Listener(surface, began)
        try:
            await self._assert_useful(answer, case.backend, count)
            async for raw in answer.chunks():
                listener.feed(raw, perf_counter())
        finally:
            heard = listener.side(perf_counter())
            self._spent(side, heard.usage.prompt + heard.usage.completion)
            if answer.capture is not None:
                answer.capture.drop("shadow")
            answer.close()
        if not heard.ended:
            raise Unmeasured("torn")
        assert answer.capture is not None, "it was looked at before"
        outcome = await _of(outcomes, str(answer.capture.asked["capture"]))
        return Heard(heard, outcome.replica, reports.read(outcome.report or {}))

    async def _assert_useful(self, answer: Answer, backend: str, count: int) -> None:
        """Unmeasured unless it is an answer of an engine with our plugin."""
        if answer.status != 200:
            if count and b"logprobs" in await answer.read(LARGEST_ERROR):
                self._plain.add(backend)
            raise Unmeasured("refused")
        if answer.capture is None:
            raise Unmeasured("unpatched")

    def _plan(self, case: Case, uses: bool, told: Callable[[Outcome], None]) -> Plan:
        owner = self._salt(case.exchange.principal.tenant)
        shares = case.mode == "splice" and not uses
        donor: Donor | None = case.donor if uses else None
        more = {"owner": owner, "record": False}
        return Plan(
            owner if shares else secrets.token_hex(32), True, donor, told, replica=case.donor.replica, more=more
        )


async def _of(outcomes: asyncio.Queue[Outcome], capture: str) -> Outcome:
    """What became of this capture; a call that was tried twice has made several."""
    try:
        async with asyncio.timeout(REPORT_SECONDS):
            while (outcome := await outcomes.get()).capture != capture:
                continue
            return outcome
    except TimeoutError as fault:
        raise Unmeasured("unreported") from fault


def asking(case: Case, surface: Surface, most: int, top: int) -> Asking:
    """The exchange's request as it is repeated: greedy, streamed, one answer of at most so many tokens."""
    path = surface.upstream_path or surface.paths[0]
    body: dict[str, Any] = {name: value for name, value in case.body.items() if name not in _ONCE}
    limits = {name: value for name in _LIMITS if isinstance(value := body.get(name), int)} or {"max_tokens": most}
    body |= {name: min(value, most) for name, value in limits.items()}
    if isinstance(least := body.get("min_tokens"), int):
        body["min_tokens"] = min(least, most)
    told = {"temperature": 0, "stream": True, "stream_options": {"include_usage": True}}
    return Asking(path, {**body, **told, **wanted(path, top)})


def fair(case: Case, without: Side) -> bool:
    """Whether the times may be compared: the engine's own cache was of no help that a donor was given credit for."""
    if case.mode == "splice":
        return True
    little = LITTLE * max(case.prompt, without.usage.prompt)
    return all(count is not None and count <= little for count in (case.own, without.usage.cached))
