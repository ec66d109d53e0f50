"""An exchange in a few sentences, and the parts of a page that take some telling."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.audit.search import Hop, Line

PATHS = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
Texts = Mapping[str, str]


def sentences(line: Line, hops: Sequence[Hop], words: Texts) -> list[str]:
    """What happened, in the order in which it happened."""
    return [*_judged(line, words), *_read_again(line, words), *_ended(line, hops, words)]


def _judged(line: Line, words: Texts) -> Iterator[str]:
    verdict = str(line.get("verdict"))
    if cuts := line.get("attempts"):
        times = words["times_1"] if len(cuts) == 1 else words["times"].format(len(cuts))
        yield words["s_cut"].format(times, _codes(words, (cut["reason"] for cut in cuts)))
    blocking = [one for one in line.get("findings", ()) if one["action"] == "block"]
    for side, key in (("input", "s_block_in"), ("output", "s_block_out")):
        if mine := [one["reason"] for one in blocking if one["side"] == side]:
            yield words[key].format(_codes(words, mine))
    if verdict in ("allow", "tag", "refine", "mask") and not cuts:
        yield words[f"s_{verdict}"]


def _codes(words: Texts, codes: Any) -> str:
    return words["and"].join(dict.fromkeys(map(str, codes)))


def _read_again(line: Line, words: Texts) -> Iterator[str]:
    for told in line.get("refined", {}).values():
        outcome = told["outcome"]
        if outcome != "untouched":
            yield words[f"s_refined_{outcome}"].format(told["why"] if outcome == "degraded" else told["corrections"])


def _ended(line: Line, hops: Sequence[Hop], words: Texts) -> Iterator[str]:
    if given := sum(hop.capture["injected"] for hop in hops if not hop.deep):
        yield words["s_reused"].format(given)
    status = line.get("status")
    if status == 499:
        yield words["s_gone"]
    elif isinstance(status, int) and status >= 500:
        yield words["s_failed"].format(status)


def command(line: Line) -> str:
    """A call that asks the same again, as far as the log holds it."""
    surface = str(line.get("surface"))
    asked = [{"role": one["role"], "content": one["text"]} for one in line.get("asked") or [] if _is_text(one)]
    body: dict[str, Any] = {"model": line.get("model"), **line.get("parameters", {})}
    match surface:
        case "completions":
            body["prompt"] = asked[-1]["content"] if asked else "…"
        case "responses":
            body["input"] = asked or "…"
        case _:
            body["messages"] = asked or [{"role": "user", "content": "…"}]
    if line.get("stream"):
        body["stream"] = True
    told = json.dumps(body, ensure_ascii=False, indent=1).replace("'", "'\\''")
    address = f"http://127.0.0.1:8080{PATHS.get(surface, '')}"
    return f"curl {address} -H 'content-type: application/json' -H 'x-retrace-explain: 1' -d '{told}'"


def _is_text(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("text"), str)
