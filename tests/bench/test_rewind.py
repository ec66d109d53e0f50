"""The bench of rewinding breaks drafts where it says, judges all alike, and its figures are what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import rewound
from tests.bench.rewind_contenders import Told, finish, said
from tests.bench.rewind_drafts import Ask, Breach, Draft, asks, breach_at, breaches, found, third, words
from tests.bench.rewind_kept import Kept
from tests.bench.rewind_plain import First, anchor, held, lanes
from tests.bench.rewind_scores import broken, scores

ENGLISH = [
    "The",
    " fund",
    " pays",
    " a",
    " Return",
    " and",
    " the",
    " return",
    " varies",
    " with",
    " the",
    " market",
    ".",
]
CHINESE = ["这款", "产品", "的", "收益", "随", "市场", "变化", "，", "产品", "说明书", "写", "明", "风险", "。"]


def draft(pieces: list[str], ask: str = "en-prose-0-00", step: float = 0.1) -> Draft:
    return Draft(ask, [(round(step * n, 3), text) for n, text in enumerate(pieces, 1)], "stop")


def long_drafts(count: int) -> list[Draft]:
    letters = "bcdfghjklmnpqrstvwxz"
    made = [" ".join(f"{a}{b}{a}{b}o" for b in letters for a in letters[n % 3 : 6 + n % 3]) for n in range(count)]
    return [draft([f"{word} " for word in text.split()], f"en-prose-0-{n:02}") for n, text in enumerate(made)]


def test_as_many_questions_as_were_promised_in_both_languages() -> None:
    told = asks()
    assert len(told) >= 60
    assert len({ask.id for ask in told}) == len({ask.messages[-1]["content"] for ask in told}) == len(told)
    assert [ask.lang for ask in told[:4]] == ["zh", "en", "zh", "en"]
    assert {ask.kind for ask in asks(kind="json")} == {"json"}
    assert all(
        any("\u4e00" <= c <= "\u9fff" for c in ask.messages[-1]["content"]) == (ask.lang == "zh") for ask in told
    )


def test_a_word_is_chosen_where_it_stands_for_the_first_time() -> None:
    assert words(draft(ENGLISH)) == [(4, "fund"), (9, "pays"), (38, "varies"), (45, "with"), (54, "market")]
    assert [word for _, word in words(draft(CHINESE))] == ["产品", "收益", "市场", "变化", "说明书", "风险"]


@pytest.mark.parametrize("pieces", [ENGLISH, CHINESE])
def test_the_draft_breaks_its_rule_at_the_place_and_not_before(pieces: list[str]) -> None:
    told = draft(pieces)
    for place in (0.1, 0.5, 0.9):
        breach = breach_at(told, place, "t")
        assert breach is not None
        at = round(breach.place * len(told.text))
        assert found(breach.lanes, told.text) == at == told.text.index(breach.word)
        assert found(breach.lanes, told.text[:at]) is None


def test_a_draft_without_words_breaks_nothing() -> None:
    assert breach_at(draft(["42", "."]), 0.5, "t") is None


def test_breaches_are_the_same_for_the_same_seed_spread_over_the_draft_and_over_the_requests() -> None:
    told = long_drafts(26)
    made = breaches(told, rounds=4)
    assert made == breaches(told, rounds=4) != breaches(told, rounds=4, seed=1)
    assert len(made) == len({breach.tenant for breach in made}) == 4 * 6
    assert len({breach.ask for breach in made}) == 24  # nobody twice before all were
    for number in range(4):
        places = sorted(breach.place for breach in made if breach.tenant.endswith(f".{number}"))
        assert [third(place) for place in places] == ["first"] * 2 + ["middle"] * 2 + ["last"] * 2


def test_an_event_of_the_stream_is_read() -> None:
    event = {"choices": [{"delta": {"content": "so"}, "finish_reason": None}]}
    assert (said(event), finish(event)) == ("so", "")
    assert finish({"choices": [{"delta": {}, "finish_reason": "stop"}]}) == "stop"
    assert said({"choices": [], "usage": {}}) == ""


def test_what_word_anchors_hold_back_waits_for_the_next_word_and_sentences_for_their_end() -> None:
    told = draft(["One", " two", ".", " Three", " four", "."])
    word, sentence = (held(told, [anchor(name)], lanes()) for name in ("word", "sentence"))
    assert len(word.waits) == len(sentence.waits) == len(told.text)
    assert word.waits[:3] == pytest.approx([100] * 3)  # "One", until the next word has begun
    assert word.waits[3:7] == pytest.approx([200] * 4)  # " two", whose stop could be that of a number
    assert max(word.chars) < 8
    assert sentence.waits[:3] == pytest.approx([300] * 3)
    assert sentence.waits[-1] == word.waits[-1] == 0


def test_chinese_waits_less_than_english() -> None:
    told = held(draft(CHINESE), [anchor("word")], lanes())
    assert max(told.chars) <= 2


def ways(tenant: str, *rows: tuple[str, float, float, int, bool]) -> list[Told]:
    return [Told(name, tenant, "", seconds, calls, good, tokens) for name, seconds, tokens, calls, good in rows]


def test_ratios_are_of_pairs_that_broke_the_rule_and_came_to_an_answer(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    told = [Breach(f"zh-prose-0-0{n}.0", f"zh-prose-0-0{n}", "w", (n + 0.5) / 4) for n in range(4)]
    plain = [("rewind", 6.0, 60.0, 2, True), ("end_check", 12.0, 120.0, 2, True), ("abort", 8.0, 100.0, 2, True)]
    kept.add_repair(ways(told[0].tenant, *plain))
    kept.add_repair(ways(told[1].tenant, ("rewind", 3.0, 60.0, 2, True), *plain[1:]))
    kept.add_repair(ways(told[2].tenant, *plain[:2], ("abort", 1.0, 1.0, 3, False)))
    kept.add_repair(ways(told[3].tenant, ("rewind", 1.0, 1.0, 1, True), *plain[1:]))
    out = scores(told, kept)
    assert (out["n"], out["n_not_broken"]) == (3, 1)
    assert (out["time_vs_end_check"], out["time_vs_end_check_p10"]) == (0.5, 0.3)
    assert out["time_vs_abort"] == pytest.approx(0.562)
    assert (out["tokens_vs_end_check"], out["tokens_vs_abort"]) == (0.5, 0.6)
    assert (out["accepted"], out["accepted_end_check"], out["accepted_abort"]) == (1, 1, 0.6667)
    assert out["by_place"]["first"] == {
        "n": 1,
        "time_vs_end_check": 0.5,
        "time_vs_abort": 0.75,
        "tokens_vs_end_check": 0.5,
        "tokens_vs_abort": 0.6,
    }


def test_nothing_measured_is_no_figure(tmp_path: Path) -> None:
    assert scores([], Kept(tmp_path)) == {"n": 0, "n_not_broken": 0, "by_place": {}, "by_lang": {}}


def test_what_was_measured_is_there_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.add_draft(draft(CHINESE))
    kept.add_repair(ways("t", ("rewind", 6.0, 60.0, 2, True)))
    kept.add_first(First("a", {"gateway": 1.03, "bare": 1.0}, {"gateway": 1.1, "bare": 1.0}))
    again = Kept(tmp_path)
    assert (again.drafts, again.repaired, again.firsts) == (kept.drafts, kept.repaired, kept.firsts)
    out = scores([], again)
    assert (out["ttft_ratio_plain"], out["ttft_text_ratio_plain"], out["ttft_added_ms"]) == (1.03, 1.1, 30.0)


def test_pairs_stand_for_breaches_that_were_measured(tmp_path: Path) -> None:
    assert broken([Breach("t", "zh-a", "w", 0.5)], {}) == []


def test_a_transcript_turns_where_the_answer_leaves_the_draft() -> None:
    pieces = [(0.1, "It is"), (0.2, " a"), (0.9, " fund"), (1.0, " that varies"), (1.1, ".")]
    same = rewound.common("It is a safe", "It is a fund that varies.")
    assert same == len("It is a ")
    assert list(rewound.lines(pieces, same, 0.5)) == [
        (0.1, "It is a", False),
        (0.9, " fund", True),
        (1.0, " that varies.", False),
    ]


def test_a_request_is_greedy_and_may_say_more() -> None:
    body = Ask("i", "en", "prose", [{"role": "user", "content": "?"}]).body(cache_salt="s")
    assert (body["temperature"], body["cache_salt"], body["model"]) == (0, "s", "qwen")
    assert "response_format" not in body
    assert {ask.body()["response_format"]["type"] for ask in asks(kind="json")} == {"json_object"}


def test_json_waits_for_whole_values_or_for_words_of_them() -> None:
    told = draft(["{", '"note"', ": ", '"', "all", " is", " well", " here", '"', "}"])
    value, word = (held(told, [anchor(name)], lanes()) for name in ("json", "json_word"))
    assert len(value.waits) == len(word.waits) == len(told.text)
    assert max(value.waits) > max(word.waits)
