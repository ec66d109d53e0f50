"""What the second reading is told, and how its corrections are put to a reader. Chinese and English.

The review stands behind the conversation and the answer, so that all before it is the engine's own cache. Hence it is
short: every token of it is computed anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gateway.refine.caution import Language
from gateway.types import Correction

Form = Literal["json", "text"]

# The words a reply and a corrected text mark things with; the first of each language is what we write.
MARKS: Mapping[Language, str] = {"zh": "【修正】", "en": "[corrected]"}
FINE: Mapping[Language, str] = {"zh": "【无需修正】", "en": "[no correction]"}

LONGEST = 200  # characters of a field of a correction

_CHECK: Mapping[Language, str] = {
    "zh": "你是严谨的{domain}审稿人。对照上文，只核对你上一条回答里的事实：数字、法规名称、时间、逻辑；不改文风。",
    "en": "You are a strict {domain} fact checker. Against the text above, check only the facts of your last answer: "
    "numbers, names of laws, dates, logic; not its style.",
}
_ANSWER: Mapping[Form, Mapping[Language, str]] = {
    "json": {
        "zh": '最多 {most} 处，输出 JSON：{{"corrections":[{{"quote":"回答中的错误原文","evidence":"依据",'
        '"fixed":"改正后的文字"}}]}}；没有错误则为空列表。',
        "en": 'Give at most {most} as JSON: {{"corrections":[{{"quote":"wrong words of the answer","evidence":"source",'
        '"fixed":"right words"}}]}}; an empty list if nothing is wrong.',
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


def schema(most: int) -> dict[str, Any]:
    """The JSON Schema of a reply. The evidence comes before the correction: whoever must give it first thinks first."""
    field = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    one = {
        "type": "object",
        "properties": {"quote": field, "evidence": field, "fixed": field},
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
