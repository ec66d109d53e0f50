"""Several choices, of which some are cut back and go on; and what is told of it to who asks."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.continued import BAD, CONTINUED, RULES, events, guaranteed, in_turn, kept, served, stream
from tests.rig import DONE, delta, payloads, quiet, said, text_delta, usage_event


async def test_of_two_choices_only_the_one_that_broke_a_rule_goes_on_anew(tmp_path: Path) -> None:
    first = [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed here.", 0), delta("fine.", 1)]
    first += [delta(finish="stop", index=0), delta(finish="stop", index=1), usage_event(7, 6), DONE]
    async with served(tmp_path, in_turn(first, events([" well."])), RULES) as (running, up):
        body = await stream(running, n=2)
    assert (said(body, 0), said(body, 1)) == ("All is well.", "Mine is fine.")
    assert "n" not in up.calls[1].json
    ends = [(c["index"], c["finish_reason"]) for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]]
    assert sorted(ends) == [(0, "stop"), (1, "stop")]


ALL = [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed here.", 0)]


@pytest.mark.parametrize("pause", [0.0, 0.01])
@pytest.mark.parametrize("counted", [True, False])
async def test_usage_of_several_choices_is_that_of_all(tmp_path: Path, pause: float, counted: bool) -> None:
    """Where the first call never came to tell it, since it was ended, the events of the other choices are counted."""
    rest = [delta("fine.", 1), delta(finish="stop", index=1), delta(" And more."), delta(finish="stop")]
    first = [*ALL, *rest, *([usage_event(7, 6)] if counted else []), DONE]
    script = in_turn([b"".join(first)] if counted else first, events([" well."], prompt=8), pause=pause)
    async with served(tmp_path, script, RULES) as (running, _):
        body = await stream(running, n=2, stream_options={"include_usage": True})
    assert (said(body, 0), said(body, 1)) == ("All is well.", "Mine is fine.")
    (usage,) = [data["usage"] for data in payloads(body)[:-1] if data.get("usage")]
    # Of six tokens the rule took three away; then one more was said.
    assert usage["completion_tokens"] == (6 - 3 + 1 if counted else 2 + 1)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["retrace"]["attempts"] == 2


async def test_both_of_two_choices_go_on_one_after_the_other(tmp_path: Path) -> None:
    first = [*ALL, delta("guaranteed too.", 1), usage_event(7, 4), DONE]
    more = [events([" well."], prompt=8), events([" good."], prompt=9)]
    async with served(tmp_path, in_turn([b"".join(first)], *more), RULES) as (running, up):
        async with await running.chat(n=2) as response:
            whole = orjson.loads(await response.read())
        await quiet(running)
    texts = [choice["message"]["content"] for choice in whole["choices"]]
    assert sorted(texts) == ["All is good.", "Mine is well."]
    assert [choice["finish_reason"] for choice in whole["choices"]] == ["stop", "stop"]
    assert {kept(call) for call in up.calls[1:]} == {"All is", "Mine is"}
    assert whole["usage"]["completion_tokens"] == 2
    assert whole["usage"]["retrace"] == {"attempts": 3, "wasted_tokens": 4}


async def test_each_choice_of_several_prompts_goes_on_from_its_own(tmp_path: Path) -> None:
    first = [text_delta("One. ", 0), text_delta("Two is ", 1), text_delta("guaranteed ", 1)]
    first += [text_delta(finish="stop", index=n) for n in range(2)]
    more = [text_delta(" fine."), text_delta(finish="stop"), DONE]
    async with served(tmp_path, in_turn([*first, DONE], more), RULES) as (running, up):
        await running.ask("/v1/completions", {"model": "m", "prompt": ["First:", "Second:"], "stream": True})
    assert up.calls[1].json["prompt"] == "Second:Two is"


# What is told of it.


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("whole", [True, False])
async def test_how_often_and_why_is_told_to_who_asks(tmp_path: Path, asks: bool, whole: bool) -> None:
    again = events([" guaranteed ", "too."])
    headers = {"x-retrace-explain": "1"} if asks else {}
    async with (
        served(tmp_path, in_turn(events(BAD), again, events(CONTINUED)), RULES) as (running, _),
        await running.chat(headers=headers, stream=not whole) as response,
    ):
        body = await response.read()
    told = [orjson.loads(body)] if whole else payloads(body)[:-1]
    notes = [choice["retrace"] for data in told for choice in data["choices"] if "retrace" in choice]
    if not asks:
        assert notes == []
        return
    ((first, second),) = [note["attempts"] for note in notes]
    assert {name: first[name] for name in ("reason", "rule", "anchor")} == {
        "reason": "R101",
        "rule": "output.regex",
        "anchor": "word",
    }
    assert (first["kept"], second["kept"]) == (2, 0)
    assert first["wasted"] >= 1
    assert second["wasted"] >= 1


async def test_an_answer_that_is_ended_after_all_tells_both(tmp_path: Path) -> None:
    script = in_turn(events(BAD), events([" guaranteed ", "too."]))
    async with (
        served(tmp_path, script, [guaranteed(budget=1)]) as (running, _),
        await running.chat(headers={"x-retrace-explain": "1"}, stream=True) as response,
    ):
        body = await response.read()
        told = await running.metrics()
    (note,) = [c["retrace"] for data in payloads(body)[:-1] for c in data["choices"] if "retrace" in c]
    assert (note["verdict"], note["reason"], len(note["attempts"])) == ("block", "R101", 1)
    assert told['retrace_exchanges_total{surface="chat",verdict="block"}'] == 1
