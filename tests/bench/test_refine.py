"""The figures of the bench of refining are what they are called."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import yaml

from classifiers.refine import Asked
from gateway.config import Source, build
from gateway.refine.edits import edited
from gateway.types import Correction
from tests.bench import assessing, houses, outage, recalled, reread, untriggered
from tests.bench.outage import Served
from tests.bench.refine import PARTS, named
from tests.bench.reread import Read
from tests.refine.rigs import ANSWER, RATE

LANGS = ("zh", "en")


def test_parts_are_named_in_a_list() -> None:
    assert named("down, quiet") == ["down", "quiet"]
    assert named(",".join(PARTS)) == list(PARTS)
    with pytest.raises(argparse.ArgumentTypeError, match="no part up; there are classifier"):
        named("down,up")


class Letters:
    """A classifier for which each character is a token."""

    def tokens(self, item: Asked) -> int:
        return len(item.question) + len(item.answer)


def test_a_text_is_cut_to_just_so_many_tokens() -> None:
    asked = Asked("why", "", "because of it")
    assert assessing.fitted(Letters(), asked, 10) == Asked("why", "", "because")  # type: ignore[arg-type]
    assert assessing.fitted(Letters(), asked, 99) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("told", untriggered.material(), ids=lambda told: told.question)
def test_the_answers_are_long_have_figures_and_are_cut_without_loss(told: untriggered.Told) -> None:
    answer = "".join(told.pieces)
    assert len(answer) > 200
    assert any(char.isdigit() for char in answer)
    assert len(told.pieces) > 100
    assert max(map(len, told.pieces)) < 20


def test_pieces_are_words_numbers_and_two_characters() -> None:
    assert untriggered.pieces("It is 4.75. 年利率是2%。") == (
        *("It", " is", " 4.75", ".", " ", "年利", "率是", "2", "%", "。"),
    )


def test_what_was_added_is_a_median_of_pairs() -> None:
    told = untriggered.Pairs([1.0, 3.0, 2.0], [0.5, 0.5, 0.5]).figures()
    assert (told["added_ms_no_trigger"], told["added_end_ms_no_trigger"], told["no_trigger_n"]) == (2.0, 0.5, 3)
    assert told["added_ms_no_trigger_p99"] == pytest.approx(2.98)


@pytest.mark.parametrize("refine", [None, {"tiers": [houses.ALWAYS], "delivery": "hold"}, houses.shipped()])
def test_a_house_is_the_shipped_one_with_other_backends(tmp_path: Path, refine: dict[str, object] | None) -> None:
    backend = houses.scripted(tmp_path, [{"text": "It is so."}])
    house = build(Source(houses.furnished(tmp_path, [backend], refine)))
    assert [one.name for one in house.file.backends] == ["scripted"]
    assert len(house.rules) > 5
    assert (house.refine is None) is (refine is None)


def test_figures_are_summed_over_labels() -> None:
    told = {'a_total{tier="x",way="in"}': 2.0, 'a_total{tier="y",way="in"}': 3.0, 'a_total_more{tier="x"}': 9.0}
    assert houses.total(told, "a_total") == 5
    assert houses.total(told, "a_total", 'tier="x"', 'way="in"') == 2


def answer(began: float, ended: float, *, tagged: bool = False, corrected: bool = False) -> Served:
    text = ANSWER.replace(RATE["quote"], RATE["fixed"]) if corrected else ANSWER
    return Served(began, ended, True, text + (" [needs human review]" if tagged else ""))


def test_an_outage_counts_what_was_made_while_it_lasted() -> None:
    answers = [
        answer(0, 1, corrected=True),
        answer(1, 3),  # on its way when the reader was killed
        answer(2, 3, tagged=True),
        answer(4, 5),
        answer(6, 9, tagged=True),
        answer(9, 11.5, corrected=True),
        Served(9, 10, False, ""),
    ]
    told = outage.counted(answers, killed=2, back=8)
    assert told["tagged_when_down"] == 0.5
    assert told["down_n"] == 2
    assert told["failed_when_down"] == 1
    assert told["recovered_seconds"] == 3.5
    assert told["neither_corrected_nor_tagged"] == 2


def test_an_outage_that_never_ends_has_no_recovery() -> None:
    told = outage.counted([answer(0, 1, corrected=True), answer(2, 3, tagged=True)], killed=1.5, back=4)
    assert told["recovered_seconds"] is None
    assert told["tagged_when_down"] == 1


@pytest.mark.parametrize(
    ("raw", "status", "form", "good"),
    [
        (houses.streamed([ANSWER]), 200, "stream", True),
        (houses.streamed([ANSWER])[:-1], 200, "stream", False),
        (houses.streamed(["Sorry."]), 200, "stream", False),
        (['{"error":{}}', "[DONE]"], 200, "stream", False),
        ([], 502, "whole", False),
    ],
)
def test_an_answer_is_good_that_is_whole(raw: list[str], status: int, form: str, good: bool) -> None:
    body = b"".join(b"data: " + event.encode() + b"\n\n" for event in raw)
    assert outage.read(body, status, form)[0] is good


def test_a_ratio_is_of_pairs_and_only_of_what_was_read() -> None:
    read = [
        Read("zh", 2.0, 3.0, 1000, 900, 5),
        Read("zh", 4.0, 8.0, 1000, 700, 90),
        Read("en", 1.0, 1.2, 2000, 1900, 5),
        Read("en", 1.0, 1.0, 0, 0, 0),
    ]
    told = reread.counted(read)
    assert told["refined_time_ratio"] == 1.5
    assert told["refined_time_ratio_quartiles"] == [1.35, 1.75]
    assert (told["refined_time_ratio_zh"], told["refined_time_ratio_en"]) == (1.75, 1.2)
    assert told["cached_prefill"] == 0.875
    assert (told["refined_n"], told["refined_asked"]) == (3, 4)
    assert reread.counted(read[3:])["refined_time_ratio"] is None


def test_outcomes_are_what_came_to_be_in_between() -> None:
    before = {'retrace_refined_total{outcome="fine",why="always"}': 2.0}
    after = {**before, 'retrace_refined_total{outcome="kept",why="no_edit"}': 1.0}
    told = reread.outcomes(before, after | {'retrace_corrections_total{fate="not_found"}': 2.0})
    assert told == {"refined_outcomes": {"kept": 1}, "refined_corrections": {"not_found": 2}}


def test_without_documents_the_prompts_are_texts_of_our_own(tmp_path: Path) -> None:
    found, whose = reread.prompts(None, tmp_path, 6)  # type: ignore[arg-type] # of our own texts nothing is asked
    assert whose == "own"
    assert [prompt.lang for prompt in found] == ["zh", "en"] * 3
    assert len({prompt.document for prompt in found}) == 6


@pytest.mark.parametrize("lang", LANGS)
def test_what_was_read_once_can_be_corrected_and_what_comes_later_is_another(lang: str) -> None:
    told = yaml.safe_load((recalled.MATERIAL / f"memo.{lang}.yaml").read_text(encoding="utf-8"))["asked"]
    for one in told:
        made = edited(one["answer"], (Correction(one["quote"], one["fixed"], one["evidence"]),), False, "zh").made
        assert len(made) == 1, one
        assert len(one["answer"]) >= 30
        later = [*one["same"], *(change.get("question", change.get("answer")) for change in one["changed"])]
        assert len({one["question"], one["answer"], *later}) == len(later) + 2


def test_the_cache_is_counted_by_what_may_be_served() -> None:
    kept = recalled.Kept("What is the rate?", "It is 4%.", ())
    laters = [
        recalled.Later(kept, "What is the rate?", "It is 4%.", True, "again"),
        recalled.Later(kept, "what's the rate", "It is 4%.", True, "words"),
        recalled.Later(kept, "What is the fee?", "It is 4%.", False, "changed"),
    ]
    for together in (False, True):
        told = recalled.counted(laters, lambda _: (1,), 3, together=together)
        assert told.rate("again") == 1
        assert told.served["changed"] == 0
        assert sum(told.refused.values()) >= 1
    assert told.rate("again", "changed") == 0.5
