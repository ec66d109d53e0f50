"""The word lists say each thing once, in both languages."""

from __future__ import annotations

from collections import Counter

import pytest

from classifiers import lists
from classifiers.text import OWN

NAMES = [*lists.DOMAINS, lists.STOP_WORDS]


@pytest.mark.parametrize("language", lists.LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_terms_and_none_twice(name: str, language: str) -> None:
    terms = lists.read(name, language)
    assert len(terms) > 40
    assert [term for term, count in Counter(terms).items() if count > 1 or term != term.strip()] == []


@pytest.mark.parametrize(("domain", "term"), [("finance", "爆仓"), ("education", "课后习题"), ("ecommerce", "退款")])
def test_a_domain_knows_its_words(domain: str, term: str) -> None:
    assert term in lists.terms(domain)


def test_all_terms_have_room_for_an_id() -> None:
    assert sum(len(lists.terms(domain)) for domain in lists.DOMAINS) < OWN


def test_no_file_lies_there_that_nobody_reads() -> None:
    known = {f"{name}.{language}.txt" for name in NAMES for language in lists.LANGUAGES}
    assert {path.name for path in lists.FOLDER.iterdir()} == known
