"""The same question as another would type it: politer, in a hurry, with a slip of the finger."""

from __future__ import annotations

import re

import numpy as np

BEFORE = {
    True: (
        "请问", "请问一下，", "你好，", "您好，请问", "我想问一下", "我想知道", "麻烦问下", "帮我看看",
        "那个，", "亲，", "急！",
    ),
    False: (
        "hi, ", "hello, ", "please tell me ", "can you tell me ", "i want to know ", "quick question: ",
        "hey, ", "so ", "um ",
    ),
}  # fmt: skip
AFTER = {
    True: (
        "呢", "啊", "？谢谢", "，谢谢", "，麻烦了", "，急", "呀", "，多谢", "，在线等",
    ),
    False: (
        " please", " thanks", ", thank you", " asap", " pls", "?", ", any idea", " thx",
    ),
}  # fmt: skip
_HAN = re.compile(r"[\u3400-\u9fff]")


def disguise(text: str, random: np.random.Generator) -> str:
    """Some of it changed, never a number, a name or a negation."""
    chinese = bool(_HAN.search(text))
    before = random.choice(BEFORE[chinese]) if random.random() < 0.6 else ""
    after = random.choice(AFTER[chinese]) if random.random() < 0.5 else ""
    changed = text if chinese or random.random() < 0.5 else _slip(text, random)
    return f"{before}{changed.rstrip('?？。.!！')}{after}" if before or after else changed


def _slip(text: str, random: np.random.Generator) -> str:
    """Two neighbouring letters of one long word swapped."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 5 and word.isascii() and word.isalpha()]
    if long:
        place = int(random.choice(long))
        word = words[place]
        at = int(random.integers(1, len(word) - 2))
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)
