"""What judging costs: 400 new characters, with few and with very many rules."""

from __future__ import annotations

import random
import statistics
import sys
import time
from typing import Any

from gateway.judge import Judge
from gateway.rules import Place, Rule
from gateway.types import Side
from gateway.window import Window

CHARS = 400
_COMMON = "etaoinshrdlucmfwypvbgkjqxz"


def _word(rng: random.Random, low: int = 3) -> str:
    return "".join(rng.choice(_COMMON[: rng.choice([12, 20, 26])]) for _ in range(rng.randint(low, 9)))


def _han(rng: random.Random, count: int) -> str:
    return "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(count))


def _pattern(rng: random.Random) -> str:
    """A rule such as people write: two words, a gap, alternatives, digits; one in seven is Chinese."""
    one, two, three = _word(rng), _word(rng), _word(rng)
    shapes = [
        rf"\b{one} {two}\b",
        rf"\b{one}\b.{{0,30}}\b{two}\b",
        rf"\b(?:{one}|{two}) {three}s?\b",
        rf"\b{one}\s{{1,3}}(?:the |all )?{two}",
        rf"\b{one}-\d{{3,6}}\b",
        rf"\b{one}[ -]?{two}(?:ing|ed)?\b",
        rf"{_han(rng, 2)}.{{0,10}}{_han(rng, 2)}",
    ]
    return rng.choice(shapes)


def _rules(regexes: int, words: int) -> list[Rule]:
    rng = random.Random(7)
    lists = [_word(rng, 4) for _ in range(words * 7 // 10)] + [_han(rng, 3) for _ in range(words * 3 // 10)]
    common = {"side": "output", "action": "block", "reason": "R101"}
    made = [{"id": f"r{i}", "check": {"type": "regex", "pattern": _pattern(rng)}, **common} for i in range(regexes)]
    return [
        Rule.model_validate(rule) for rule in [*made, {"id": "w", "check": {"type": "words", "words": lists}, **common}]
    ]


def _texts(count: int, seed: int) -> list[str]:
    """Text of known words, that no rule was made for: nine in ten English, one Chinese."""
    rng = random.Random(seed)
    english = [_word(rng) for _ in range(3000)]
    chinese = [_han(rng, 6) for _ in range(3000)]
    return [
        "，".join(rng.choice(chinese) for _ in range(60))[:CHARS]
        if number % 10 == 0
        else " ".join(rng.choice(english) for _ in range(90))[:CHARS]
        for number in range(count)
    ]


def _microseconds(rules: list[Rule]) -> tuple[float, float]:
    """Median and p99 of feeding a window CHARS new characters of a stream, automata warm."""
    lanes = Judge(rules).lanes(Place(Side.OUTPUT, "chat", "m", "t", "standard", "assistant"))
    for text in _texts(2000, 1):
        Window(lanes).feed(text)
    spent = []
    for text in _texts(3000, 2):
        window = Window(lanes)
        start = time.perf_counter()
        window.feed(text)
        spent.append(time.perf_counter() - start)
    spent.sort()
    return 1e6 * statistics.median(spent), 1e6 * spent[len(spent) * 99 // 100]


def measure() -> dict[str, Any]:
    """The figures, by name."""
    figures: dict[str, Any] = {}
    for name, regexes, words in (
        ("10_rules", 10, 10_000),
        ("1000_rules", 1000, 10_000),
        ("10_rules_100_words", 10, 100),
    ):
        middle, high = _microseconds(_rules(regexes, words))
        figures[f"judge_us_{name}"], figures[f"judge_p99_us_{name}"] = round(middle, 2), round(high, 2)
        print(f"judging {CHARS} characters, {regexes} regexes, {words} words: {middle:.1f} us", file=sys.stderr)
    figures["judge_ratio"] = round(figures["judge_us_1000_rules"] / figures["judge_us_10_rules"], 2)
    return figures
