"""Whose value does an answer name, when the preamble has changed and the rest of the document is spliced in?

The rest refers back to the preamble, and its KV was computed under the old one. Full prefill is the measure: a splice
must follow the new preamble as often as it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tests.bench.backref import Document, documents
from tests.bench.client import Client
from tests.bench.docs import Lang

SYSTEM = {
    "en": "Answer the question from the document in one short sentence. State the value itself.",
    "zh": "请根据文件用一句话简短回答问题，直接写出具体的值。",
}
ANSWER = 20


class Asker(Protocol):
    """What of a bench is needed here."""

    engine: Client

    def captured(self, prompt: Sequence[int]) -> str: ...


def prompt(client: Client, document: Document, *, new: bool) -> list[int]:
    value = document.new if new else document.old
    said = f"{document.text(value)}\n\n{document.question}"
    return client.chat(("system", SYSTEM[document.lang]), ("user", said))


def followed(bench: Asker, settings: Mapping[str, Mapping[str, float]], most: int | None = None) -> dict[str, Any]:
    """For full prefill and each setting: how many answers name the new value, the old one, both, neither."""
    told: dict[str, Counter[str]] = {name: Counter() for name in ("full", *settings)}
    langs: tuple[Lang, ...] = ("zh", "en")
    for document in [document for lang in langs for document in documents(lang)[:most]]:
        donor = bench.captured(prompt(bench.engine, document, new=False))
        request = prompt(bench.engine, document, new=True)
        answer = bench.engine.ask(request, max_tokens=ANSWER, salt=f"full-{document.id}")
        told["full"][document.followed(answer.text)] += 1
        for name, setting in settings.items():
            ask = {"donor": donor, "mode": "splice", "recompute": setting, "min_tokens": 128}
            answer = bench.engine.ask(request, max_tokens=ANSWER, retrace=ask, salt="bench")
            if answer.retrace.get("mode") != "splice":
                raise SystemExit(f"the engine did not splice {document.id}: {answer.retrace}")
            told[name][document.followed(answer.text)] += 1
        bench.engine.drop(donor)
    return {name: dict(counted) for name, counted in told.items()}
