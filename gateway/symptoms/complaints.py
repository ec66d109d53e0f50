"""How many clients complain that something is wrong: "that's not true", "事实错误"."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Said, Sign, Symptom, grey
from gateway.symptoms._share import Share

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
        share = Share(told.complaints, told.total, told.words)
        seen = Said(
            f"{share.rate:.1%} of {told.total} say that something is wrong (at least {share.least:.1%}): "
            f"{share.listed}",
            f"{told.total} 条反馈中 {share.rate:.1%} 指出有误（至少 {share.least:.1%}）：{share.listed}",
        )
        yield share.sign(told.source, seen, SOME, MANY, _READ)
