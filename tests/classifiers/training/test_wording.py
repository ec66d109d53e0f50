"""What is worded like a wrong answer gets a higher number; the same seed gives the same weights."""

from __future__ import annotations

import numpy as np

from classifiers.phrases import Phrases
from classifiers.reading import Asked
from classifiers.training.wording import learn

ENGLISH = [Asked(f"Question {n}?", "", "the moon is cheese" if n % 2 else "no, that is a myth") for n in range(64)]
CHINESE = [Asked(f"问题{n}？", "", "月亮是奶酪做的" if n % 2 else "没有科学依据") for n in range(64)]
ASKED = [*ENGLISH, *CHINESE]
WRONG = [bool(n % 2) for n in range(128)]


def test_wording_is_learnt() -> None:
    phrases = Phrases(learn(ASKED, WRONG, np.random.default_rng(1)))
    assert phrases.number(Asked("?", "", "the moon is round")) > 0 > phrases.number(Asked("?", "", "that is a tale"))
    assert phrases.number(Asked("？", "", "月亮是冰做的")) > 0 > phrases.number(Asked("？", "", "没有依据"))


def test_the_same_seed_gives_the_same_weights() -> None:
    one, again = (learn(ASKED, WRONG, np.random.default_rng(2)) for _ in range(2))
    assert np.array_equal(one, again)
