"""An answer that may be read once more, with all that is needed for it; and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gateway.judge import Lane
from gateway.refine import edits
from gateway.refine.ask import Errand, Manner
from gateway.refine.caution import language_of
from gateway.refine.domains import domain_of
from gateway.refine.file import RefineFile, Way
from gateway.surfaces import Surface
from gateway.tiers import Case
from gateway.types import Exchange, Refined

CONTEXT = 20_000  # characters of what stands before the question that are looked at: the last ones


class Matter(NamedTuple):
    """An exchange whose answer may be read once more. `body` is the conversation as it went upstream."""

    exchange: Exchange
    surface: Surface
    body: Mapping[str, Any]
    lanes: Sequence[Lane]  # the output rules for an answer
    file: RefineFile
    way: Way

    def case(self, answer: str) -> Case:
        """The answer as tiers see it."""
        texts = self.surface.asked(self.body).texts
        asked = max((n for n, text in enumerate(texts) if text.role == "user"), default=-1)
        question = texts[asked].text if asked >= 0 else ""
        context = "\n".join(text.text for n, text in enumerate(texts) if n != asked and text.whole)[-CONTEXT:]
        who = self.exchange.principal
        return Case(
            question=question,
            context=context,
            answer=answer,
            language=language_of(answer),
            domain=domain_of(f"{question}\n{answer}", self.file.domains),
            tenant=who.tenant,
            tier=who.tier,
            surface=self.exchange.surface,
            model=self.exchange.model,
        )

    def errand(self, case: Case) -> Errand:
        """The answer as the second reading gets it."""
        return Errand(
            case.tenant, self.exchange.model, self.surface, self.body, case.answer, case.language, case.domain
        )

    @property
    def manner(self) -> Manner:
        """How the second reading is asked for."""
        file, guards = self.file, self.file.guards
        most = guards.most_marks
        return Manner(file.backend, file.model, file.form, most, guards.reply_tokens, guards.reply_share, file.quotes)


class Result(NamedTuple):
    """How the answer ends: put another text in its place, put words to it, or neither."""

    refined: Refined
    instead: str | None = None
    behind: str = ""

    @property
    def changes(self) -> bool:
        return self.instead is not None or bool(self.behind)


def unfit(matter: Matter, answer: str) -> str | None:
    """Why an answer is not read again, whatever anybody thinks of it; None if it may be."""
    guards = matter.file.guards
    if len(answer) < guards.min_chars:
        return "short"
    if edits.marks(answer) >= guards.most_marks:
        return "marked"
    return None if matter.surface.free(matter.body) else "shaped"
