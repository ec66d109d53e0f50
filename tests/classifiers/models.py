"""What tests of the models share: the shipped models, loaded once, and copies that may be damaged."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

from classifiers import manifest
from classifiers.encoder import CONTEXT, Encoder
from classifiers.ngrams import Ngrams

# One question and another wording of it.
SAME = (
    ("怎么退款？", "怎样才能把钱退给我"),
    ("我的信用卡丢了怎么办", "信用卡遗失了该怎么处理"),
    ("明天北京会下雨吗", "北京明天的天气怎么样，要带伞吗"),
    ("推荐一个评分4.5分以上的景点", "有没有评分在4.5分以上的景点推荐一下"),
    ("这家酒店的地址和电话是什么", "请告诉我酒店的电话和地址"),
    ("How do I get my money back?", "I would like a refund, please"),
    ("My card was stolen, what should I do", "what do I do if somebody stole my card"),
    ("set an alarm for seven in the morning", "wake me up at 7 am with an alarm"),
    ("what is the exchange rate between euro and dollar", "how many dollars do I get for one euro"),
    ("how long does a bank transfer take", "when will my transfer arrive"),
)
ODD = ("", " ", "?!", "😀😀😀", "\ud800", "\x00", "a", "的", "\u202e", "x" * 1_000_000, "退" * 1_000_000, "\n" * 99)


@functools.cache
def encoder() -> Encoder:
    """The shipped one."""
    return Encoder()


@functools.cache
def ngrams() -> Ngrams:
    """The shipped ones."""
    return Ngrams()


def copy(target: Path) -> Path:
    """The shipped model, in a folder of its own."""
    shutil.copytree(CONTEXT, target / "context")
    return target / "context"


def replace(folder: Path, name: str, content: bytes) -> None:
    """A file with other content, and a manifest that says it should have that."""
    (folder / name).write_bytes(content)
    told = json.loads((folder / manifest.FILE).read_text(encoding="utf-8"))
    said = manifest.load(CONTEXT).manifest
    manifest.write(folder, said, list(told["files"]))


def apart(one: int, other: int) -> int:
    """In how many bits two codes differ."""
    return (one ^ other).bit_count()
