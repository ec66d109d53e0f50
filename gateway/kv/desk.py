"""The scheduler's side of the plugin, without the scheduler: what is captured of each request, what is injected, when.

One thread. For each request that speaks to us there is a track; a request without one costs a dict lookup a step.
The desk promises the engine tokens (`prefix`, `jump`) and then sees to it that they are loaded before the step that
needs them; where that fails the request is computed in full (`failed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.kv.nouns import Ask, Decline, Entry, Mode, Owner, Report, Span
from gateway.kv.plan import Engine, Plan, Subject, plan

Blocks = tuple[Sequence[int], ...]  # a request's block numbers, for each KV group


def numbers(table: Blocks, index: int) -> tuple[int, ...]:
    """A request's block `index` in each group; 0 where it has none."""
    return tuple(group[index] if index < len(group) else 0 for group in table)


class Begin(NamedTuple):
    """A request that may be captured runs for the first time: its name, whose it is, how long its prompt."""

    capture: str
    owner: Owner
    prompt: int


class Save(NamedTuple):
    """A block that has filled in this step: record it. `blocks` is its number in each group, 0 where it is gone."""

    capture: str
    number: int
    tokens: tuple[int, ...]
    blocks: tuple[int, ...]


class Load(NamedTuple):
    """A part of a donor to be in place before this step runs. `exact`: the same positions, whole blocks."""

    request: str
    donor: str
    span: Span
    exact: bool
    blocks: Blocks


class Finished(NamedTuple):
    """A request that is over, captured or not: its report, and its last tokens, which fill no block."""

    capture: str
    report: Mapping[str, object]
    tail: tuple[int, ...] = ()


class Errands(NamedTuple):
    """What the worker is to do around one step. `failed`: requests whose loads got lost, and their blocks."""

    begins: tuple[Begin, ...] = ()
    saves: tuple[Save, ...] = ()
    loads: tuple[Load, ...] = ()
    finished: tuple[Finished, ...] = ()
    failed: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(slots=True)
class Track:
    """One request under way."""

    subject: Subject
    plan: Plan
    report: Report
    captures: bool
    computed: Callable[[], int]
    begun: bool = False
    saved: int = 0  # blocks
    due: list[Span] = field(default_factory=list)  # jumps still to come, in order
    loading: list[tuple[Span, bool]] = field(default_factory=list)  # promised, to be loaded with the next step

    def give_up(self, why: Decline) -> None:
        """Inject nothing (more) and let the engine compute."""
        self.plan = Plan(declined=why)
        self.due.clear()
        self.loading.clear()
        self.report.mode, self.report.declined = Mode.NONE, why.value
        self.report.injected_tokens = self.report.recomputed_tokens = 0


class Desk:
    """Tracks of all requests, and what each step has to do for them."""

    def __init__(self, engine: Engine, find: Callable[[str], Entry | None]) -> None:
        self.engine, self._find = engine, find
        self._tracks: dict[str, Track] = {}
        self._capturing: set[str] = set()
        self._finished: list[Finished] = []
        self._failed: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether there is anything to do at all."""
        return bool(self._tracks or self._finished or self._failed)

    def admit(self, request: str, subject: Subject, computed: Callable[[], int]) -> Track:
        """A request has come: look its donor up and plan. `computed` tells how far the engine is with it.

        Returns its track, to see what was decided."""
        donor = self._find(subject.ask.donor) if subject.ask.donor else None
        made = plan(subject, donor, self.engine)
        capture = subject.ask.capture
        records = subject.ask.record and subject.supported and not made.jumps
        captures = bool(capture) and records and capture not in self._capturing
        if capture and captures:
            self._capturing.add(capture)
        report = Report(declined=made.declined.value if made.declined else None)
        track = self._tracks[request] = Track(subject, made, report, captures, computed, due=list(made.jumps))
        return track

    def refuse(self, request: str, why: Decline) -> None:
        """A request that can't be served by us and shall hear why."""
        nobody = Subject((), Owner("", "", ""), Ask())
        self._tracks[request] = Track(nobody, Plan(declined=why), Report(declined=why.value), False, int)

    def splices(self, request: str) -> bool:
        """Whether jumps are planned: such a request must share no cache with others."""
        track = self._tracks.get(request)
        return bool(track and track.plan.jumps)

    def prefix(self, request: str, local: int) -> int:
        """How many tokens beyond the first `local` can be loaded exactly. Changes nothing."""
        track = self._tracks.get(request)
        if track is None or track.plan.prefix - local < self.engine.block_size:
            return 0
        return track.plan.prefix - local

    def allocated(self, request: str, external: int) -> None:
        """The engine counts on the last `external` tokens of the planned prefix, and has blocks for them."""
        track = self._tracks.get(request)
        if track is None:
            return
        if external:
            start = track.plan.prefix - external
            if start < 0:
                raise ValueError(f"{request} counts on {external} tokens that are no longer planned")
            track.loading.append((Span(start, start, external), True))
            track.report.injected_tokens += external
            track.report.mode = Mode.PREFIX
        elif track.plan.prefix and not track.plan.jumps:
            track.report.declined = Decline.CACHED.value

    def stop_before(self, request: str, computed: int, new: int) -> int:
        """How many of `new` tokens to compute now, so that the step ends where the next jump begins."""
        track = self._tracks.get(request)
        if track is None or not track.due:
            return new
        while track.due and track.due[0].start < computed:
            track.due.pop(0)  # the engine's own cache reaches further than the jump begins
        if not track.due:
            return new
        first = track.due[0]
        if first.start == computed:  # a jump follows a step, so one token of it is computed
            track.due[0] = first = Span(first.donor + 1, first.start + 1, first.length - 1)
        return min(new, first.start - computed)

    def jump(self, request: str, computed: int) -> int:
        """Where the request goes on once it has computed `computed` tokens: behind the jump that begins there."""
        track = self._tracks.get(request)
        if track is None or not track.due or track.due[0].start != computed:
            return computed
        span = track.due.pop(0)
        track.loading.append((span, False))
        track.report.injected_tokens += span.length
        track.report.recomputed_tokens = track.plan.recomputed
        track.report.mode = Mode.SPLICE
        return span.end

    def cap(self, request: str) -> int | None:
        """How many tokens at most may enter the engine's own prefix cache; None: any."""
        track = self._tracks.get(request)
        return track.plan.jumps[0].start if track and track.plan.jumps else None

    def again(self, request: str, why: Decline | None = None) -> None:
        """The request starts over (preempted, or its load failed): without us, to be safe."""
        track = self._tracks.get(request)
        if track and (why or track.plan.jumps or track.loading):
            track.give_up(why or Decline.PREEMPTED)
        elif track:
            track.report.injected_tokens, track.report.mode = 0, Mode.NONE

    def lose(self, request: str) -> None:
        """A load that the engine counts on can't be ordered any more."""
        self._failed.add(request)

    def step(self, scheduled: Iterable[tuple[str, int]], blocks: Callable[[str], Blocks | None]) -> Errands:
        """The errands of one step: `scheduled` are requests, and how many tokens of each it computes."""
        begins: list[Begin] = []
        saves: list[Save] = []
        loads: list[Load] = []
        for request, count in scheduled:
            track = self._tracks.get(request)
            if track is None:
                continue
            begins += self._begins(track)
            if not (track.captures or track.loading):
                continue
            table = blocks(request)
            if table is None:
                continue
            loads += self._loads(request, track, table)
            if track.captures:
                filled = min(track.computed() + count, len(track.subject.tokens)) // self.engine.block_size
                saves += self._saves(track, filled, table)
        finished, self._finished = tuple(self._finished), []
        failed = tuple((name, tuple(n for group in blocks(name) or () for n in group)) for name in self._failed)
        self._failed.clear()
        return Errands(tuple(begins), tuple(saves), tuple(loads), finished, failed)

    def _begins(self, track: Track) -> Iterable[Begin]:
        capture = track.subject.ask.capture
        if track.begun or not capture or not (track.captures or capture not in self._capturing):
            return []
        track.begun = True
        return [Begin(capture, track.subject.owner, len(track.subject.tokens))]

    def _loads(self, request: str, track: Track, table: Blocks) -> Iterable[Load]:
        donor = track.subject.ask.donor
        waiting, track.loading = track.loading, []
        return [Load(request, donor, span, exact, table) for span, exact in waiting] if donor else []

    def _saves(self, track: Track, full: int, table: Blocks) -> Iterable[Save]:
        size, capture = self.engine.block_size, track.subject.ask.capture
        assert capture is not None
        for index in range(track.saved, full):
            tokens = tuple(track.subject.tokens[index * size : (index + 1) * size])
            yield Save(capture, index, tokens, numbers(table, index))
            track.saved = index + 1
        track.report.captured_tokens = track.saved * size

    def finish(self, request: str) -> Report | None:
        """The request is over, however it ended: its report, None if it never spoke to us."""
        track = self._tracks.pop(request, None)
        if track is None:
            return None
        capture = track.subject.ask.capture
        if capture and (track.captures or capture not in self._capturing):
            tail = tuple(track.subject.tokens[track.saved * self.engine.block_size :]) if track.captures else ()
            self._finished.append(Finished(capture, track.report.to_dict(), tail))
            self._capturing.discard(capture)
        return track.report

    @property
    def waiting(self) -> list[str]:
        """Requests whose loads are promised and not yet ordered."""
        return [request for request, track in self._tracks.items() if track.loading]
