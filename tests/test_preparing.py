"""What may still become of an answer is known before it is asked for, by where the exchange passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rig import answers, chat_stream, completion, gateway, regex, streams, upstream


@pytest.mark.parametrize(("action", "streamed"), [("block", False), ("tag", False), ("rewind", True)])
async def test_an_answer_that_may_be_cut_back_is_streamed_to_here(tmp_path: Path, action: str, streamed: bool) -> None:
    speak = streams(chat_stream("fine")) if streamed else answers(completion("fine"))
    async with upstream(speak) as (url, raw), gateway(tmp_path, [url], [regex("bad", action=action)]) as running:
        response = await running.chat("hello")
        told = await response.json()
    assert told["choices"][0]["message"]["content"] == "fine"
    assert bool(raw.calls[0].json.get("stream")) is streamed


async def test_a_rule_that_does_not_concern_the_tenant_changes_nothing(tmp_path: Path) -> None:
    rule = regex("bad", action="rewind", when={"tenant": "somebody-else"})
    async with upstream(answers(completion("fine"))) as (url, raw), gateway(tmp_path, [url], [rule]) as running:
        await (await running.chat("hello")).read()
    assert not raw.calls[0].json.get("stream")
