"""How many answers hedge: "possibly", "as far as I know". A model that grows unsure says so before clients do."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Said, Sign, Symptom, grey
from gateway.symptoms._share import Share

SOME, MANY = 0.15, 0.40  # shares of hedging answers; judged by the lower Wilson bound
ENOUGH = 30  # answers

_READ = Said(
    "have such answers read once more (`refine: refine.yaml`), or give the model sources to rely on",
    "让这类回答被复核（`refine: refine.yaml`），为模型提供资料，或要求它直说不知道",
)
_LOG = Said(
    "name a log that holds answers with --log, such as the audit log", "用 --log 指定含有回答的日志，例如审计日志"
)


class Plug(Symptom):
    """The words are those of the refine rules (refine.yaml, signs that mean doubt)."""

    title = Said("hedging words", "含糊措辞")
    order = 70

    def look(self, facts: Facts) -> Iterator[Sign]:
        told = facts.answers
        if told is None or told.total < ENOUGH:
            count = told.total if told else 0
            yield grey("answers", f"{count} answers to look at", f"只有 {count} 条回答可看", _LOG)
            return
        share = Share(told.hedging, told.total, told.words)
        seen = Said(
            f"{share.rate:.0%} of {told.total} answers hedge (at least {share.least:.0%}): {share.listed}",
            f"{told.total} 条回答中 {share.rate:.0%} 含糊其辞（至少 {share.least:.0%}）：{share.listed}",
        )
        yield share.sign(told.source, seen, SOME, MANY, _READ)
