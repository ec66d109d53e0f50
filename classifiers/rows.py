"""What is judged, as the network reads it: token ids, what each of them is, and the plain counts."""

from __future__ import annotations

from typing import Final, NamedTuple

from tokenizers import Tokenizer

from classifiers.reading import Asked, Floats, read

NOTHING, UNKNOWN, BEGIN, END = 0, 1, 2, 3  # the first ids
QUESTION, ANSWER, EVIDENCE, REPEATED = 0, 1, 2, 3  # the kinds; the last is evidence that the answer repeats

MOST_OF_QUESTION: Final = 56  # tokens
MOST_OF_ANSWER: Final = 112
MOST_BESIDE_EVIDENCE: Final = 64  # of an answer, where there is evidence to compare with
MOST: Final = 192  # all together
CHARACTERS: Final = 2_000  # of a question or an answer that are cut into tokens


class Row(NamedTuple):
    """One thing judged."""

    ids: list[int]
    kinds: list[int]
    features: Floats


def row(tokenizer: Tokenizer, asked: Asked) -> Row:
    """Never longer than MOST tokens: a question's and an answer's beginning, then the evidence."""
    asked = Asked(*(_whole(text) for text in asked))
    reading = read(asked)
    beside = bool(reading.evidence.text)
    texts = [asked.question[:CHARACTERS], asked.answer[:CHARACTERS], reading.evidence.text]
    cut = tokenizer.encode_batch if beside else tokenizer.encode_batch_fast  # the fast one knows no offsets
    question, answer, evidence = cut(texts, add_special_tokens=False)
    first = [BEGIN, *question.ids[:MOST_OF_QUESTION], END]
    second = [*answer.ids[: MOST_BESIDE_EVIDENCE if beside else MOST_OF_ANSWER], END]
    kinds = [QUESTION] * len(first) + [ANSWER] * len(second)
    if not beside:
        return Row(first + second, kinds, reading.features)
    room = MOST - len(kinds) - 1
    repeated = [
        REPEATED if any(start < mark_end and end > mark for mark, mark_end in reading.evidence.marks) else EVIDENCE
        for start, end in evidence.offsets[:room]
    ]
    return Row(first + second + [*evidence.ids[:room], END], [*kinds, *repeated, EVIDENCE], reading.features)


def _whole(text: str) -> str:
    return text.encode("utf-8", "ignore").decode()  # half of a surrogate pair is no text
