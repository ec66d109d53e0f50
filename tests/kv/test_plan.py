"""What of a donor is used: never what is sensitive, never another's, never more than agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.kv.nouns import OPEN_END, After, Ask, Decline, Entry, Mode, Owner, Recompute, Span, State
from gateway.kv.plan import Engine, Plan, Subject, plan
from tests.kv.entries import OURS, SIZE, entry

FULL = Engine(SIZE, (None,), splices=True)
HYBRID = Engine(SIZE, (None, 64), splices=True)
NOTHING_ANEW = Recompute(0, 0.0)


def numbers(start: int, count: int) -> list[int]:
    return list(range(start, start + count))


def ask(mode: Mode, **more: Any) -> Ask:
    values: dict[str, Any] = {"least": 48, "recompute": NOTHING_ANEW} | more
    return Ask(donor="donor", mode=mode, **values)


def planned(tokens: Sequence[int], donor: Entry | None, mode: Mode = Mode.PREFIX, **more: Any) -> Plan:
    engine, owner = more.pop("engine", FULL), more.pop("owner", OURS)
    supported = more.pop("supported", True)
    return plan(Subject(tokens, owner, ask(mode, **more), supported), donor, engine)


DOCUMENT = numbers(1000, 320)
DONOR = entry(numbers(0, 32) + DOCUMENT + numbers(5000, 32))


def test_the_common_prefix_is_used_to_the_token() -> None:
    assert planned([*DONOR.tokens[:100], 1, 2], DONOR) == Plan(prefix=100)


def test_one_token_is_left_to_compute() -> None:
    assert planned(DONOR.tokens[:64], DONOR).prefix == 63


def test_less_than_a_block_is_not_worth_it() -> None:
    assert planned([*DONOR.tokens[:15], 1, 2], DONOR).declined is Decline.NO_MATCH


def test_a_moved_document_is_spliced() -> None:
    tokens = numbers(9000, 70) + DOCUMENT + numbers(9500, 9)
    made = planned(tokens, DONOR, Mode.SPLICE)
    assert made == Plan(jumps=(Span(32, 70, 320),))
    assert made.mode is Mode.SPLICE


def test_prefix_alone_when_only_that_is_allowed() -> None:
    assert planned(numbers(9000, 70) + DOCUMENT, DONOR).declined is Decline.NO_MATCH


def test_a_prefix_and_a_later_span_go_together() -> None:
    tokens = [*DONOR.tokens[:100], *numbers(9000, 5), *DONOR.tokens[150:300], 1]
    made = planned(tokens, DONOR, Mode.SPLICE)
    assert made.prefix == 100
    assert made.jumps == (Span(150, 105, 150),)


def test_several_spans_in_order() -> None:
    tokens = numbers(9000, 20) + DOCUMENT[:100] + numbers(9100, 30) + DOCUMENT[150:] + [1]
    assert planned(tokens, DONOR, Mode.SPLICE).jumps == (Span(32, 20, 100), Span(182, 150, 170))


def test_the_first_tokens_of_a_span_are_computed_anew() -> None:
    tokens = numbers(9000, 70) + DOCUMENT + [1]
    made = planned(tokens, DONOR, Mode.SPLICE, recompute=Recompute(40, 1.0))
    assert made.jumps == (Span(72, 110, 280),)
    assert made.recomputed == 40


def test_never_more_than_the_share_is_computed_anew() -> None:
    tokens = numbers(9000, 70) + DOCUMENT + [1]
    assert planned(tokens, DONOR, Mode.SPLICE, recompute=Recompute(200, 0.15)).recomputed == 48


def test_the_last_token_of_a_prompt_is_never_jumped() -> None:
    made = planned(numbers(9000, 70) + DOCUMENT, DONOR, Mode.SPLICE)
    assert made.jumps[-1].end == 70 + 320 - 1


def test_a_span_at_the_very_start_leaves_a_token_before_it() -> None:
    made = planned([*DOCUMENT, 1], DONOR, Mode.SPLICE)
    assert made.jumps == (Span(33, 1, 319),)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"owner": Owner("other", "", "fingerprint")}, Decline.TENANT),
        ({"owner": Owner("tenant", "lora", "fingerprint")}, Decline.ADAPTER),
        ({"owner": Owner("tenant", "", "another")}, Decline.FINGERPRINT),
        ({"supported": False}, Decline.UNSUPPORTED),
    ],
)
def test_another_s_capture_serves_nobody(change: dict[str, Any], reason: Decline) -> None:
    for mode in (Mode.PREFIX, Mode.SPLICE):
        assert planned(DONOR.tokens, DONOR, mode, **change) == Plan(declined=reason)


@pytest.mark.parametrize("state", [State.PENDING, State.EXPIRED])
def test_only_what_was_kept_serves(state: State) -> None:
    assert planned(DONOR.tokens, entry(DONOR.tokens, state=state)).declined is Decline.NOT_KEPT


def test_one_on_disk_has_to_be_brought_back_first() -> None:
    assert planned(DONOR.tokens, entry(DONOR.tokens, on_disk=True)).declined is Decline.ON_DISK


def test_one_that_is_being_read_serves_too() -> None:
    assert planned(DONOR.tokens, entry(DONOR.tokens, state=State.ACTIVE)) == Plan(prefix=len(DONOR.tokens) - 1)


def test_an_unknown_donor_is_said_and_no_donor_is_nothing_to_say() -> None:
    assert planned([1, 2, 3], None).declined is Decline.UNKNOWN_DONOR
    assert plan(Subject([1], OURS, Ask()), None, FULL) == Plan()


def test_what_is_sensitive_is_not_used_nor_what_stands_behind_it() -> None:
    donor = entry(DONOR.tokens, sensitive=((150, 160),))
    assert planned(donor.tokens, donor).prefix == 150
    tokens = numbers(9000, 70) + DOCUMENT + [1]
    assert planned(tokens, donor, Mode.SPLICE).jumps == (Span(32, 70, 118),)


@pytest.mark.parametrize(("after", "anew"), [(After.RECOMPUTE, int(0.15 * 192)), (After.ALLOW, 0)])
def test_the_policy_may_allow_what_stands_behind_it(after: After, anew: int) -> None:
    donor = entry(DONOR.tokens, sensitive=((150, 160),))
    tokens = [*numbers(9000, 70), *DOCUMENT, 1]
    made = planned(tokens, donor, Mode.SPLICE, after_sensitive=after)
    assert [(jump.donor, jump.donor + jump.length) for jump in made.jumps] == [(32, 150), (160 + anew, 352)]
    assert made.recomputed == anew


def test_a_capture_that_is_sensitive_from_its_start_serves_nothing() -> None:
    donor = entry(DONOR.tokens, sensitive=((0, OPEN_END),))
    assert planned(donor.tokens, donor).declined is Decline.SENSITIVE
    assert planned(donor.tokens, donor, Mode.SPLICE).declined is Decline.SENSITIVE


def test_the_request_may_name_more_that_is_sensitive() -> None:
    assert planned(DONOR.tokens, DONOR, sensitive=((48, 50),)).prefix == 48


def test_an_engine_that_can_t_splice_says_so_and_gives_the_prefix() -> None:
    plain = Engine(SIZE, (None,), splices=False)
    assert planned(numbers(9000, 70) + DOCUMENT, DONOR, Mode.SPLICE, engine=plain).declined is Decline.NO_SPLICE
    tokens = [*DONOR.tokens[:100], *numbers(9000, 5), *DONOR.tokens[150:300], 1]
    assert planned(tokens, DONOR, Mode.SPLICE, engine=plain) == Plan(prefix=100)


def test_a_hole_inside_the_window_is_no_donor_and_one_before_it_does_not_matter() -> None:
    blocks = len(DONOR.holes)
    last = entry(DONOR.tokens, holes=(0,) * (blocks - 1) + (0b10,))
    first = entry(DONOR.tokens, holes=(0b10, *(0,) * (blocks - 1)))
    full = entry(DONOR.tokens, holes=(0b01, *(0,) * (blocks - 1)))
    assert planned([*DONOR.tokens, 1], last, engine=HYBRID).declined is Decline.HOLES
    assert planned([*DONOR.tokens, 1], first, engine=HYBRID).prefix == len(DONOR.tokens)
    assert planned([*DONOR.tokens, 1], full, engine=HYBRID).declined is Decline.HOLES


TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=200)
SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), max_size=3)


@given(TOKENS, TOKENS, SPANS, st.sampled_from(After), st.integers(0, 30), st.floats(0, 1))
def test_whatever_is_injected_agrees_is_clear_and_leaves_something_to_compute(
    ours: list[int], theirs: list[int], spans: list[tuple[int, int]], after: After, first: int, share: float
) -> None:
    sensitive = tuple((start, start + length) for start, length in spans)
    donor = entry(theirs + ours + theirs, sensitive=sensitive)
    made = planned(ours, donor, Mode.SPLICE, least=16, after_sensitive=after, recompute=Recompute(first, share))
    marked = {at for start, end in sensitive for at in range(start, end)}
    end = made.prefix
    assert ours[: made.prefix] == list(donor.tokens[: made.prefix])
    assert not marked.intersection(range(made.prefix))
    for jump in made.jumps:
        used = range(jump.donor, jump.donor + jump.length)
        assert [donor.tokens[at] for at in used] == ours[jump.start : jump.end]
        assert not marked.intersection(used)
        if after is After.STOP:
            assert not any(at < used.stop for at in marked)
        assert jump.start >= max(end, 1)
        end = jump.end
    assert end < len(ours)


def test_a_donor_that_is_named_for_its_banned_words_alone_gives_nothing_else() -> None:
    assert planned([*DONOR.tokens[:100], 1, 2], DONOR, Mode.NONE, ban=True) == Plan()
