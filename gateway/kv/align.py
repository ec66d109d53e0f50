"""Where the tokens of a donor and of a request agree: in order, without crossing, each stretch long enough to pay.

Seeds, a few tokens each, are taken from the donor so densely that no run worth having lies between them, and are
looked up in the request; each that is met is grown to the whole run around it; a chain of runs is the answer.
Text that repeats itself can meet itself everywhere: rare seeds go first, and what all of them may compare is bounded
by the sizes of the two. So time and memory grow with the sizes, whatever the tokens are.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from gateway.kv.nouns import Span

SEED = 16  # tokens: few enough to be quick, enough to be rare
EFFORT = 16  # tokens that may be compared, for each token given
FLOOR = 1 << 16  # and as many in any case
GROWING = 256  # what growing a run costs before its first token, in tokens compared
LOOK_BACK = 64  # runs that one which overlaps them is tried behind


def common_prefix(donor: Sequence[int], request: Sequence[int]) -> int:
    """How many tokens agree from the beginning. OverflowError for a token of more than 32 bits."""
    return _ahead(array("i", donor), array("i", request), 0, 0)


def align(donor: Sequence[int], request: Sequence[int], least: int) -> list[Span]:
    """Spans of at least `least` tokens that agree, in order in both, overlapping in neither; as many tokens as can be.

    Each is as long as it can be, but for what was cut from its beginning because the one before it has it. Of text
    that repeats itself endlessly the spans may be fewer or shorter than the best. ValueError if `least` is below 1,
    OverflowError for a token of more than 32 bits.
    """
    return _chain(runs(donor, request, least), least)


def runs(donor: Sequence[int], request: Sequence[int], least: int) -> list[Span]:
    """Each stretch of at least `least` tokens that agrees and can't be longer; as far as the effort allows.

    Together they have at most EFFORT * (both sizes) + FLOOR tokens, beside the one in whose midst the effort ended.
    """
    if least < 1:
        raise ValueError(f"least={least} must be 1 or more tokens")
    known, asked = array("i", donor), array("i", request)
    effort = EFFORT * (len(known) + len(asked)) + FLOOR
    width = min(SEED, least)
    stride = least - width + 1  # any run of `least` tokens holds one seed; a shorter one holds at most one
    found: list[Span] = []
    edges: dict[int, list[int]] = {}  # by shift, in order: where a run found starts, where it ends
    for place, start in _meetings(known, asked, width, stride):
        effort -= 1
        marks = edges.setdefault(start - place, [])
        at = bisect_right(marks, start)
        if at % 2 == 0:  # not inside a run
            run = _grown(known, asked, place, start)
            effort -= run.length + GROWING
            if run.length >= least:
                found.append(run)
                marks[at:at] = [run.start, run.end]
        if effort <= 0:
            break
    return found


def _meetings(donor: array[int], request: array[int], width: int, stride: int) -> Iterator[tuple[int, int]]:
    """(place in the donor, place in the request) of each seed that both have, the rarest first."""
    seeds: dict[bytes, list[int]] = {}
    firsts: set[int] = set()  # most places of a request begin with none of these, and are passed quickly
    for place in range(0, len(donor) - width + 1, stride):
        seeds.setdefault(donor[place : place + width].tobytes(), []).append(place)
        firsts.add(donor[place])
    met: dict[bytes, list[int]] = {}
    for start, token in enumerate(request):
        if token in firsts:
            seed = request[start : start + width].tobytes()
            if seed in seeds:
                met.setdefault(seed, []).append(start)
    for seed in sorted(met, key=lambda seed: len(met[seed]) * len(seeds[seed])):
        for start, place in product(met[seed], seeds[seed]):
            yield place, start


def _grown(donor: array[int], request: array[int], place: int, start: int) -> Span:
    """The whole run around a place where both agree."""
    before = _behind(donor, request, place, start)
    return Span(place - before, start - before, before + _ahead(donor, request, place, start))


def _ahead(donor: array[int], request: array[int], place: int, start: int) -> int:
    """How many tokens agree from there on."""

    def agree(near: int, far: int) -> bool:
        return donor[place + near : place + far] == request[start + near : start + far]

    return _reach(agree, min(len(donor) - place, len(request) - start))


def _behind(donor: array[int], request: array[int], place: int, start: int) -> int:
    """How many tokens agree right before there."""

    def agree(near: int, far: int) -> bool:
        return donor[place - far : place - near] == request[start - far : start - near]

    return _reach(agree, min(place, start))


def _reach(agree: Callable[[int, int], bool], limit: int) -> int:
    """The greatest distance up to `limit` within which all agrees; looks at about three times as much."""
    done, step = 0, 64
    while done < limit and agree(done, min(done + step, limit)):
        done = min(done + step, limit)
        step *= 2
    end = min(done + step, limit)  # somewhere before this, unless the limit is reached, something differs
    while end - done > 1:
        middle = (done + end) // 2
        if agree(done, middle):
            done = middle
        else:
            end = middle
    return done


class _Stairs:
    """The chains worth going on from: one that ends further on in the donor is kept only if it has more tokens."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._chains: list[tuple[int, int]] = []  # (tokens, last run)

    def add(self, end: int, tokens: int, last: int) -> None:
        at = bisect_right(self._ends, end)
        if at and self._chains[at - 1][0] >= tokens:
            return
        beaten = at
        while beaten < len(self._ends) and self._chains[beaten][0] <= tokens:
            beaten += 1
        self._ends[at:beaten] = [end]
        self._chains[at:beaten] = [(tokens, last)]

    def best(self, end: int) -> tuple[int, int]:
        """The most tokens that a chain has up to there, and its last run; (0, -1) if there is none."""
        at = bisect_right(self._ends, end)
        return self._chains[at - 1] if at else (0, -1)


def _chain(found: list[Span], least: int) -> list[Span]:
    """The runs with the most tokens that can follow each other, what overlaps cut from the later one."""
    found = sorted(found, key=lambda run: (run.start, run.donor))
    closed = sorted(range(len(found)), key=lambda number: found[number].end, reverse=True)
    stairs = _Stairs()
    totals: list[int] = []  # of the best chain that ends with this run
    links: list[tuple[int, int]] = []  # (run before it, tokens left of it)
    for number, run in enumerate(found):
        while found[closed[-1]].end <= run.start:
            last = closed.pop()
            stairs.add(found[last].donor + found[last].length, totals[last], last)
        total, last = stairs.best(run.donor)
        best = (total + run.length, last, run.length)
        for last in range(max(number - LOOK_BACK, 0), number):
            if totals[last] + run.length > best[0]:
                left = _left(found[last], run)
                if left >= least and totals[last] + left > best[0]:
                    best = (totals[last] + left, last, left)
        totals.append(best[0])
        links.append(best[1:])
    chain = []
    last = max(range(len(found)), key=totals.__getitem__, default=-1)
    while last >= 0:
        run, (last, left) = found[last], links[last]
        cut = run.length - left
        chain.append(Span(run.donor + cut, run.start + cut, left))
    return chain[::-1]


def _left(first: Span, second: Span) -> int:
    """The tokens that the second has behind the end of the first."""
    return min(second.length, second.end - first.end, second.donor + second.length - first.donor - first.length)
