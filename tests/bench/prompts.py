"""Pairs of prompts that share a document at different positions: what a splice is for."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.client import Client
from tests.bench.docs import Lang, load

OPENINGS = {
    "en": (
        "You are the assistant of a service desk. Answer from the document, briefly, and say so if it has no answer.",
        "Customers expect polite language, precise figures and a clear next step.",
        "Dates are written out, amounts carry their currency, and names are spelled as in the source.",
        "Never promise what the rules of the house do not provide for, and never guess.",
        "If a question touches personal data, name the rule that applies and pass it on to a colleague.",
        "Complaints are answered within two working days; urgent ones are marked and called in.",
    ),
    "zh": (
        "你是服务台的助手。请只根据文档回答，尽量简短；文档里没有答案就直说。",
        "客户希望用语礼貌、数字准确，并且知道下一步该做什么。",
        "日期要写全，金额要带币种，人名地名按原文书写。",
        "不要承诺制度里没有的内容，也不要猜测。",
        "涉及个人信息的问题，请说明适用的规定，并转给同事处理。",
        "投诉在两个工作日内答复，紧急的先标记并电话告知。",
    ),
}


# So few KV blocks that all of them are soon in use: memory that is touched for the first time costs more than a copy.
FEW_BLOCKS = {"qwen": ("--num-gpu-blocks-override", "72"), "gemma": ("--num-gpu-blocks-override", "200")}


@dataclass(frozen=True)
class Pair:
    """The donor's prompt and the request's, in tokens; `span` tokens of them are the same document."""

    donor: tuple[int, ...]
    request: tuple[int, ...]
    span: int
    shift: int


def worn_in(client: Client) -> None:
    """Have an engine with FEW_BLOCKS use each of them once, and do all that only its first requests pay for."""
    for seed in (1, 2, 3):
        client.ask(opening(client, "en", 4000, seed), salt=f"wearing in {seed}")


def opening(client: Client, lang: Lang, tokens: int, seed: int) -> list[int]:
    """So many tokens of instructions, no two seeds alike."""
    rng = random.Random(seed)
    ids: list[int] = []
    while len(ids) < tokens:
        ids += client.tokenize(f"{rng.choice(OPENINGS[lang])} ({rng.randrange(1000)}) ", special=False)
    return ids[:tokens]


def pairs(
    client: Client, data: Path, lang: Lang, count: int, span: int, near: int, far: int, *, chat: bool
) -> Iterator[Pair]:
    """`count` documents of `span` tokens, behind `near` tokens of opening in one prompt and `far` in the other.

    Shifts go both ways: of each four documents one moves on, three move back. `chat`: by the model's template; else
    plain text behind a beginning of sentence.
    """
    made = 0
    for doc in load(data, lang, least=span):
        body = client.tokenize(doc.text, special=False)
        if len(body) < span:
            continue
        question = client.tokenize("\n\n" + doc.questions[0], special=False)
        first, second = (near, far) if made % 4 == 1 else (far, near)
        prompts = [
            framed(client, opening(client, lang, length, 2 * made + part), body[:span], question, chat=chat)
            for part, length in enumerate((first, second))
        ]
        yield Pair(tuple(prompts[0]), tuple(prompts[1]), span, second - first)
        made += 1
        if made == count:
            return
    raise SystemExit(f"only {made} documents of {span} tokens and more in {data} for {lang}; {count} are needed")


def framed(
    client: Client, head: Sequence[int], body: Sequence[int], question: Sequence[int], *, chat: bool
) -> list[int]:
    """A whole prompt: instructions, document, question."""
    if not chat:
        start = client.tokenize("")
        return [*start, *head, *body, *question, *client.tokenize("\n", special=False)]
    parts = [
        client.tokenize(text, special=False) for text in ("<|im_start|>system\n", "<|im_end|>\n<|im_start|>user\n")
    ]
    end = client.tokenize("<|im_end|>\n<|im_start|>assistant\n", special=False)
    return [*parts[0], *head, *parts[1], *body, *question, *end]
