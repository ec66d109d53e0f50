"""What stands at the start of a question and says only that one is asked: "could you tell me", "请问", "我想".

What is left then begins with what matters, and a verb there makes it a request.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.gates._lemma import VERBS
from gateway.gates._operations import OPERATIONS
from gateway.gates._phrases import EXPLAINS_EN, FILLERS_ZH, FRAMES_EN, FRAMES_ZH, WANTS_EN
from gateway.gates._rows import words
from gateway.gates._text import NOTES, RAW, Token, Tokens


def _longest_first(frames: str) -> tuple[str, ...]:
    return tuple(sorted(words(frames), key=len, reverse=True))


_CHINESE = _longest_first(FRAMES_ZH)
_FILLERS = _longest_first(FILLERS_ZH)
_WANTS = frozenset(words(WANTS_EN))
_EXPLAINS = frozenset(words(EXPLAINS_EN))
_ENGLISH = frozenset(words(FRAMES_EN)) | _WANTS | _EXPLAINS
_MOST = max(frame.count(" ") + 1 for frame in _ENGLISH)
_MARKS = " ,.:!~"
_GET = Token(RAW, "get")


def begun(text: str) -> str:
    """A plain text without its Chinese frames, where anything is left behind them."""
    while rest := _behind(text, _CHINESE) or _behind(text, _FILLERS, _MARKS):
        text = rest
    return text


def _behind(text: str, frames: Sequence[str], marks: str = "") -> str:
    """What stands behind a frame that the text starts with, and behind a mark if there must be one."""
    for frame in frames:
        rest = text.removeprefix(frame)
        if rest != text and (not marks or rest[:1] in marks):
            return rest.lstrip(_MARKS)
    return ""


def stripped(tokens: Tokens) -> Tokens:
    """The tokens without English frames, and with a note if they begin with something to do or to explain."""
    found, moods = tokens, set()
    while frame := _frame(found):
        found = found[frame.count(" ") + 1 :]
        if frame in _WANTS:
            found = [_GET, *found]
        moods |= {"explain"} if frame in _EXPLAINS else set()
    if found and (found[0].value in VERBS or found[0].value in OPERATIONS):
        moods.add("do")
    return [*found, *(Token("mood", mood) for mood in sorted(moods))]


def _frame(tokens: Tokens) -> str:
    """The longest frame that the tokens begin with, if it leaves something."""
    for length in range(min(_MOST, len(tokens) - 1), 0, -1):
        phrase = " ".join(token.value for token in tokens[:length] if token.gate == RAW)
        if phrase in _ENGLISH and tokens[length - 1].gate == RAW and tokens[length].gate not in NOTES:
            return phrase
    return ""
