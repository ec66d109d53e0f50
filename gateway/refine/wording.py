"""What the second reading is told, and how its corrections are put to a reader. Chinese and English.

The review stands behind the conversation and the answer, so that all before it is the engine's own cache. Hence it is
short: every token of it is computed anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gateway.refine import caution
from gateway.refine.caution import Language
from gateway.types import Correction

Form = Literal["json", "text"]
Quotes = Literal["facts", "clauses"]

# The words a reply and a corrected text mark things with; the first of each language is what we write.
MARKS: Mapping[Language, str] = {"zh": "【修正】", "en": "[corrected]"}
FINE: Mapping[Language, str] = {"zh": "【无需修正】", "en": "[no correction]"}
# Who has said that nothing is wrong need not go on. An endpoint leaves out what stopped it, so this is but the words'
# end: what is left of them still tells. No mark ends like this.
STOPS: Mapping[Language, str] = {"zh": "需修正】", "en": "o correction]"}

LONGEST = 120  # characters of a field of a correction; from 128 on an engine takes seconds to make a grammar of it
PASSAGES = 200  # of an answer, among which a reply may choose
# A reply is read by nobody but us, and each of its tokens is waited for: so evidence is a few words, about 25 tokens.
EVIDENCE: Mapping[Language, int] = {"zh": 40, "en": 100}
FIGURE: Mapping[Language, int] = {"zh": 30, "en": 60}  # what goes in the place of a figure, a date, a law

_CHECK: Mapping[Language, str] = {
    "zh": "你是严谨的{domain}审稿人。把你上一条回答与上文逐字核对，只看数字、法规名称、时间、逻辑，不改文风。",
    "en": "You are a strict {domain} fact checker. Check your last answer against the text above word by word: only "
    "numbers, names, dates, laws and logic, not its style.",
}
# The form is shown with its fields' meanings in the place of values: a small model copies an example's values, and
# without any form it spends its tokens on line breaks.
_ANSWER: Mapping[Form, Mapping[Language, str]] = {
    "json": {
        "zh": '凡是有误之处，最多 {most} 处，以紧凑的 JSON 列出：{{"corrections":[{{"quote":回答中的错误文字,'
        '"evidence":上文中的原文,"fixed":正确文字}}]}}；没有错误则为空列表。',
        "en": 'List what is wrong, at most {most}, as compact JSON: {{"corrections":[{{"quote":wrong words of the '
        'answer,"evidence":words of the text,"fixed":right words}}]}}; an empty list if nothing is wrong.',
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


def schema(most: int, answer: str = "", language: Language = "en", quotes: Quotes = "clauses") -> dict[str, Any]:
    """The JSON Schema of a reply. The evidence comes before the correction: whoever must give it first thinks first.

    With the `answer` only its own words can be quoted: what a model is made to choose it can't misquote. `quotes`: its
    facts, if it has any, or its clauses. What goes in the place of a fact is as short as one.
    """
    short = facts(answer) if quotes == "facts" else []
    quoted = short or passages(answer)
    fields = {
        "quote": {"enum": quoted} if quoted else _words(LONGEST),
        "evidence": _words(EVIDENCE[language]),
        "fixed": _words(FIGURE[language] if short else LONGEST),
    }
    return _object(corrections={"type": "array", "items": _object(**fields), "maxItems": most})


def _object(**fields: Any) -> dict[str, Any]:
    """All of these, in this order, and nothing else."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _words(longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


_PASSAGES = re.compile(r"(?<=[.!?;:,])\s+|[，。！？；：\n]+")


def passages(answer: str) -> list[str]:
    """What can be quoted of an answer: its clauses. Each stands in it once, so that it is clear which is meant."""
    found = dict.fromkeys(part.strip() for part in _PASSAGES.split(answer))
    return [part for part in found if 3 < len(part) <= LONGEST and answer.count(part) == 1][:PASSAGES]


def facts(answer: str) -> list[str]:
    """What a check of facts is mostly about: figures, dates, sums, laws, each of which stands in the answer once."""
    found = dict.fromkeys(answer[span.start : span.end] for span in caution.spans(answer))
    return [fact for fact in found if len(fact) <= LONGEST // 2 and answer.count(fact) == 1]


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
