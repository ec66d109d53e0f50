"""What was said to clients lately, out of a log: who hedges, and whether the classifier's word of it has drifted.

The model's manifest holds no spread of its scores, so the earlier half of the log is what the later half is compared
with. Memory holds the newest answers alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from gateway.assess import log
from gateway.assess._line import Line
from gateway.symptoms import Answers, Said, Spread
from gateway.tiers._model import Asked, Scorer
from gateway.tiers._patterns import Finder, Phrases

NEWEST = 2000  # answers
LONGEST = 20_000  # characters of one that are read
SCORED = 200  # of each half
BINS, FEW = 10, 5  # of scores, and where there are fewer than SCORED on a side
SHOWN = 5  # words
UNREAD = "untouched"

_SCORES = Said("the classifier's scores", "分类器分数")
_WAYS = Said("what became of answers", "回答的处理结果")


def gathered(
    path: Path, doubts: Sequence[Phrases], load: Callable[[], Scorer] | None, step: Callable[[], None] = lambda: None
) -> Answers:
    """`doubts`: the words that hedge. `load` brings the classifier; None: no scores are told. ConfigFault if the log
    can't be read."""
    with closing(log.opened(path)) as source:
        lines = deque((_cut(line) for line in source if line.answer or line.way), NEWEST)
    said = [line for line in lines if line.answer]
    finder, words = Finder(doubts, mentions=False), Counter[str]()
    hedging = 0
    for line in said:
        found = {word.decode().lower() for word in finder.found(line.answer.encode(errors="replace"))}
        hedging += bool(found)
        words.update(found)
        step()
    spreads = [] if load is None or len(said) < 2 else [_scores(said, load(), step)]
    ways = _ways(lines)
    return Answers(str(path), len(said), hedging, words.most_common(SHOWN), [*spreads, *([ways] if ways else [])])


def _cut(line: Line) -> Line:
    return line._replace(answer=line.answer[:LONGEST], question=line.question[:LONGEST], body=None)


def _scores(said: Sequence[Line], scorer: Scorer, step: Callable[[], None]) -> Spread:
    """Of evenly chosen answers of both halves."""
    half = len(said) // 2
    before, now = (
        [_score(line, scorer, step) for line in _evenly(part, SCORED)] for part in (said[:half], said[half:])
    )
    return spread(_SCORES, before, now)


def _score(line: Line, scorer: Scorer, step: Callable[[], None]) -> float:
    step()
    return float(scorer.risks([Asked(line.question, "", line.answer)])[0])


def _evenly(lines: Sequence[Line], most: int) -> Iterable[Line]:
    count = min(len(lines), most)
    return (lines[number * len(lines) // count] for number in range(count))


def spread(what: Said, before: Sequence[float], now: Sequence[float]) -> Spread:
    """In bins that hold equal parts of what was before."""
    ordered = sorted(before)
    bins = BINS if min(len(before), len(now)) >= SCORED else FEW
    edges = sorted({ordered[number * len(ordered) // bins] for number in range(1, bins)})
    counts = []
    for values in (before, now):
        held = Counter(bisect_right(edges, value) for value in values)
        counts.append([held[number] for number in range(len(edges) + 1)])
    return Spread(what, *counts)


def _ways(lines: Iterable[Line]) -> Spread | None:
    """By what became of the second reading; None where all went one way."""
    ways = [line.way or UNREAD for line in lines]
    kinds, half = sorted(set(ways)), len(ways) // 2
    if len(kinds) < 2:
        return None
    before, now = Counter(ways[:half]), Counter(ways[half:])
    return Spread(_WAYS, [before[kind] for kind in kinds], [now[kind] for kind in kinds])
