"""What becomes of an answer by its corrections, or by their absence. Pure: the rules judge, nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.judge import Lane
from gateway.refine import caution, edits
from gateway.refine.matter import Matter, Result
from gateway.refine.reply import Fate
from gateway.refine.wording import erratum
from gateway.types import Action, Correction, Finding, Outcome, Refined, Usage
from gateway.window import Window


def corrected(
    matter: Matter, answer: str, corrections: tuple[Correction, ...], refined: Refined
) -> tuple[Result, Sequence[Fate]]:
    """The answer with what can be put into it, and what became of the rest. `refined` tells what is known so far."""
    language = caution.language_of(answer)
    kept = matter.file.guards.most_marks - edits.marks(answer)
    clean = edits.edited(answer, corrections[: max(kept, 0)], False, language)
    if not corrections:
        return Result(refined._replace(outcome=Outcome.FINE)), ()
    if not clean.made:
        return Result(refined._replace(outcome=Outcome.KEPT, why="no_edit")), clean.dropped
    if not edits.sane(answer, clean.text):
        return Result(refined._replace(outcome=Outcome.KEPT, why="off_length")), clean.dropped
    done = refined._replace(outcome=Outcome.CORRECTED, corrections=clean.made)
    if matter.way.delivery == "hold":
        marked = edits.edited(answer, clean.made, matter.file.marks == "keep", language).text
        ending = Result(done, instead=judged(matter.lanes, marked))
        worse = ending.instead is None
    else:
        words = judged(matter.lanes, erratum(language, clean.made))
        ending = Result(done, behind=words or "")
        worse = words is None or judged(matter.lanes, clean.text) is None
    return (Result(refined._replace(outcome=Outcome.KEPT, why="blocked")) if worse else ending), clean.dropped


def degraded(matter: Matter, answer: str, why: str, usage: Usage | None = None, *, always: bool = True) -> Result:
    """The answer with what a person should look at. Unless `always`, one without anything of that kind is left."""
    spans = caution.spans(answer)
    if not spans and not always:
        return Result(Refined(Outcome.UNTOUCHED, why))
    refined = Refined(Outcome.DEGRADED, why, usage=usage)
    placement, language = matter.file.degraded.placement, caution.language_of(answer)
    tags = matter.file.degraded.tags
    if placement == "header":
        return Result(refined)
    if matter.way.delivery == "hold":
        tagged = caution.tagged(answer, placement, language, tags)
        return Result(refined, instead=tagged if tagged != answer else None)
    return Result(refined, behind=caution.note(answer, language, tags))


def judged(lanes: Sequence[Lane], text: str) -> str | None:
    """What the output rules leave of a text; None if they block it."""
    window = Window(lanes)
    window.feed(text, final=True)
    while window.halted and (meant := _meant(lanes, window.halted)) is not Action.BLOCK:
        window.pardon(meant, final=True)
    return None if window.halted else window.render(0, text)


def _meant(lanes: Sequence[Lane], finding: Finding) -> Action:
    """What a finding that halts means where nothing can be cut back any more."""
    if finding.action is not Action.REWIND:
        return Action.BLOCK
    rules = (rule for lane in lanes for rule in lane.group.rules if rule.id == finding.rule)
    return Action(next(rules).rewinding.otherwise)
