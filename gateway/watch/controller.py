"""The hand on the brake: figures in, acts out. A pure state machine: no clock, no I/O, the same readings the same acts.

                     CHR surely < low                    CHR surely > high
    search  as configured ----------------> loosened ----------------------> as configured

                     CS surely < low, or LD > least      pause over          surely good
    a code  injected ------------------------------> off ----------> tried ----------------> injected
                                                      ^   surely bad, or   |
                                                      +--- no verdict -----+   (the pause doubles if bad)

                     CS of all surely < low              each code was tried, some are back
    all     as above ------------------------> fallback -----------------------------------> as above

                     faults                              none for a while
    all     as above ------------------------> breaker open ------------------------------> as above

While the breaker is open nothing else is judged; while anything is held back the hit rate is not. What stops possible
harm is done at once; all else within the limits of `control` in rules/watch.yaml.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from gateway.overlay import EMPTY, Overlay, noted
from gateway.watch import levers
from gateway.watch._spells import Spells
from gateway.watch.acts import SAFE, Act
from gateway.watch.control import Controlling
from gateway.watch.levers import Look, Move
from gateway.watch.series import Reading

HOUR = 3600.0

Lever = Callable[[Look], Iterator[Move]]

_LEVERS: tuple[Lever, ...] = (
    levers.consistency,
    levers.latency,
    levers.tries,
    levers.recovery,
    levers.hits,
)


class Controller:
    """`overlay` is what shall be in force after the last step. In observe mode it stays as it is.

    `room`: by how many bits the configured search can be loosened (its chunks have a smallest size).
    """

    def __init__(self, words: Controlling, overlay: Overlay = EMPTY, room: int = 2) -> None:
        self.words, self.overlay, self.room = words, overlay, room
        self._spells = Spells()
        self._calm = float("-inf")  # when something was last held back
        self._lately: deque[float] = deque(maxlen=1000)
        self._proposed: frozenset[tuple[str, str]] = frozenset()

    def adopt(self, overlay: Overlay) -> None:
        """Go on from here: somebody else has led, or a person has taken all back."""
        self.overlay, self._spells, self._proposed = overlay, Spells(), frozenset()

    def step(self, reading: Reading) -> list[Act]:
        """What to do now. Readings come in the order of their times."""
        self._spells.look(reading.at)
        if self.words.mode == "observe":
            return self._propose(reading)
        self._settings()
        acts: list[Act] = []
        for lever in (levers.breaker, *_LEVERS):
            if lever is not levers.breaker and self.overlay.breaker is not None:
                break
            acts += self._made(lever(self._look(reading, self.overlay)))
        if self.overlay.codes or self.overlay.fallback is not None or self.overlay.breaker is not None:
            self._calm = reading.at
        self.overlay = noted(self.overlay, (act.noted for act in acts)) if acts else self.overlay
        return acts

    def _look(self, reading: Reading, overlay: Overlay) -> Look:
        return Look(self.words, reading, overlay, self._spells, self.room, self._calm)

    def _settings(self) -> None:
        """What the file says of shares and of the fallback holds also for what is off already."""
        told = {"share": self.words.recovery.share, "how": self.words.consistency.fallback}
        if not self.overlay.idle and told != {"share": self.overlay.share, "how": self.overlay.how}:
            self.overlay = self.overlay.model_copy(update=told)

    def _made(self, moves: Iterable[Move]) -> list[Act]:
        """The moves that the limits allow, made."""
        made = []
        for act, change in moves:
            if act.what not in SAFE and self._full(act.at):
                continue  # it is wanted again at the next look
            if act.what not in SAFE:
                self._lately.append(act.at)
            self.overlay = change(self.overlay)
            made.append(act)
        return made

    def _propose(self, reading: Reading) -> list[Act]:
        """What would be done if nothing had been yet; each once, as long as it is wanted."""
        look = self._look(reading, EMPTY)
        moves = list(levers.breaker(look))
        for lever in _LEVERS if not moves else ():
            moves += lever(look)
        wanted = {(move.act.what, move.act.code): move.act for move in moves}
        new = [act for key, act in wanted.items() if key not in self._proposed]
        self._proposed = frozenset(wanted)
        return new

    def _full(self, at: float) -> bool:
        """Whether as many acts were made in the last hour as may be."""
        while self._lately and not 0 <= at - self._lately[0] <= HOUR:
            self._lately.popleft()
        return len(self._lately) >= self.words.acts_an_hour
