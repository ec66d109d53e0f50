"""`type: sentence`."""

from __future__ import annotations

from tests.anchors.sight import kept, kind, shown

SENTENCE = kind("sentence")


def test_sentences_of_both_languages_in_one_text() -> None:
    assert (
        shown(SENTENCE, "订单已发货。It left on Jan. 5. 请查收。好") == "订单已发货。|It left on Jan. 5.| 请查收。|好"
    )


def test_a_cut_goes_to_the_last_sentence_before_the_finding() -> None:
    text = "退款已受理。预计三天到账。保证收益百分之十。谢谢。"
    assert kept([SENTENCE], text, "保证") == ("退款已受理。预计三天到账。", "sentence")
    assert kept([SENTENCE], text, "预计") == ("退款已受理。", "sentence")


def test_the_last_anchor_lies_between_frontier_and_finding() -> None:
    text = "One. Two. Three. Four"
    assert SENTENCE.last(text, 12, 0) == 9
    assert SENTENCE.last(text, 12, 9) == 9
    assert SENTENCE.last(text, 12, 10) is None
    assert SENTENCE.last(text, 3, 0) is None
