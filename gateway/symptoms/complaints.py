"""How many clients complain that something is wrong: "that's not true", "事实错误"."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green, grey
from gateway.watch.bounds import wilson

SOME, MANY = 0.01, 0.05  # shares of complaints; judged by the lower Wilson bound
ENOUGH = 20  # voices

_READ = Said(
    "find these answers in the audit log, add them to your samples, and lower the threshold of the classifier tier",
    "在审计日志中找到这些回答，加入样本，并调低分类器层的阈值",
)
_FILE = Said("name a JSONL of feedback with --feedback", "用 --feedback 指定一份反馈 JSONL")


class Plug(Symptom):
    """The words stand in rules/doctor/complaints.*.txt."""

    title = Said("complaints", "投诉")
    order = 90

    def look(self, facts: Facts) -> Iterator[Sign]:
        told = facts.feedback
        if told is None or told.total < ENOUGH:
            count = told.total if told else 0
            yield grey("feedback", f"{count} voices to listen to", f"只有 {count} 条反馈", _FILE)
            return
        share, least = told.complaints / told.total, wilson(told.complaints, told.total)[0]
        listed = ", ".join(f"{word} {count}" for word, count in told.words) or "-"
        seen = Said(
            f"{share:.1%} of {told.total} say that something is wrong (at least {least:.1%}): {listed}",
            f"{told.total} 条反馈中 {share:.1%} 指出有误（至少 {least:.1%}）：{listed}",
        )
        if least >= SOME:
            yield Sign(Light.RED if least >= MANY else Light.YELLOW, told.source, seen, _READ)
        else:
            yield green(told.source, *seen)
