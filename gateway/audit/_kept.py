"""The words of an exchange that there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gateway.types import Text

LEFT_OUT = "…"


class Kept(NamedTuple):
    """Who asked what, and what the answers say."""

    asked: Sequence[tuple[str, str]]
    said: Mapping[int, str]
    left_out: int = 0  # texts of the request


def kept(asked: Sequence[Text], said: Mapping[int, str], room: int) -> Kept:
    """Of the texts of a request the latest come first if there is not room for all."""
    whole, size = [], 0
    for _, role, text, is_whole in asked:
        if is_whole:
            whole.append((role, text))
            size += len(text)
    for text in said.values():
        size += len(text)
    return Kept(whole, said) if size <= room else _fitting(whole, said, room)


def _fitting(asked: Sequence[tuple[str, str]], said: Mapping[int, str], room: int) -> Kept:
    answers: dict[int, str] = {}
    for choice in sorted(said):
        answers[choice] = cut(said[choice], room)
        room = max(room - len(said[choice]), 0)
    latest: list[tuple[str, str]] = []
    for role, text in reversed(asked):
        if room <= 0:
            break
        latest.append((role, cut(text, room)))
        room -= len(text)
    return Kept(latest[::-1], answers, len(asked) - len(latest))


def cut(text: str, room: int) -> str:
    """The text, or as much of its beginning as there is room for."""
    return text if len(text) <= room else text[:room] + LEFT_OUT
