"""What stands at the start of a question and says nothing."""

from __future__ import annotations

import pytest

from gateway.gates._frames import begun, stripped
from gateway.gates._shapes import pieces
from gateway.gates._words import worded
from tests.gates.questions import differs


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("请问怎么退款", "怎么退款"),
        ("你好,请问一下,怎么退款", "怎么退款"),
        ("好的,那么怎么退款", "怎么退款"),
        ("好的大学有哪些", "好的大学有哪些"),
        ("收到短信验证码怎么办", "收到短信验证码怎么办"),
        ("请问", "请问"),
    ],
)
def test_chinese_frames_go_where_something_is_left(text: str, wanted: str) -> None:
    assert begun(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("hi, could you please tell me where it is", "where it is"),
        ("i would like to cancel my order", "cancel my order <do>"),
        ("i want a refund", "get refund <do>"),
        ("please explain inflation", "inflation <explain>"),
        ("could you survive on mars", "could you survive on mars"),
        ("tell me", "tell me <do>"),
        ("hello", "hello"),
    ],
)
def test_english_frames_go_where_something_is_left(text: str, wanted: str) -> None:
    said = [f"<{value}>" if gate == "mood" else value for gate, value in stripped(worded(pieces(text)))]
    assert " ".join(said) == wanted


def test_a_wish_is_no_frame_where_one_asks_whether_one_must() -> None:
    assert differs("我要缴税吗？", "我缴税了吗？")
    assert differs("我想退款", "怎么退款") == ""
