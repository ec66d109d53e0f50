"""What the shape of a piece of text gives away."""

from __future__ import annotations

import pytest

from gateway.gates._shapes import pieces


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,234.50", [("", "1234.50")]),
        ("2023-03-05", [("date", "2023-3-5")]),
        ("10:30pm", [("date", "10:30pm")]),
        ("8 a.m", [("", "8"), ("", "am")]),
        ("q3", [("date", "q3")]),
        ("fy2023", [("date", "fy"), ("date", "2023")]),
        ("1990s", [("date", "90s")]),
        ("3rd", [("number", "3th")]),
        ("20-25", [("", "20"), ("", "25")]),
        ("1/2", [("number", "0.5")]),
        ("v2.1", [("number", "v2.1")]),
        ("1.2.3", [("number", "1.2.3")]),
        ("5mg", [("", "5"), ("suffix", "mg")]),
        ("iphone15", [("", "iphone"), ("", "15")]),
        ("covid-19", [("", "covid"), ("", "19")]),
        ("a-1024", [("entity", "a-1024")]),
        ("400-800-1234", [("entity", "400-800-1234")]),
        ("report.pdf", [("entity", "report.pdf")]),
        ("me@a.com", [("entity", "me@a.com")]),
        ("https://a.b/c?d=e", [("entity", "https://a.b/c?d=e")]),
        ('"war and peace"', [("entity", "“war and peace”")]),
        ("《三体》", [("entity", "“三体”")]),
        ("c++ or c#", [("entity", "c++"), ("", "or"), ("entity", "c#")]),
        ("don't", [("", "do"), ("", "not")]),
        ("won't", [("", "will"), ("", "not")]),
        ("what's", [("", "what"), ("", "'s")]),
        ("u.s", [("", "us")]),
        ("two-factor", [("", "two"), ("", "factor")]),
        ("wi-fi", [("", "wifi")]),
        ("end.then", [("", "end"), ("", "then")]),
        ("at -5", [("", "at"), ("", "-5")]),
        ("7-5", [("", "7"), ("", "5")]),
        ("f(x)", [("", "f"), ("", "x")]),
        ("f(x) = 2", [("", "f"), ("", "("), ("", "x"), ("", ")"), ("", "="), ("", "2")]),
        ("退款3天", [("", "退款"), ("", "3"), ("", "天")]),
    ],
)
def test_a_piece_is_read_by_its_shape(text: str, wanted: list[tuple[str, str]]) -> None:
    assert pieces(text) == wanted
