"""The controller's levers, one function each: what a look at the figures makes it want to do. They change nothing.

A condition holds only while the bound of a figure lies beyond its threshold, at each look and for the minutes that are
configured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gateway.overlay import Brake, Cause, Overlay, Returned
from gateway.watch._spells import Spells
from gateway.watch.acts import Act
from gateway.watch.control import Controlling
from gateway.watch.series import CodeReading, Figure, Reading

Change = Callable[[Overlay], Overlay]


class Look(NamedTuple):
    """All that a lever may know. `room`: by how many bits the configured search can be loosened at all."""

    words: Controlling
    reading: Reading
    overlay: Overlay
    spells: Spells
    room: int
    calm: float  # since when nothing was held back, so that the hit rate tells of the search alone

    @property
    def at(self) -> float:
        return self.reading.at


class Move(NamedTuple):
    """An act, and what it makes of the overlay."""

    act: Act
    change: Change


def breaker(look: Look) -> Iterator[Move]:
    """Faults of the engine or the store open it; some time without one closes it, longer each time it opens again."""
    words, overlay, at = look.words.faults, look.overlay, look.at
    faults = ", ".join(sorted(look.reading.faults))
    broken = look.spells.held("broken", bool(faults))
    whole = look.spells.held("whole", not faults)
    longest = look.words.recovery.longest_hours * 3600
    if overlay.breaker is None and broken >= words.seconds:
        lately = overlay.mended is not None and at - overlay.mended < longest
        tripped = overlay.tripped + 1 if lately else 1
        act = Act(at, "break", was="closed", now="open", detail=f"faults of {faults}", seconds=broken)
        yield Move(act, _set(breaker=at, tripped=tripped))
    elif overlay.breaker is not None:
        pause = min(words.back_minutes * 60 * 2 ** min(overlay.tripped - 1, 20), longest)
        if whole >= pause:
            act = Act(at, "mend", was="open", now="closed", detail=f"no fault for {whole / 60:.3g} min")
            yield Move(act, _set(breaker=None, mended=at))


def consistency(look: Look) -> Iterator[Move]:
    """Answers differ from what they would be: all falls back, or one code goes off that is surely the one."""
    words, reading, overlay = look.words.consistency, look.reading, look.overlay
    seconds = words.minutes * 60
    held = look.spells.held("cs", _below(reading.cs, words.low))
    if overlay.fallback is None and held >= seconds:
        act = Act(look.at, "fallback", was="inject", now=words.fallback, figure="CS", seen=reading.cs)
        brakes = {code: brake(look, "consistency", code) for code in {*reading.by_code, *overlay.codes}}
        change = _set(fallback=look.at, back=(), codes=brakes, how=words.fallback)
        yield Move(act._replace(limit=words.low, seconds=held), change)
        return
    for code, figures in _on(look):
        held = look.spells.held(f"cs {code}", _below(figures.cs, words.low))
        if held >= seconds:
            act = Act(look.at, "off", code, "inject", words.fallback, "CS", figures.cs, words.low, held)
            yield Move(act, _brake(code, brake(look, "consistency", code)))


def latency(look: Look) -> Iterator[Move]:
    """Reuse does not pay: of the codes, those that surely don't go off, the most used ones first."""
    words, reading, overlay = look.words.latency, look.reading, look.overlay
    held = look.spells.held("ld", _above(reading.ld, words.least))
    if overlay.fallback is not None or held < words.minutes * 60:
        return
    left = words.most_off - sum(one.cause == "latency" for one in overlay.codes.values())
    blame = [(code, one) for code, one in _on(look) if _above(_speed(one), words.least)]
    for code, one in sorted(blame, key=lambda named: named[1].share, reverse=True)[: max(left, 0)]:
        detail = f"it makes {one.share:.0%} of what is reused"
        act = Act(look.at, "off", code, "inject", "none", "LD", _speed(one), words.least, held, detail)
        yield Move(act, _brake(code, brake(look, "latency", code)))


def tries(look: Look) -> Iterator[Move]:
    """A code that is off is tried by some sessions after its pause: it comes back, or goes off for twice as long."""
    words, at = look.words.recovery, look.at
    for code, one in sorted(look.overlay.codes.items()):
        if one.tried is None:
            if at >= one.next or at < one.since:  # or the clock was set back
                act = Act(at, "try", code, "off", f"{words.share:.0%} of sessions")
                detail = f"off for {max(at - one.since, 0) / 60:.0f} min"
                change = _brake(code, one.model_copy(update={"tried": at}))
                yield Move(act._replace(detail=detail), change)
            continue
        good, bad = _verdict(look, code, one)
        good_for = look.spells.held(f"good {code}", good is not None)
        bad_for = look.spells.held(f"bad {code}", bad is not None)
        if good is not None and good_for >= words.minutes * 60:
            yield Move(good._replace(seconds=good_for), _back(code, one, at))
        elif bad is not None and bad_for >= look.words.consistency.minutes * 60:
            longer = min(2 * one.pause, words.longest_hours * 3600)
            yield Move(bad._replace(seconds=bad_for), _again(code, one, at, longer))
        elif not 0 <= at - one.tried < words.try_minutes * 60 and not _hopeful(look, code, one):
            act = Act(at, "again", code, "tried", "off", detail="the try ended without a verdict")
            yield Move(act, _again(code, one, at, one.pause))


def recovery(look: Look) -> Iterator[Move]:
    """The fallback ends when each code has been tried and some are back; the others stay off one by one."""
    overlay = look.overlay
    waiting = [code for code, one in overlay.codes.items() if not one.tries]
    if overlay.fallback is None or waiting or not (overlay.back or not overlay.codes):
        return
    if not overlay.back and 0 <= look.at - overlay.fallback < look.words.recovery.pause_minutes * 60:
        return  # nothing could be tried, since no code was known
    left = f"; still off: {', '.join(sorted(overlay.codes))}" if overlay.codes else ""
    detail = f"back: {', '.join(sorted(overlay.back)) or 'all'}{left}"
    act = Act(look.at, "recover", was=overlay.how, now="inject", detail=detail)
    yield Move(act, _set(fallback=None, back=()))


def hits(look: Look) -> Iterator[Move]:
    """Too little is found: the search is loosened, within limits. Very much is found: that is taken back."""
    words, overlay, chr_, at = look.words.hits, look.overlay, look.reading.chr, look.at
    settle = words.settle_minutes * 60
    patience = min(settle * 2 ** min(overlay.futile, 20), look.words.recovery.longest_hours * 3600)
    lately = float("-inf") if overlay.moved is None else overlay.moved
    ready = not 0 <= at - max(lately, look.calm) < settle
    low = look.spells.held("low", ready and _below(chr_, words.low))
    high = look.spells.held("high", ready and _above(chr_, words.high))
    bits = min(overlay.bits + words.bits, words.most_bits, look.room)
    patient = not 0 <= at - lately < patience
    if patient and low >= words.minutes * 60 and bits > overlay.bits:
        act = Act(at, "loosen", "", f"{overlay.bits} bits", f"{bits} bits", "CHR", chr_, words.low, low)
        yield Move(act, _set(bits=bits, moved=at))
    elif overlay.bits and high >= words.minutes * 60:
        act = Act(at, "tighten", "", f"{overlay.bits} bits", "0 bits", "CHR", chr_, words.high, high)
        yield Move(act, _set(bits=0, moved=at, futile=overlay.futile + 1))


def brake(look: Look, cause: Cause, code: str) -> Brake:
    """A code goes off now; for twice as long as last time, if that is not long ago."""
    words, before = look.words.recovery, look.overlay.returned.get(code)
    pause, longest = words.pause_minutes * 60, words.longest_hours * 3600
    if before is not None and 0 <= look.at - before.at < longest + before.pause:
        pause = max(pause, min(2 * before.pause, longest))
    return Brake(cause=cause, since=look.at, pause=pause, next=look.at + pause)


def _on(look: Look) -> list[tuple[str, CodeReading]]:
    """The codes that are injected."""
    if look.overlay.fallback is not None:
        return [(code, one) for code, one in look.reading.by_code.items() if code in look.overlay.back]
    return [(code, one) for code, one in look.reading.by_code.items() if code not in look.overlay.codes]


def _verdict(look: Look, code: str, one: Brake) -> tuple[Act | None, Act | None]:
    """Why a code that is tried may come back, and why it must not; none of both: nobody can say yet."""
    figures = look.reading.by_code.get(code)
    if figures is None:
        return None, None
    likeness, speed = look.words.consistency, look.words.latency
    back = Act(look.at, "on", code, "tried", "inject")
    again = Act(look.at, "again", code, "tried", "off")
    if _below(figures.cs, likeness.low):
        return None, again._replace(figure="CS", seen=figures.cs, limit=likeness.low)
    if one.cause == "latency":
        seen = _speed(figures)
        if _above(seen, speed.least):
            return None, again._replace(figure="LD", seen=seen, limit=speed.least)
        good = seen is not None and seen.value <= speed.back and _below(seen, speed.least)
        return (back._replace(figure="LD", seen=seen, limit=speed.least) if good else None), None
    good = figures.cs is not None and figures.cs.value >= likeness.back and figures.cs.low >= likeness.low
    return (back._replace(figure="CS", seen=figures.cs, limit=likeness.low) if good else None), None


def _hopeful(look: Look, code: str, one: Brake) -> bool:
    """Whether what was seen of a code that is tried looks good so far; then it goes on until that is sure."""
    figures = look.reading.by_code.get(code)
    if figures is None:
        return False
    if one.cause == "latency":
        seen = _speed(figures)
        return seen is not None and seen.value <= look.words.latency.back
    return figures.cs is not None and figures.cs.value >= look.words.consistency.back


def _speed(one: CodeReading) -> Figure | None:
    """A code's LD at the 95th percentile; of too few samples to bound that, at the median."""
    return one.ld if one.ld is not None and math.isfinite(one.ld.high) else one.ld_median


def _below(figure: Figure | None, limit: float) -> bool:
    """Whether it is surely below."""
    return figure is not None and figure.high < limit


def _above(figure: Figure | None, limit: float) -> bool:
    return figure is not None and figure.low > limit


def _set(**fields: object) -> Change:
    return lambda overlay: overlay.model_copy(update=fields)


def _brake(code: str, one: Brake) -> Change:
    """This code is off, or tried; it is no longer among those that came back."""

    def change(overlay: Overlay) -> Overlay:
        back = tuple(other for other in overlay.back if other != code)
        return overlay.model_copy(update={"codes": {**overlay.codes, code: one}, "back": back})

    return change


def _again(code: str, one: Brake, at: float, pause: float) -> Change:
    later = {"tried": None, "tries": one.tries + 1, "pause": pause, "next": at + pause}
    return _brake(code, one.model_copy(update=later))


def _back(code: str, one: Brake, at: float) -> Change:
    def change(overlay: Overlay) -> Overlay:
        codes = {other: one for other, one in overlay.codes.items() if other != code}
        back = overlay.back if overlay.fallback is None else tuple(sorted({*overlay.back, code}))
        returned = {**overlay.returned, code: Returned(at=at, pause=one.pause)}
        return overlay.model_copy(update={"codes": codes, "back": back, "returned": returned})

    return change
