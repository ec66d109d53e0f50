"""Three ways to an answer that breaks no rule, and what each takes of time and of the engine.

rewind     the gateway: cut back to the last anchor, go on from there
end check  the whole answer is made and judged; if it breaks a rule, another is made from the start, with what was found
           banned: what gateways with retries do
abort      the stream is judged as it comes and ended at the finding; another is made from the start, likewise: the best
           that can be done without going back into a draft

All judge by the same rules and code (gateway.window), ban the same words in the same way (`bad_words`), and may try as
often as the rule's budget says. The two baselines speak to the engine without a proxy between. Each request of each
contender has a prefix cache of its own (a salt, a tenant), which only its own later calls share.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

import aiohttp
import orjson

from gateway.surfaces import sse
from gateway.window import Window
from tests.bench.rewind_drafts import Ask, Breach, Draft, found

BUDGET = 2  # a rule's own, if it names none: so many times an answer is made anew
SETTLED = 0.3  # seconds after which the engine has counted all that it did
TOKENS = "vllm:generation_tokens_total"


class Told(NamedTuple):
    """What one contender made of one request. `tokens`: completion tokens as the engine counts them."""

    contender: str
    tenant: str
    text: str
    seconds: float
    calls: int
    accepted: bool
    tokens: float = 0.0


class Places(NamedTuple):
    """Where contenders ask."""

    http: aiohttp.ClientSession
    engine: str
    gateway: str = ""


async def events(
    http: aiohttp.ClientSession, url: str, body: Mapping[str, Any], key: str = "none"
) -> AsyncGenerator[tuple[float, dict[str, Any]], None]:
    """The events of a streamed answer and the seconds after which each came. Closing it ends the call."""
    began, decoder = time.perf_counter(), sse.Decoder()
    asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
    async with http.post(f"{url}/v1/chat/completions", json=asked, headers=_key(key)) as answer:
        if answer.status != 200:
            raise SystemExit(f"{url} answered {answer.status}: {await answer.text()}")
        async for chunk in answer.content.iter_any():
            for frame in decoder.feed(chunk):
                if frame.data != sse.DONE:
                    yield time.perf_counter() - began, orjson.loads(frame.data)


def said(event: Mapping[str, Any]) -> str:
    """What an event adds to the answer."""
    return "".join(choice["delta"].get("content") or "" for choice in event.get("choices", ()))


def finish(event: Mapping[str, Any]) -> str:
    return "".join(choice["finish_reason"] or "" for choice in event.get("choices", ()))


def _key(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def drafted(places: Places, ask: Ask) -> Draft:
    """What the engine says when nobody interferes."""
    pieces, end = [], ""
    async for at, event in events(places.http, places.engine, ask.body(cache_salt=f"draft {ask.id}")):
        pieces += [(round(at, 5), text)] if (text := said(event)) else []
        end = end or finish(event)
    return Draft(ask.id, pieces, end)


async def rewind(places: Places, ask: Ask, breach: Breach) -> Told:
    """Through the gateway, whose rules hold the breach's."""
    began = time.perf_counter()
    text, end, usage = "", "", dict[str, Any]()
    async for _, event in events(places.http, places.gateway, ask.body(), breach.tenant):
        if "error" in event:
            break
        text += said(event)
        end = end or finish(event)
        usage = event.get("usage") or usage
    seconds = time.perf_counter() - began
    calls = usage.get("retrace", {}).get("attempts", 1)
    accepted = end in ("stop", "length") and found(breach.lanes, text) is None
    return Told("rewind", breach.tenant, text, seconds, calls, accepted)


async def end_check(places: Places, ask: Ask, breach: Breach) -> Told:
    """Make all of it, judge it, make it again."""
    return await _again("end_check", _whole, places, ask, breach)


async def abort(places: Places, ask: Ask, breach: Breach) -> Told:
    """Judge it as it comes, end it at the finding, make it again."""
    return await _again("abort", _until_found, places, ask, breach)


Attempt = Callable[[Places, Mapping[str, Any], Window], Awaitable[str]]


async def _again(name: str, attempt: Attempt, places: Places, ask: Ask, breach: Breach) -> Told:
    """One attempt after the other from the start, with all that was found before banned."""
    began, lanes = time.perf_counter(), breach.lanes
    banned: dict[str, None] = {}
    calls, halted, text = 0, True, ""
    while halted and calls <= BUDGET:
        calls += 1
        ban = {"bad_words": list(banned)} if banned else {}
        window = Window(lanes)
        text = await attempt(places, ask.body(cache_salt=f"{name} {breach.tenant}", **ban), window)
        halted = window.halted is not None
        banned |= {window.halted.text: None} if window.halted else {}
    return Told(name, breach.tenant, text, time.perf_counter() - began, calls, not halted)


async def _whole(places: Places, body: Mapping[str, Any], window: Window) -> str:
    async with places.http.post(f"{places.engine}/v1/chat/completions", json=body) as answer:
        if answer.status != 200:
            raise SystemExit(f"the engine answered {answer.status}: {await answer.text()}")
        text = str(orjson.loads(await answer.read())["choices"][0]["message"]["content"])
    window.feed(text, final=True)
    return text


async def _until_found(places: Places, body: Mapping[str, Any], window: Window) -> str:
    text = ""
    async with aclosing(events(places.http, places.engine, body)) as told:
        async for _, event in told:
            text += said(event)
            window.feed(said(event), final=bool(finish(event)))
            if window.halted:
                break
    return text


Contender = Callable[[Places, Ask, Breach], Awaitable[Told]]
CONTENDERS: Mapping[str, Contender] = {"rewind": rewind, "end_check": end_check, "abort": abort}


async def counted(contender: Contender, places: Places, ask: Ask, breach: Breach) -> Told:
    """A contender's way, with the tokens that the engine made for it. Nobody else may use the engine meanwhile."""
    before = await _tokens(places)
    told = await contender(places, ask, breach)
    await asyncio.sleep(SETTLED)
    return told._replace(tokens=await _tokens(places) - before)


async def _tokens(places: Places) -> float:
    async with places.http.get(f"{places.engine}/metrics") as page:
        lines = (await page.text()).splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(TOKENS))
