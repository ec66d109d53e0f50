"""What the second reading is told, and how its corrections are put to a reader. Chinese and English.

The review stands behind the conversation and the answer, so that all before it is the engine's own cache. Hence it is
short: every token of it is computed anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gateway.refine.caution import Language
from gateway.types import Correction

Form = Literal["json", "text"]

# The words a reply and a corrected text mark things with; the first of each language is what we write.
MARKS: Mapping[Language, str] = {"zh": "【修正】", "en": "[corrected]"}
FINE: Mapping[Language, str] = {"zh": "【无需修正】", "en": "[no correction]"}

LONGEST = 120  # characters of a field of a correction; from 128 on an engine takes seconds to make a grammar of it
PASSAGES = 200  # of an answer, among which a reply may choose

_CHECK: Mapping[Language, str] = {
    "zh": "你是严谨的{domain}审稿人。把你上一条回答与上文逐字核对，只看数字、法规名称、时间、逻辑，不改文风。",
    "en": "You are a strict {domain} fact checker. Check your last answer against the text above word by word: only "
    "numbers, names, dates, laws and logic, not its style.",
}
# The form is shown with its fields' meanings in the place of values: a small model copies an example's values, and
# without any form it spends its tokens on line breaks.
_ANSWER: Mapping[Form, Mapping[Language, str]] = {
    "json": {
        "zh": '凡是有误之处，最多 {most} 处，以紧凑的 JSON 列出：{{"corrections":[{{"quote":回答中的错句,'
        '"evidence":上文中的原句,"fixed":改正后的句子}}]}}；没有错误则为空列表。',
        "en": 'List what is wrong, at most {most}, as compact JSON: {{"corrections":[{{"quote":wrong sentence of the '
        'answer,"evidence":sentence of the text,"fixed":corrected sentence}}]}}; an empty list if nothing is wrong.',
    },
    "text": {
        "zh": "最多 {most} 处，每处一行：【修正】回答中的错误原文 → 改正后的文字（依据：……）。"
        "没有错误则只输出【无需修正】。",
        "en": "Give at most {most}, a line each: [corrected] wrong words of the answer -> right words (evidence: ...). "
        "If nothing is wrong, say only [no correction].",
    },
}
_DOMAINS: Mapping[Language, Mapping[str, str]] = {
    "zh": {"finance": "金融", "legal": "法律", "medical": "医疗", "ecommerce": "电商", "education": "教育"},
    "en": {"ecommerce": "e-commerce"},
}


def instruction(language: Language, form: Form, domain: str, most: int) -> str:
    """What the model is asked to do with the answer it has just given."""
    named = _DOMAINS[language].get(domain, domain if language == "en" else "")
    check = _CHECK[language].format(domain=named).replace("  ", " ")
    return check + (" " if language == "en" else "") + _ANSWER[form][language].format(most=most)


def schema(most: int, answer: str = "") -> dict[str, Any]:
    """The JSON Schema of a reply. The evidence comes before the correction: whoever must give it first thinks first.

    With the `answer` only its own passages can be quoted: what a model is made to choose it can't misquote.
    """
    field = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    quoted = passages(answer)
    one = {
        "type": "object",
        "properties": {"quote": {"enum": quoted} if quoted else field, "evidence": field, "fixed": field},
        "required": ["quote", "evidence", "fixed"],
        "additionalProperties": False,
    }
    corrections = {"type": "array", "items": one, "maxItems": most}
    return {
        "type": "object",
        "properties": {"corrections": corrections},
        "required": ["corrections"],
        "additionalProperties": False,
    }


_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|[，。！？；：\n]+")
_CLAUSES = re.compile(r"(?<=,)\s+")


def passages(answer: str) -> list[str]:
    """What can be quoted of an answer: its sentences, of Chinese ones the clauses, of long ones the parts. Each stands
    in it once, so that it is clear which is meant."""
    found = dict.fromkeys(part.strip() for part in _parts(answer))
    return [part for part in found if 3 < len(part) <= LONGEST and answer.count(part) == 1][:PASSAGES]


def _parts(answer: str) -> Iterator[str]:
    for sentence in _SENTENCES.split(answer):
        yield from [sentence] if len(sentence) <= LONGEST else _CLAUSES.split(sentence)


def listed(language: Language, corrections: Sequence[Correction]) -> str:
    """The end note of a corrected text: what was changed, and by which evidence."""
    if language == "zh":
        lines = [f"- 「{c.quote}」改为「{c.fixed}」，依据：{c.evidence}" for c in corrections]
        return "\n\n【修正说明】\n" + "\n".join(lines)
    lines = [f"- “{c.quote}” now reads “{c.fixed}”; evidence: {c.evidence}" for c in corrections]
    return "\n\n[corrections]\n" + "\n".join(lines)


def erratum(language: Language, corrections: Sequence[Correction]) -> str:
    """What follows an answer that has left already."""
    if language == "zh":
        return "\n\n" + "\n".join(
            f"【更正】上文「{c.quote}」应为「{c.fixed}」（依据：{c.evidence}）。" for c in corrections
        )
    return "\n\n" + "\n".join(
        f"[correction] “{c.quote}” above should read “{c.fixed}” (evidence: {c.evidence})." for c in corrections
    )
