"""Input rules that take their time are asked beside the backend's prefill.

The call goes out at once, and nothing of its answer leaves before all of them have let the request pass. One that
blocks it ends the call within a step of the engine; what that has computed is kept under the reason code (retrace.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

from gateway import inlet, marks
from gateway.backends import Answer
from gateway.config import House
from gateway.errors import UpstreamFault
from gateway.jury import Case, Jury, blocking
from gateway.metrics import Metrics
from gateway.probes import ProbeSpec, Question
from gateway.rules import Place, Rule
from gateway.surfaces import Surface
from gateway.types import Draft, Exchange, Side, Text

Opening = Coroutine[Any, Any, Answer]


def cases(house: House, surface: Surface, exchange: Exchange, body: Mapping[str, Any], masked: bool) -> Sequence[Case]:
    """What has to be asked of a request whose body goes on like this; `masked`: other than it came."""
    if not house.judge.takes_time(Side.INPUT):
        return ()
    texts = surface.admit(body).texts if masked else exchange.texts
    found: dict[str, list[Case]] = {}
    for rule, text in _pairs(house, exchange, texts):
        who = exchange.principal
        question = Question(exchange.id, Side.INPUT, text.text, text.role, who.tenant, exchange.model)
        found.setdefault(rule.id, []).append(Case(rule, question, text))
    return [case for mine in found.values() for case in (mine[-1:] if _only_last(mine[0].rule) else mine)]


def _pairs(house: House, exchange: Exchange, texts: Sequence[Text]) -> Iterator[tuple[Rule, Text]]:
    """Each text with the rules that apply to it; a message in several parts is one text, as the model reads it."""
    joined = {text.path for text in texts if not text.whole}
    who = exchange.principal
    for text in texts:
        if text.whole and any(text.path[:length] in joined for length in range(1, len(text.path))):
            continue
        place = Place(Side.INPUT, exchange.surface, exchange.model, who.tenant, who.tier, text.role)
        for rule in house.judge.slow(place):
            yield rule, text


def _only_last(rule: Rule) -> bool:
    return isinstance(rule.check, ProbeSpec) and rule.check.texts == "last"


async def heard(jury: Jury, house: House, asked: Sequence[Case], draft: Draft, metrics: Metrics) -> None:
    """Note what the rules say of a request. Refused if one of them blocks it."""
    with marks.stage("hear"):
        rulings = await jury.rulings(asked)
    draft.findings += [ruling.finding for ruling in rulings]
    draft.asked = len(draft.findings)
    metrics.observe_findings(Side.INPUT, [ruling.finding for ruling in rulings])
    against = blocking(rulings)
    if against is not None and against.case.text is not None:
        inlet.blocked(house, against.case.text, against.finding)


async def beside(
    opening: Callable[[], Opening],
    hearing: Callable[[], Awaitable[None]],
    close: Callable[[Answer], None],
    count: Callable[[UpstreamFault], None],
) -> Answer:
    """The answer, once the hearing is over. If that ends in a fault, so does this, whatever became of the call: what
    is under way is cancelled, an answer is closed, a fault of the upstream is counted."""
    call = asyncio.ensure_future(opening())
    try:
        await hearing()
        return await call
    except BaseException as fault:
        if call.cancel():
            await asyncio.wait({call})
        theirs = ended(call, close)
        if isinstance(theirs, UpstreamFault) and theirs is not fault:
            count(theirs)
        raise


def ended(call: asyncio.Future[Answer], close: Callable[[Answer], None]) -> BaseException | None:
    """A call is not wanted any more: it ends, and so does its answer. The fault that it had ended with, if any."""
    if call.cancel() or call.cancelled():
        return None
    fault = call.exception()
    if fault is None:
        close(call.result())
    return fault
