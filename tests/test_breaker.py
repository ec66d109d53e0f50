"""When it is worth asking."""

from __future__ import annotations

from gateway.breaker import FAULTS, FIRST, LONGEST, Breaker


class Time:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def opened(time: Time) -> Breaker:
    breaker = Breaker(time)
    for _ in range(FAULTS):
        assert breaker.allows()
        breaker.failed()
    return breaker


def test_only_faults_in_a_row_open_it() -> None:
    breaker = Breaker(Time())
    for _ in range(5):
        for _ in range(FAULTS - 1):
            breaker.failed()
        assert not breaker.open
        assert breaker.allows()
        breaker.succeeded()
    for _ in range(FAULTS):
        breaker.failed()
    assert breaker.open
    assert not breaker.allows()


def test_one_may_try_when_his_time_has_come_and_no_other_for_as_long_again() -> None:
    time = Time()
    breaker = opened(time)
    time.seconds += FIRST
    assert [breaker.allows() for _ in range(3)] == [True, False, False]
    time.seconds += FIRST  # who tried was never heard of again
    assert [breaker.allows() for _ in range(3)] == [True, False, False]


def test_the_pause_doubles_up_to_a_bound() -> None:
    time = Time()
    breaker = opened(time)
    pauses = []
    for _ in range(8):
        began = time.seconds
        while not breaker.allows():
            time.seconds += 0.5
        pauses.append(time.seconds - began)
        breaker.failed()
    assert pauses == [1, 2, 4, 8, 16, LONGEST, LONGEST, LONGEST]


def test_success_closes_it_and_the_next_pause_is_short_again() -> None:
    time = Time()
    breaker = opened(time)
    for _ in range(4):
        time.seconds += LONGEST
        assert breaker.allows()
        breaker.failed()
    breaker.succeeded()
    assert breaker.allows()
    for _ in range(FAULTS):
        breaker.failed()
    time.seconds += FIRST
    assert breaker.allows()


def test_those_who_fail_late_make_nothing_worse() -> None:
    time = Time()
    breaker = opened(time)
    for _ in range(200):
        breaker.failed()
    time.seconds += FIRST
    assert breaker.allows()
