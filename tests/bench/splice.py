"""What a splice saves, and what it costs in quality, on the real engine.

    python -m tests.bench.splice [--models qwen,gemma] [--docs 20] [--data DIR]

speed     spans of 1,024 and 3,000 tokens behind a changed preamble of at most 100: time to first token, in proportion
          to the full prefill of the same prompt, pair by pair
quality   documents at shifts of 500 tokens and more, zh and en: divergence of the next token (first three of the
          answer, teacher-forced), agreement of the most probable one, ROUGE-L of 64 greedy tokens; beside the floor,
          the same prompt as a prefix-cache hit, whose differences are the engine's own noise
controls  the same with keys that were not rotated, and with another document's KV: both must score badly
backref   documents that refer back to a preamble that has changed: whose value does the answer name?

The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from deploy.setup.engine import Engine, ensure
from deploy.vllm.launch import Launch
from gateway.kv.nouns import USUAL
from tests.bench import docs
from tests.bench.client import TOP, Answer, Client, client
from tests.bench.followed import followed
from tests.bench.prompts import FEW_BLOCKS, Pair, pairs, worn_in
from tests.bench.scores import bootstrap, kl, mean, rouge_l, same_top

console = Console(highlight=False)

DEFAULT = {"first": USUAL.first, "share": USUAL.share}
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "default": DEFAULT,
    "fast": {"first": 32, "share": 0.15},
    "k0": {"first": 0, "share": 0.0},
    "k32": {"first": 32, "share": 1.0},
    "k128": {"first": 128, "share": 1.0},
}
LEAST = 128  # tokens of a span that is worth a splice here
ANSWER = 64
POSITIONS = 3  # of the answer, at which distributions are compared


class Plan(NamedTuple):
    """How many documents of a language: in all, and of these the first so many for what takes longer."""

    docs: int
    rouge: int
    curves: int
    controls: int


class Bench:
    """One engine under measurement."""

    def __init__(self, engine: Client, data: Path, name: str, plan: Plan) -> None:
        self.engine, self.data, self.name, self.plan = engine, data, name, plan
        self.rows: dict[str, list[float]] = defaultdict(list)

    def captured(self, prompt: Sequence[int], prefix: str = "", name: str = "") -> str:
        """Have a donor computed, captured and kept; its name."""
        name = name or prefix + secrets.token_hex(8)
        self.engine.ask(prompt, retrace={"capture": name}, salt="bench")
        self.engine.keep(name)
        return name

    def spliced(self, pair: Pair, donor: str, setting: Mapping[str, float], **more: Any) -> Answer:
        ask = {"donor": donor, "mode": "splice", "recompute": setting, "min_tokens": LEAST}
        prompt = [*pair.request, *more.pop("then", ())]
        answer = self.engine.ask(prompt, retrace=ask, salt="bench", **more)
        if answer.retrace.get("mode") != "splice":
            raise SystemExit(f"the engine did not splice: {answer.retrace}")
        return answer

    def full(self, prompt: Sequence[int], **more: Any) -> Answer:
        """Computed from nothing: the salt is new, so no cache can help."""
        return self.engine.ask(prompt, salt=secrets.token_hex(8), **more)

    # Speed

    def speed(self, span: int, rounds: int, lang: docs.Lang, *, chat: bool) -> dict[str, float]:
        """Time to first token / full prefill, for the default and the fast setting; the median over `rounds` pairs."""
        ratios: dict[str, list[float]] = defaultdict(list)
        for pair in pairs(self.engine, self.data, lang, rounds, span, 40, 90, chat=chat):
            donor = self.captured(pair.donor)
            full = self.full(pair.request).seconds
            for name in ("default", "fast"):
                ratios[name].append(self.spliced(pair, donor, SETTINGS[name]).seconds / full)
            ratios["full_seconds"].append(full)
            self.engine.drop(donor)
        return {name: statistics.median(values) for name, values in ratios.items()}

    # Quality

    def quality(self, lang: docs.Lang, *, chat: bool) -> None:
        """All settings and controls on documents that have moved by 500 tokens and more."""
        count = self.plan.docs
        for number, pair in enumerate(pairs(self.engine, self.data, lang, count, 1024, 40, 560, chat=chat)):
            self._document(f"{self.name} {lang}", pair, number)
            console.print(f"  {self.name} {lang} document {number + 1} of {count}")

    def _document(self, row: str, pair: Pair, number: int) -> None:
        donor, salt = self.captured(pair.donor), secrets.token_hex(8)
        long = ANSWER if number < self.plan.rouge else POSITIONS
        true = self.engine.ask(pair.request, max_tokens=long, tops=TOP, salt=salt)
        self._floor(row, pair, true, salt)
        for setting, recompute in SETTINGS.items():
            if setting == "default" or number < self.plan.curves:
                self._compare(f"{row} {setting}", pair, donor, recompute, true)
        if number < self.plan.rouge:
            again = self.engine.ask(pair.request, max_tokens=ANSWER, salt=salt)
            self.rows[f"{row} floor rouge"].append(rouge_l(true.ids, again.ids))
            answer = self.spliced(pair, donor, DEFAULT, max_tokens=ANSWER)
            self.rows[f"{row} default rouge"].append(rouge_l(true.ids, answer.ids))
        self.engine.drop(donor)
        if number < self.plan.controls:
            self._controls(row, pair, true)

    def _controls(self, row: str, pair: Pair, true: Answer) -> None:
        """Done wrong on purpose, see tests/engine/controls.py."""
        unrotated, wrong = self.captured(pair.donor, "unrotated-"), self.captured(pair.donor, "wrong-")
        other = wrong.replace("wrong-", "other-")
        self.captured([*pair.donor[:8], *reversed(pair.donor[8:])], name=other)
        for control in (unrotated, wrong):
            self._compare(f"{row} {control.partition('-')[0]}", pair, control, DEFAULT, true)
        for name in (unrotated, wrong, other):
            self.engine.drop(name)

    def _floor(self, row: str, pair: Pair, true: Answer, salt: str) -> None:
        """The same prompts again: the engine's own cache serves them."""
        for at in range(min(POSITIONS, len(true.ids))):
            hit = self.engine.ask([*pair.request, *true.ids[:at]], tops=TOP, salt=salt)
            self._note(f"{row} floor", true, hit, at)

    def _compare(self, row: str, pair: Pair, donor: str, setting: Mapping[str, float], true: Answer) -> None:
        for at in range(min(POSITIONS, len(true.ids))):
            told = self.spliced(pair, donor, setting, then=true.ids[:at], tops=TOP)
            self._note(row, true, told, at)

    def _note(self, row: str, true: Answer, told: Answer, at: int) -> None:
        self.rows[f"{row} kl"].append(kl(true.tops[at], told.tops[0]))
        self.rows[f"{row} top1"].append(float(same_top(true.tops[at], told.tops[0])))


def summary(bench: Bench, langs: Sequence[docs.Lang]) -> dict[str, Any]:
    """Each row's figures, and the three that must hold in the default setting (the worst of the languages)."""
    out: dict[str, Any] = {}
    for lang in langs:
        row = f"{bench.name} {lang}"
        for setting in ("floor", *SETTINGS, "unrotated", "wrong"):
            divergence = bench.rows[f"{row} {setting} kl"]
            if not divergence:
                continue
            low, high = bootstrap(divergence)[1:]
            out[f"{lang}_{setting}"] = {
                "kl_mean": round(mean(divergence), 5),
                "kl_95": [round(low, 5), round(high, 5)],
                "kl_max": round(max(divergence), 4),
                "top1": round(mean(bench.rows[f"{row} {setting} top1"]), 4),
                "n": len(divergence),
            }
        if not bench.plan.rouge:
            continue
        floor, ours = (mean(bench.rows[f"{row} {setting} rouge"]) for setting in ("floor", "default"))
        out[f"{lang}_rouge"] = {"floor": round(floor, 4), "default": round(ours, 4), "ratio": round(ours / floor, 4)}
    both = [out[f"{lang}_default"] for lang in langs]
    out["kl_mean"] = max(row["kl_mean"] for row in both)
    out["top1_minus_floor"] = min(
        round(out[f"{lang}_default"]["top1"] - out[f"{lang}_floor"]["top1"], 4) for lang in langs
    )
    if bench.plan.rouge:
        out["rouge_to_floor"] = min(out[f"{lang}_rouge"]["ratio"] for lang in langs)
    return out


def measured(engine: Engine, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """All of one model."""
    chat = name == "qwen"
    langs: tuple[docs.Lang, ...] = ("zh", "en")
    with client(engine.url, name) as made:
        plan = Plan(options.docs, options.rouge, options.curves, options.controls)
        bench = Bench(made, options.data, name, plan)
        out: dict[str, Any] = {}
        worn_in(made)
        for span, rounds in ((1024, options.rounds), (3000, options.rounds)):
            speed = bench.speed(span, rounds, "zh", chat=chat)
            out[f"ttft_ratio_{span}"] = round(speed["default"], 4)
            out[f"ttft_ratio_{span}_fast"] = round(speed["fast"], 4)
            out[f"full_seconds_{span}"] = round(speed["full_seconds"], 3)
            console.print(f"  {name} span {span}: {speed}")
        if not options.speed_only:
            for lang in langs:
                bench.quality(lang, chat=chat)
            out |= summary(bench, langs)
            if chat and options.backref:
                out["backref"] = followed(bench, {"default": DEFAULT}, options.backref)
        return out


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.splice", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--models", default="qwen,gemma", help="which of our models, separated by commas")
    made.add_argument("--docs", type=int, default=20, help="documents a row of the quality table (default: 20)")
    made.add_argument("--rouge", type=int, default=20, help="of these, with 64 greedy tokens (default: 20)")
    made.add_argument("--curves", type=int, default=6, help="of these, with the other settings (default: 6)")
    made.add_argument("--controls", type=int, default=6, help="of these, with the controls (default: 6)")
    made.add_argument("--backref", type=int, default=30, help="documents a language that refer back (default: all 30)")
    made.add_argument("--rounds", type=int, default=5, help="pairs a span length in the speed part (default: 5)")
    made.add_argument("--speed-only", action="store_true", help="leave quality and back-references out")
    docs.add_option(made)
    return made


def main() -> None:
    options = parser().parse_args()
    out: dict[str, Any] = {"setting": DEFAULT}
    began = time.monotonic()
    for name in options.models.split(","):
        launch = Launch(model=name, served=name, connector="tests.engine.controls", flags=FEW_BLOCKS[name])
        engine = ensure(wanted=launch, replace=True)
        try:
            out[name] = measured(engine, name, options)
        finally:
            engine.stop()
    worst: dict[str, Any] = {}
    for figure, better in (
        ("ttft_ratio_1024", max),
        ("ttft_ratio_3000", max),
        ("kl_mean", max),
        ("top1_minus_floor", min),
        ("rouge_to_floor", min),
    ):
        values = [out[name][figure] for name in options.models.split(",") if figure in out[name]]
        if values:
            worst[figure] = better(values)
    print(json.dumps(out | worst | {"minutes": round((time.monotonic() - began) / 60, 1)}))


if __name__ == "__main__":
    try:
        main()
    except docs.NoData as missing:
        raise SystemExit(str(missing)) from None
