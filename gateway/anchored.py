"""A window whose text leaves from anchor to anchor, so that what is still here can be cut back to one of them."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.anchors import FRONTIER, AnchorSpec, Cut, Trail
from gateway.judge import Lane
from gateway.types import Action, Finding
from gateway.window import Window


class Anchored:
    """Like a Window. `past` is the text before it, which has left; its last `before` characters are judged again."""

    def __init__(self, lanes: Sequence[Lane], anchors: Sequence[AnchorSpec], past: str = "", before: str = "") -> None:
        self._inner = Window(lanes, before)
        self._trail = Trail(anchors)
        self._trail.feed(past)
        self._shift = len(past) - len(before)  # anchors count from the beginning of all
        self._seen: list[Finding] = []  # what stands once its text has left
        self._over = False  # nothing can be cut back any more
        self.frontier = self._inner.frontier

    @property
    def halted(self) -> Finding | None:
        return self._inner.halted

    @property
    def limit(self) -> int:
        return self._inner.limit

    def feed(self, text: str, final: bool = False) -> None:
        if not self._inner.halted:
            self._trail.feed(text)
        self._inner.feed(text, final)
        self._move(final)

    def note(self, finding: Finding) -> None:
        self._inner.note(finding)

    def _move(self, final: bool) -> None:
        if self._inner.halted:
            return
        if final:
            self.stands()
        else:
            self.frontier = self._anchor(self._inner.frontier).position
            self._trail.forget(self.frontier + self._shift)

    def _anchor(self, upto: int) -> Cut:
        cut = self._trail.cut(upto + self._shift, self.frontier + self._shift)
        return cut._replace(position=cut.position - self._shift)

    def rewound(self) -> Cut:
        """Cut the text back to before what halted it. Where, and to which kind of anchor."""
        halted = self._inner.halted
        cut = self._anchor(halted.start) if halted is not None else Cut(self.frontier, FRONTIER)
        self._inner.cut(cut.position)
        self.frontier = cut.position
        seen = [*self._seen, *self._inner.taken()]
        self._seen = [finding for finding in seen if finding is halted or self._has_left(finding)]
        self._over = True
        return cut

    def stands(self) -> None:
        """It ends here, as it is or by what halted it: all before that may leave."""
        self.frontier = self._inner.frontier
        self._over = True

    def pardon(self, action: Action, final: bool) -> None:
        self._inner.pardon(action, final)
        self._move(final)

    def last(self, count: int) -> str:
        return self._inner.last(count)

    def taken(self) -> list[Finding]:
        """The findings since the last call that stand for good: none of what may still be cut back."""
        self._seen += self._inner.taken()
        told = [finding for finding in self._seen if self._over or self._has_left(finding)]
        self._seen = [] if self._over else [finding for finding in self._seen if not self._has_left(finding)]
        return told

    def _has_left(self, finding: Finding) -> bool:
        return finding.start < self.frontier if finding.action.holds else finding.end <= self.frontier

    def touches(self, start: int, end: int) -> bool:
        return self._inner.touches(start, end)

    def render(self, start: int, text: str) -> str:
        return self._inner.render(start, text)
