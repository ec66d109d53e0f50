"""What a model's review says, in whatever shape it says it."""

from __future__ import annotations

import orjson
import pytest

from gateway.refine.reply import Reply, read
from gateway.types import Correction

RATE = Correction("4.75%", "5.75%", "the offer above")
ZH = Correction("第十五条", "第十七条", "《网络安全管理办法》原文")


def told(*corrections: dict[str, object]) -> str:
    return orjson.dumps({"corrections": list(corrections)}).decode()


@pytest.mark.parametrize(
    "text",
    [
        told(RATE._asdict()),
        "```json\n" + told(RATE._asdict()) + "\n```",
        "Here is my review: " + told(RATE._asdict()) + "\nThat is all.",
        "[corrected] 4.75% -> 5.75% (evidence: the offer above)",
        "I found one.\n[Corrected] “4.75%” should be “5.75%”, source: the offer above.",
        "[correction] 4.75% => 5.75%; evidence: the offer above",
    ],
)
def test_a_correction_is_read_from_json_and_from_marked_lines(text: str) -> None:
    assert read(text, 2) == Reply((RATE,))


@pytest.mark.parametrize(
    "text",
    [
        told(ZH._asdict()),
        "【修正】第十五条 → 第十七条（依据：《网络安全管理办法》原文）",
        "【修正】“第十五条”应为“第十七条”，依据：《网络安全管理办法》原文。",
        "审查如下：\n【修正】第十五条改为第十七条（来源：《网络安全管理办法》原文）\n其余无误。",
    ],
)
def test_chinese_ones_too(text: str) -> None:
    assert read(text, 2) == Reply((ZH,))


@pytest.mark.parametrize(
    "text", ["【无需修正】", "经核对，【无需修正】。", "[no correction]", "[No corrections]", told()]
)
def test_nothing_wrong_is_a_reply(text: str) -> None:
    assert read(text, 2) == Reply()


@pytest.mark.parametrize(
    "text", ["", "Looks good to me!", "没有发现问题", "{", '{"errors": []}', "[1, 2]", "{}{", "】【"]
)
def test_what_is_in_no_form_says_nothing(text: str) -> None:
    assert read(text, 2) == Reply(readable=False)


@pytest.mark.parametrize(
    ("one", "fate"),
    [
        ({**RATE._asdict(), "evidence": ""}, "no_evidence"),
        ({**RATE._asdict(), "evidence": "  "}, "no_evidence"),
        ({"quote": "4.75%", "fixed": "5.75%"}, "no_evidence"),
        ({**RATE._asdict(), "evidence": None}, "no_evidence"),
        ({**RATE._asdict(), "fixed": ""}, "malformed"),
        ({**RATE._asdict(), "quote": 4.75}, "malformed"),
        ({**RATE._asdict(), "fixed": "x" * 5000}, "malformed"),
        ({**RATE._asdict(), "fixed": "4.75%"}, "same"),
        ({**RATE._asdict(), "fixed": "I'm sorry, I cannot check that"}, "no_answer"),
        ({**RATE._asdict(), "fixed": "【修正】5.75%"}, "no_answer"),
        ({**RATE._asdict(), "fixed": "作为AI语言模型，我不能核实"}, "no_answer"),
    ],
)
def test_what_lacks_evidence_or_makes_no_sense_is_dropped_and_said_so(one: dict[str, object], fate: str) -> None:
    assert read(told(one), 2) == Reply((), (fate,))  # type: ignore[arg-type]


@pytest.mark.parametrize("item", ["4.75%", None, 3, ["a"]])
def test_items_of_any_kind_do_no_harm(item: object) -> None:
    assert read(orjson.dumps({"corrections": [item, RATE._asdict()]}).decode(), 2) == Reply((RATE,), ("malformed",))


def test_no_more_are_taken_than_were_asked_for() -> None:
    many = [Correction(f"a{n}", f"b{n}", "c")._asdict() for n in range(4)]
    reply = read(told(*many), 2)
    assert [one.quote for one in reply.corrections] == ["a0", "a1"]
    assert reply.dropped == ("too_many", "too_many")


def test_a_marked_line_without_an_arrow_is_malformed() -> None:
    assert read("[corrected] the rate is wrong", 2) == Reply((), ("malformed",))


def test_a_reply_without_end_is_read_in_part() -> None:
    assert not read("a" * 10_000_000, 2).readable
