"""What is told of a log, in English and Chinese: rows of a table, then the verdict and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from gateway.assess.likeness import Saving
from gateway.assess.log import Log
from gateway.assess.memory import Memory
from gateway.assess.tally import Figures
from gateway.assess.verdict import Answer, Capture, Plan, Verdict, Why, gib

Lang = Literal["en", "zh"]


class Row(NamedTuple):
    """What was measured, how much it is, and how it is known."""

    name: str
    value: str
    note: str = ""


ANSWERS: Mapping[Answer, Mapping[Lang, str]] = {
    "yes": {"en": "Yes, it will pay.", "zh": "值得：会有收益。"},
    "probably": {"en": "Probably: worth a trial.", "zh": "很可能值得：建议先试用。"},
    "no": {"en": "Not worth it for this traffic.", "zh": "对这样的流量不值得。"},
}
WHYS: Mapping[Why, Mapping[Lang, str]] = {
    "pays": {
        "en": "even the lower bound of the prompt tokens that earlier requests give back is worth the trouble",
        "zh": "可由先前请求返还的提示词 token，其下界也已达到值得的程度",
    },
    "may_pay": {
        "en": "there is something to win, but this log does not prove that it is enough",
        "zh": "有可省之处，但这份日志还不足以证明足够多",
    },
    "too_little": {
        "en": "less would be saved than capturing costs",
        "zh": "省下的比捕获本身的开销还少",
    },
    "short": {
        "en": "half of all requests are too short for reuse to matter",
        "zh": "一半的请求太短，复用没有意义",
    },
    "long": {
        "en": "requests are long, so each reuse saves much",
        "zh": "请求较长，每次复用都省得多",
    },
    "few": {
        "en": "the log is short; give a longer part of it for narrower bounds",
        "zh": "日志太短；给出更长的一段，区间会更窄",
    },
    "no_words": {
        "en": "the log holds no words of requests, so how alike they are is not known; a day of `retrace.sample` tells",
        "zh": "日志不含请求内容，无法判断请求之间有多相似；开启一天 `retrace.sample` 即可得知",
    },
    "no_times": {
        "en": "the log tells no times, so neither rate nor memory can be told; give --qps",
        "zh": "日志没有时间，无法得出请求速率与内存；请给出 --qps",
    },
    "no_verdicts": {
        "en": "the log does not tell which requests were rejected",
        "zh": "日志没有记录哪些请求被拒绝",
    },
    "engine_cache": {
        "en": "most of it begins alike: an engine's own prefix cache gives that back too, while it holds it; what is "
        "ReTrace's own is what has left that cache or has moved",
        "zh": "大部分是相同的开头：引擎自带的前缀缓存未淘汰时也能返还；ReTrace 独有的是已离开该缓存或位置已变的部分",
    },
}
_CAPTURES: Mapping[Capture, Mapping[Lang, str]] = {
    "rejected": {"en": "if rejected drafts are kept", "zh": "若保留被拒草稿"},
    "all": {"en": "if all drafts are kept", "zh": "若保留所有草稿"},
}


def rows(log: Log, figures: Figures, savings: Mapping[Capture, Saving], lang: Lang) -> Iterator[Row]:
    """All that was measured."""
    zh = lang == "zh"
    format = log.format
    yield Row("格式" if zh else "format", format.name, format.zh if zh else format.en)
    bad = f"{log.bad} 行无法读取" if zh else f"{log.bad} lines can't be read"
    yield Row("请求" if zh else "requests", f"{figures.requests:,}", f"{log.read:,} {'行' if zh else 'lines'}, {bad}")
    yield _rejects(figures, format.doubt_zh if zh else format.doubt_en, zh)
    yield from _lengths(figures, zh)
    pace = "—" if figures.qps is None else f"{figures.qps:.3g}/s"
    yield Row("速率" if zh else "rate", pace, "" if figures.seconds is None else f"{figures.seconds / 3600:.2f} h")
    for capture, saving in savings.items():
        yield _saving(capture, saving, lang)


def _rejects(figures: Figures, doubt: str, zh: bool) -> Row:
    name = "拒绝率" if zh else "reject rate"
    if figures.reject_rate is None:
        return Row(name, "—", "日志未记录" if zh else "the log does not tell")
    low, high = figures.reject_bounds
    note = f"{low:.2%} – {high:.2%} (Wilson, 95 %)"
    if doubt:
        note += f"；{doubt}" if zh else f"; {doubt}"
    return Row(name, f"{figures.reject_rate:.2%}", note)


def _lengths(figures: Figures, zh: bool) -> Iterator[Row]:
    names = ("提示词", "回答", "合计") if zh else ("prompt", "answer", "both")
    if figures.told >= 1:
        note = "日志记录的 token" if zh else "tokens, as the log tells"
    else:
        known = (
            ("日志自身的比例" if zh else "the log's own ratio")
            if figures.measured
            else ("常用比例" if zh else "a usual ratio")
        )
        share, ratio = f"{1 - figures.told:.0%}", f"{figures.bytes_per_token:.2f}"
        note = (
            f"{share} 由字节数估算：每 token {ratio} 字节，{known}"
            if zh
            else f"tokens; {share} estimated from bytes, {ratio} a token: {known}"
        )
    for name, value in zip(names, (figures.prompt, figures.completion, figures.both), strict=True):
        label = f"{name}长度中位数" if zh else f"median {name}"
        yield Row(label, "—" if value is None else f"{value:,.0f}", note if name == names[-1] else "")


def _saving(capture: Capture, saving: Saving, lang: Lang) -> Row:
    low, high = saving.bounds
    zh = lang == "zh"
    name = f"可省提示词（{_CAPTURES[capture][lang]}）" if zh else f"prompt tokens saved, {_CAPTURES[capture][lang]}"
    bounds = f"{low:.1%} – {high:.1%}"
    same, moved, named = f"{saving.prefix:.1%}", f"{saving.moved:.1%}", f"{saving.named:.0%}"
    if zh:
        note = f"{bounds}（分块自助法，95 %）；相同开头 {same}，位置已变 {moved}；"
        note += f"{saving.requests} 个请求中 {named} 有供体"
    else:
        note = f"{bounds} (block bootstrap, 95 %); {same} begin alike, {moved} have moved; "
        note += f"a donor for {named} of {saving.requests} requests"
    return Row(name, f"{saving.share:.1%}", note)


def memory_rows(memory: Memory, shape: str, per_token: float, lang: Lang) -> Iterator[Row]:
    """What the captures would take."""
    zh = lang == "zh"
    rule = "0.003 × 拒绝率 × QPS × 60（经验公式）" if zh else "0.003 x reject rate x QPS x 60 (rule of thumb)"
    yield Row("内存（经验公式）" if zh else "memory, rule of thumb", f"{memory.thumb:.3g} GB/min", rule)
    yield Row(
        "内存（按模型）" if zh else "memory, by the model",
        f"{memory.ours:.3g} GB/min",
        f"{per_token:,.0f} B/token: {shape}",
    )
    held = "在存活期内同时占用" if zh else "held at a time, for as long as captures live"
    yield Row("常驻" if zh else "held", f"{memory.held:.3g} GB", held)


def reasons(verdict: Verdict, lang: Lang) -> list[str]:
    """Why, one sentence each."""
    return [WHYS[why][lang] for why in verdict.why]


def settings(plan: Plan, lang: Lang) -> list[str]:
    """What to set, as it is written in the files and in the engine's environment."""
    zh = lang == "zh"
    told = [
        f"gateway.yaml: retrace: {{capture: {plan.capture}, store: {{type: memory}}}}"
        + ("（多个网关或工作进程时用 redis）" if zh else "   (redis once there are several gateways or workers)"),
        f"reasons.yaml: inject: {{mode: {plan.mode}, ttl_seconds: {plan.ttl}}}",
    ]
    if plan.pool_gb is None:
        return [*told, f"RETRACE_POOL_TTL={plan.ttl}"]
    room = max(gib(plan.pool_gb), 0.1)
    return [*told, f"RETRACE_POOL_TTL={plan.ttl} RETRACE_POOL_GIB={room:.3g}"]


def hourly(tokens: float, seconds: float | None, lang: Lang) -> Row:
    """What is saved of an hour's traffic; seconds of prefill if it is known how fast the engine reads."""
    zh = lang == "zh"
    note = ""
    if seconds is not None:
        note = f"每小时省 {seconds:,.0f} 秒预填充" if zh else f"{seconds:,.0f} s of prefill an hour"
    return Row("每小时节省" if zh else "saved an hour", f"{tokens:,.0f} tokens", note)
