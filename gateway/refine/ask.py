"""The second reading itself: what is asked of the model, in the best form that its endpoint takes.

What an endpoint takes is found out, not assumed: JSON by a schema and a low priority are tried, and left out once they
were refused (vLLM takes a priority only if it schedules by it, others may know no schemas).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

import orjson

from gateway.errors import UpstreamFault
from gateway.refine import reply
from gateway.refine.caution import Language
from gateway.refine.reply import Reply
from gateway.refine.wording import STOPS, Form, Quotes, instruction, schema
from gateway.surfaces import Asking, Surface
from gateway.types import Usage

LOW = 10  # vLLM serves the lowest number first; its own default is 0
BYTES_PER_TOKEN = 4  # a rough one, before anything is asked: for three of a Chinese character just as well
LEAST = 96  # tokens of a reply: room for one correction, however short the answer is
_TRIES = 3
_SCHEMA = frozenset({"schema"})


class Sent(NamedTuple):
    """What an endpoint answered."""

    backend: str
    status: int
    body: bytes


class Errand(NamedTuple):
    """An answer to be read once more."""

    tenant: str
    model: str
    surface: Surface
    body: Mapping[str, Any]  # the conversation, as it went upstream
    answer: str
    language: Language
    domain: str = ""


class Manner(NamedTuple):
    """How to ask."""

    backend: str | None  # None: who answered
    model: str | None
    form: Literal["auto", "json", "text"]
    most: int
    tokens: int  # of the reply at most
    share: float = 1.0  # and at most so many times the answer's own
    quotes: Quotes = "clauses"


class Reading(NamedTuple):
    """What came of it. `cached`: tokens of the prompt that the engine had in its cache, as far as it says so."""

    reply: Reply
    usage: Usage
    cached: int


# tenant, request, backend -> what it answered. Fault if it did not.
Post = Callable[[str, Asking, str | None], Awaitable[Sent]]


class Reader:
    """Asks, and remembers what each endpoint refuses."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._refused: dict[str, frozenset[str]] = {}

    async def read(self, errand: Errand, manner: Manner) -> Reading:
        """One reading. Fault if there is none, UpstreamFault also if it can't be understood."""
        whom = manner.backend or errand.model
        refused: frozenset[str] = self._refused.get(whom, frozenset())
        unspared = _SCHEMA if manner.form == "json" else frozenset()
        for _ in range(_TRIES):
            without = refused | _SCHEMA if manner.form == "text" else refused - unspared
            sent = await self._post(errand.tenant, asked(errand, manner, without), manner.backend)
            if sent.status == 200:  # so it was that, and not this conversation
                self._remember(whom, refused)
                return _understood(sent.body, manner.most, None if "schema" in without else errand.language)
            blamed = _blamed(sent, without) - unspared
            if not blamed:
                break
            refused |= blamed
        raise UpstreamFault(f"the second reading was answered with status {sent.status}", kind=f"status_{sent.status}")

    def _remember(self, whom: str, refused: frozenset[str]) -> None:
        if not refused:
            return
        if len(self._refused) >= 1024:
            self._refused.clear()
        self._refused[whom] = refused


def tokens(errand: Errand, manner: Manner) -> int:
    """About how many tokens a reading takes, prompt and completion."""
    said = len(orjson.dumps(errand.body)) + len(errand.answer.encode(errors="surrogatepass"))
    return said // BYTES_PER_TOKEN + allowed(errand, manner)


def allowed(errand: Errand, manner: Manner) -> int:
    """Tokens that the reply may have. In proportion to the answer: who waits for it has waited that long already."""
    size = len(errand.answer.encode(errors="surrogatepass")) // BYTES_PER_TOKEN
    return min(manner.tokens, max(LEAST, int(manner.share * size)))


def asked(errand: Errand, manner: Manner, without: frozenset[str]) -> Asking:
    """The request of a reading: the conversation as it was, and the instruction behind it."""
    form: Form = "text" if "schema" in without else "json"
    words = instruction(errand.language, form, errand.domain, manner.most)
    path, body, _ = errand.surface.review(errand.body, errand.answer, words)
    more: dict[str, Any] = {"temperature": 0, "max_tokens": allowed(errand, manner), "stream": False}
    if manner.model:
        more["model"] = manner.model
    if "priority" not in without:
        more["priority"] = LOW
    if form == "json":
        wanted = {
            "name": "review",
            "schema": schema(manner.most, errand.answer, errand.language, manner.quotes),
            "strict": True,
        }
        more["response_format"] = {"type": "json_schema", "json_schema": wanted}
    else:
        more["stop"] = [STOPS[errand.language]]
    return Asking(path, {**body, **more})


def _blamed(sent: Sent, without: frozenset[str]) -> frozenset[str]:
    """What a refusal is about: what it names, else all of it that was asked for."""
    if sent.status not in (400, 422):
        return frozenset()
    told = sent.body.lower()
    words = {"priority": (b"priority",), "schema": (b"response_format", b"schema", b"structured", b"guided", b"json")}
    asked_for = frozenset(words) - without
    named = frozenset(name for name in asked_for if any(word in told for word in words[name]))
    return named or asked_for


def _understood(raw: bytes, most: int, bounded: Language | None) -> Reading:
    try:
        body = orjson.loads(raw)
        choice = body["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
    except (orjson.JSONDecodeError, LookupError, TypeError) as fault:
        raise UpstreamFault("the second reading is no answer of a model", kind="garbage") from fault
    usage = body.get("usage")
    return Reading(reply.read(text if isinstance(text, str) else "", most, bounded), *_counts(usage))


def _counts(usage: Any) -> tuple[Usage, int]:
    told = usage if isinstance(usage, dict) else {}
    details = told.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    prompt, completion, known = (
        count if isinstance(count, int) and count > 0 else 0
        for count in (told.get("prompt_tokens"), told.get("completion_tokens"), cached)
    )
    return Usage(prompt, completion), known
