"""The set of documents that refer back is what its bench takes it for."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from tests.bench.backref import Document, Value, documents
from tests.bench.docs import Lang

LANGS: tuple[Lang, ...] = get_args(Lang)
ALL = [document for lang in LANGS for document in documents(lang)]
# In characters; that they are 350 to 700 tokens with at most 100 before them is tested where a tokenizer is.
BODY = {"zh": (620, 1100), "en": (2000, 3300)}

# What points back.
BACK = {
    "zh": ("上述", "开头", "上文", "前面", "首段", "所说", "所列", "所写", "所定", "写明", "载明", "规定", "约定"),
    "en": ("above", "head", "beginning", "opening", "first paragraph", "named", "stated", "given", "mentioned"),
}


@pytest.mark.parametrize("lang", LANGS)
def test_there_are_thirty_over_all_kinds_and_fields(lang: Lang) -> None:
    found = documents(lang)
    assert len(found) >= 30
    assert {document.field for document in found} == {"finance", "ecommerce", "education"}
    assert min(Counter(document.kind for document in found).values()) >= 7
    assert len({document.id for document in found}) == len(found)
    assert documents(lang) is found


@pytest.mark.parametrize("document", ALL, ids=lambda document: document.id)
def test_only_the_head_tells_the_value(document: Document) -> None:
    assert document.head.count("{value}") == 1
    assert "{" not in document.body
    for value in (document.old, document.new):
        assert value.said_in(document.preamble(value))
        assert not value.said_in(document.body)
        assert not value.said_in(document.head)
        assert not value.said_in(document.question)
    assert document.followed(document.preamble(document.new)) == "new"
    assert document.followed(document.preamble(document.old)) == "old"


@pytest.mark.parametrize("document", ALL, ids=lambda document: document.id)
def test_the_rest_is_long_enough_and_points_back_often(document: Document) -> None:
    low, high = BODY[document.lang]
    assert low <= len(document.body) <= high
    assert document.body.count(document.ref) >= 2
    assert sum(document.body.count(words) for words in (document.ref, *BACK[document.lang])) >= 5


@pytest.mark.parametrize("lang", LANGS)
def test_no_paragraph_is_everywhere(lang: Lang) -> None:
    bodies = [document.body.split("\n\n") for document in documents(lang)]
    assert all(len(body) == len(set(body)) for body in bodies)
    counted = Counter(part for body in bodies for part in body)
    assert max(counted.values()) <= 8
    assert len(counted) >= 100


@pytest.mark.parametrize(
    ("spellings", "answer", "said"),
    [
        (["$125,500"], "It is 125500 dollars.", False),
        (["125,500"], "It is $125,500.00.", True),
        (["15 March 2027"], "On 15th of March 2027.", True),
        (["March 15, 2027"], "On March 15th, 2027", True),
        (["36"], "136", False),
        (["36"], "36.5", False),
        (["36"], "3.36", False),
        (["36"], "It is 36.", True),
        (["Eberle"], "dr. eberle", True),
        (["Eberle"], "Eberles", False),
        (["4200元"], "单价为 4,200 元。", True),
        (["4200元"], "单价为４２００元", True),
        (["3月15日"], "2027 年 3 月 15 日", True),
        (["3月15日"], "13月15日", False),
    ],
)
def test_a_value_is_found_in_the_spellings_of_answers(spellings: list[str], answer: str, said: bool) -> None:
    assert Value(spellings[0], tuple(spellings)).said_in(answer) is said


def test_an_answer_may_follow_both_or_neither() -> None:
    document = ALL[0]
    both = f"{document.old.text} {document.new.text}"
    assert document.followed(both) == "both"
    assert document.followed("?") == "neither"
