"""Which capture is offered: the one that gives back the most, as its reason's policy lets it, and never another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.donors import alike, choose, passages
from gateway.rules import Inject
from gateway.stores import WIDTH, Kept, Sketch

SIZE = 1000  # bytes of each chunk here: 250 tokens


def made(names: Sequence[int], whose: bytes = b"t", size: int = SIZE) -> Sketch:
    """A prompt of chunks that are called by numbers."""
    chunks = b"".join(name.to_bytes(WIDTH, "little") for name in names)
    running = 7
    prefix = b""
    for name in names:
        running = hash((running, name)) & (1 << 62) - 1
        prefix += running.to_bytes(WIDTH, "little")
    return Sketch(whose, chunks, prefix, (size,) * len(names))


def kept(name: str, names: Sequence[int], until: float = 1e12, **more: Any) -> Kept:
    fields: dict[str, Any] = {"replica": "http://a", "reason": "R101", "session": "", "until": until} | more
    return Kept(capture=name, sketch=made(names), **fields)


def policy(**fields: Any) -> Any:
    inject = Inject.model_validate({"min_tokens": 100, **fields})
    return lambda _reason: inject


PREFIX, SPLICE = policy(), policy(mode="splice", recompute={"first": 0, "share": 0})
NAMES = st.lists(st.integers(1, 12), max_size=14)


@given(NAMES, NAMES)
def test_prompts_begin_alike_as_far_as_they_do(one: list[int], other: list[int]) -> None:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    assert alike(made(one), made(other)) == same


def best_chain(asked: Sequence[int], donor: Sequence[int]) -> int:
    """The longest common subsequence: no order of passages can have more."""
    table = [[0] * (len(donor) + 1) for _ in range(len(asked) + 1)]
    for i, one in enumerate(asked):
        for j, other in enumerate(donor):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(NAMES, NAMES)
def test_passages_are_in_order_in_both_and_no_more_than_there_are(asked: list[int], donor: list[int]) -> None:
    found = passages(made(asked), made(donor))
    assert sum(found) <= best_chain(asked, donor) * SIZE
    if len(set(asked)) == len(asked) and len(set(donor)) == len(donor):
        runs = [n for n, name in enumerate(asked) if name in donor]
        assert bool(found) is bool(runs)


@given(st.permutations(range(1, 9)), st.integers(1, 8))
def test_without_repetition_the_best_order_of_passages_is_found(asked: list[int], cut: int) -> None:
    donor = list(range(1, 9))[:cut]
    assert sum(passages(made(asked), made(donor))) == best_chain(asked, donor) * SIZE


def test_a_document_that_moved_is_one_passage() -> None:
    document = list(range(100, 120))
    assert passages(made([1, 2, *document, 3]), made([4, *document, 5])) == [20 * SIZE]
    assert passages(made([1, *document[:10], 2, *document[10:]]), made(document)) == [10 * SIZE, 10 * SIZE]
    assert passages(made([*document[10:], *document[:10]]), made(document)) == [10 * SIZE]  # not crosswise
    assert passages(made([1, *document]), made([4, *document]), least=20 * SIZE + 1) == []
    assert passages(made([1, 2, *document]), made([1, 2, *document]), behind=22) == []


def test_what_gives_back_the_most_is_offered() -> None:
    found = [kept("short", [1, 2, 9]), kept("long", [1, 2, 3, 9]), kept("other", [9, 9])]
    offer = choose(made([1, 2, 3, 4]), "", found, PREFIX)
    assert offer
    assert (offer.kept.capture, offer.prefix, offer.moved, offer.gain) == ("long", 750, 0, 750)


def test_of_equal_ones_the_one_that_lives_longest_is_offered() -> None:
    found = [kept("old", [1, 2], until=10), kept("new", [1, 2], until=20), kept("mid", [1, 2], until=15)]
    offer = choose(made([1, 2]), "", found, PREFIX)
    assert offer
    assert offer.kept.capture == "new"


def test_passages_count_only_where_they_may_be_spliced_and_less_what_is_computed_anew() -> None:
    found = [kept("moved", [7, 2, 3, 4, 5])]
    assert choose(made([1, 2, 3, 4, 5]), "", found, PREFIX) is None
    offer = choose(made([1, 2, 3, 4, 5]), "", found, SPLICE)
    assert offer
    assert (offer.prefix, offer.moved) == (0, 1000)
    some = policy(mode="splice", recompute={"first": 128, "share": 0.5})
    offer = choose(made([1, 2, 3, 4, 5]), "", found, some)
    assert offer
    assert offer.moved == 1000 - 128


def test_a_start_and_a_passage_add_up() -> None:
    offer = choose(made([1, 2, 8, 3, 4]), "", [kept("both", [1, 2, 9, 3, 4])], SPLICE)
    assert offer
    assert (offer.prefix, offer.moved) == (500, 500)


@pytest.mark.parametrize(("least", "found"), [(250, True), (251, False)])
def test_what_is_shorter_than_pays_is_not_offered(least: int, found: bool) -> None:
    for names, mode in (([1, 9], "prefix"), ([9, 1], "splice")):
        rule = policy(mode=mode, min_tokens=least, recompute={"first": 0, "share": 0})
        offer = choose(made([1]) if mode == "prefix" else made([5, 1]), "", [kept("c", names)], rule)
        assert (offer is not None) is found


def test_a_policy_of_none_and_another_s_capture_offer_nothing() -> None:
    assert choose(made([1, 2]), "", [kept("c", [1, 2])], policy(mode="none")) is None
    other = Kept("c", "http://a", "R101", "", 1e12, made([1, 2], b"u"))
    assert choose(made([1, 2]), "", [other], PREFIX) is None
    assert choose(made([]), "", [kept("c", [])], PREFIX) is None
    assert choose(made([1]), "", [], PREFIX) is None


@pytest.mark.parametrize(("asked", "its", "found"), [("a", "a", True), ("a", "b", False), ("", "", False)])
def test_a_capture_of_one_session_serves_that_alone(asked: str, its: str, found: bool) -> None:
    capture = kept("c", [1, 2], session=its)
    assert (choose(made([1, 2]), asked, [capture], policy(scope="session")) is not None) is found
    assert choose(made([1, 2]), asked, [capture], PREFIX) is not None


def test_how_many_bytes_make_a_token_is_the_caller_s_to_say() -> None:
    offer = choose(made([1, 2]), "", [kept("c", [1, 2])], PREFIX, size=2.0)
    assert offer
    assert offer.gain == 1000


def test_a_policy_of_none_that_bans_names_its_donor_for_the_banned_words_alone() -> None:
    banned = policy(mode="none", capture=True, ban=True)
    offer = choose(made([1, 2]), "", [kept("c", [1, 2])], banned)
    assert offer
    assert (offer.mode, offer.injects) == ("none", False)


def test_a_donor_that_gives_something_goes_before_one_that_only_bans() -> None:
    def of(reason: str) -> Inject:
        return Inject(mode="none", ban=True) if reason == "R101" else Inject(min_tokens=100)

    offer = choose(made([1, 2, 3]), "", [kept("bans", [1, 2, 3]), kept("gives", [1], reason="R203")], of)
    assert offer
    assert offer.kept.capture == "gives"
    assert offer.injects
