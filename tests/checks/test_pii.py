"""`type: pii`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
import stdnum.luhn
from pydantic import ValidationError

from gateway.checks.pii import Kind, Plug
from gateway.types import Hit, View
from tests.sight import check, seen, spans

GOOD: dict[Kind, Sequence[str]] = {
    Kind.EMAIL: ["john@example.com", "J.O'Neil+tag@mail.example.co.uk", "a@b.io", "x_1%y@sub-domain.org"],
    Kind.PHONE: [
        "13812345678",
        "138 1234 5678",
        "138-1234-5678",
        "+86 138 1234 5678",
        "+8613812345678",
        "86 13812345678",
        "+1 415 555 2671",
        "+44 20 7946 0958",
        "+1 (415) 555-2671",
        "(415) 555-2671",
        "415-555-2671",
        "415.555.2671",
    ],
    Kind.CARD: [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "5500005555555559",
        "378282246310005",
        "6011000990139424",
        "6222020000000000000",
    ],
    Kind.CN_ID: ["11010519491231002X", "11010519491231002x", "440308199901101512"],
    Kind.IBAN: [
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "FR1420041010050500013M02606",
    ],
}
BAD: dict[Kind, Sequence[str]] = {
    Kind.EMAIL: ["john@example", "@example.com", "john@.com", "john example.com", "a@b@c", "@john", "user@localhost"],
    Kind.PHONE: [
        "12345678901",
        "2024-01-15",
        "192.168.0.1",
        "3.14159265358979",
        "10000000",
        "138123456789",
        "415-5552",
        "x13812345678",
    ],
    Kind.CARD: [
        "4111111111111112",
        "4111 1111 1111 1121",
        "5500005555555558",
        "378282246310006",
        "2222222222222222",
        "411111111111",
        "41111111111111110000",
        "x4111111111111111",
        "1111111111111111",
    ],
    Kind.CN_ID: [
        "110105194912310021",
        "11010519491231003X",
        "440308199901101513",
        "440308199913101512",
        "44030819990110151",
        "11010519491231002XX",
    ],
    Kind.IBAN: [
        "DE89370400440532013001",
        "DE88370400440532013000",
        "GB82WEST12345698765423",
        "XX89370400440532013000",
        "DE8937040044",
    ],
}
CASES = [(kind, text) for kind, texts in GOOD.items() for text in texts]
MISSES = [(kind, text) for kind, texts in BAD.items() for text in texts]
EVERYTHING = check("pii")


def only(kind: Kind) -> Plug:
    return Plug(kinds=frozenset({kind}))


@pytest.mark.parametrize(("kind", "text"), CASES)
@pytest.mark.parametrize(("before", "behind"), [("", ""), ("it is ", "."), ("号码是", "，谢谢"), ("<", ">")])
def test_the_real_thing_is_found_in_any_surroundings(kind: Kind, text: str, before: str, behind: str) -> None:
    assert seen(only(kind), before + text + behind) == [text]


@pytest.mark.parametrize(("kind", "text"), MISSES)
def test_what_only_looks_like_it_is_let_alone(kind: Kind, text: str) -> None:
    assert seen(only(kind), f"it is {text} or so") == []


@pytest.mark.parametrize("number", ["4111111111111111", "378282246310005", "6222020000000000000"])
def test_a_card_with_any_one_digit_off_is_none(number: str) -> None:
    for place in range(1, len(number)):
        wrong = number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]
        assert seen(only(Kind.CARD), f"no {wrong}.") == []


@pytest.mark.parametrize("text", ["11010519491231002X", "440308199901101512"])
def test_a_resident_id_with_any_one_digit_off_is_none(text: str) -> None:
    for place in range(len(text) - 1):
        wrong = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        assert seen(only(Kind.CN_ID), f"no {wrong}.") == []


def test_an_iban_with_any_one_digit_off_is_none() -> None:
    text = "DE89370400440532013000"
    for place in range(2, len(text)):
        wrong = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        assert seen(only(Kind.IBAN), f"no {wrong}.") == []


@pytest.mark.parametrize("behind", [" 12/27", " 123", "  4", " - ok", " 4111", " and 4111111111111112"])
def test_a_card_is_found_whatever_digits_follow(behind: str) -> None:
    assert "4111 1111 1111 1111" in [text[:19] for text in seen(only(Kind.CARD), "4111 1111 1111 1111" + behind)]


def test_a_card_behind_other_digits_is_found() -> None:
    assert seen(only(Kind.CARD), "no 1234 4111 1111 1111 1111 x") == ["4111 1111 1111 1111"]
    assert seen(only(Kind.CARD), "2024 4111111111111111") == ["4111111111111111"]


def test_two_of_a_kind_are_two() -> None:
    assert seen(only(Kind.CARD), "4111111111111111,5500005555555559") == ["4111111111111111", "5500005555555559"]
    assert seen(only(Kind.EMAIL), "a@b.io;c@d.io") == ["a@b.io", "c@d.io"]


def test_an_iban_is_found_before_capital_words() -> None:
    assert seen(only(Kind.IBAN), "DE89 3704 0044 0532 0130 00 IS MINE") == ["DE89 3704 0044 0532 0130 00"]


def test_a_number_grows_until_it_ends() -> None:
    looking = only(Kind.CARD)
    assert looking.look(View("my 4111 1111 1111 1111", final=False))[1] == 3
    assert looking.look(View("my 4111 1111 1111 1111 ", final=False))[1] == 3
    assert looking.look(View("my 4111 1111 1111 1111 ok", final=False)) == ([(3, 22)], 25)


def test_only_the_kinds_asked_for_are_found() -> None:
    text = "a@b.io 13812345678 4111111111111111"
    assert seen(Plug(kinds=frozenset({Kind.EMAIL, Kind.PHONE})), text) == ["a@b.io", "13812345678"]
    assert seen(EVERYTHING, text) == ["a@b.io", "13812345678", "4111111111111111"]


def test_kinds_not_asked_for_hold_nothing_back() -> None:
    scanner = Plug.fuse([only(Kind.PHONE), only(Kind.CARD)])
    open_view = View("it 4111 1111 1111 ", final=False)
    assert scanner.scan(open_view, frozenset({0})).hold == 18
    assert scanner.scan(open_view, frozenset({1})).hold == 3


def test_each_hit_goes_to_every_check_that_wants_its_kind() -> None:
    scanner = Plug.fuse([only(Kind.EMAIL), Plug(), only(Kind.CARD)])
    assert sorted(scanner.scan(View("a@b.io"), frozenset({0, 1, 2})).hits) == [Hit(0, 0, 6), Hit(1, 0, 6)]


@pytest.mark.parametrize("kinds", [[], ["passport"]])
def test_kinds_nobody_knows_and_no_kinds_at_all_are_refused(kinds: list[str]) -> None:
    with pytest.raises(ValidationError):
        check("pii", kinds=kinds)


@pytest.mark.parametrize("filler", ["4", "a", "a@", "a.", "🙂", "\0", "e\u0301", "炸", "4" * 12 + "x "])
def test_a_megabyte_holds_its_one_address(filler: str) -> None:
    text = filler * ((1 << 20) // len(filler))
    assert seen(only(Kind.EMAIL), f"{text}, j@example.com, {text[: 1 << 10]}") == ["j@example.com"]
    assert spans(EVERYTHING, text) == []


NEARLY = ["4 ", "4-", "DE89 ", "4111111111111112 ", "+1 2 3 4 5 6 ", "a@"]


@pytest.mark.long
def test_near_misses_cost_no_more_than_the_text_is_long() -> None:
    """In a process of its own, which the system ends after a minute of work: what is quadratic takes far longer."""
    script = """
import resource, sys
from gateway.checks.pii import Plug
from gateway.types import View
looking = Plug()
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
for filler in sys.argv[1:]:
    print(filler, flush=True)
    looking.look(View(filler * ((1 << 17) // len(filler))))
"""
    done = subprocess.run([sys.executable, "-c", script, *NEARLY], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"signal {-done.returncode}" if done.returncode < 0 else done.stderr
    assert done.stdout.splitlines() == NEARLY


def test_the_cards_here_pass_luhn() -> None:
    assert all(stdnum.luhn.is_valid(card.replace(" ", "").replace("-", "")) for card in GOOD[Kind.CARD])
