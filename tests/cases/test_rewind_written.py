"""What the README and the finance pack give to copy does what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.answering import in_turn
from tests.rig import Seen, chat_stream, gateway, said, streams, upstream

ROOT = Path(__file__).parents[2]
README = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PACK = ROOT / "rules" / "packs" / "finance" / "finance.yaml"


def of_readme(path: Path) -> dict[str, Any]:
    """The rule in its section on rewinding."""
    section = path.read_text(encoding="utf-8").split("\n## Rewind", 1)[1]
    (example,) = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[0])
    return {**example, "reason": "R101"}


def of_pack() -> dict[str, Any]:
    """The rule against promises, as it reads with the lines that it gives to copy."""
    text = PACK.read_text(encoding="utf-8")
    _, begin, rest = text.partition("  - id: finance.promise.made\n")
    block = begin + rest.split("\n  - id: ", 1)[0]
    offered = re.findall(r"(?m)^    # (action: rewind|rewind:| .*)$", block)
    assert offered[0] == "action: rewind"
    repaired = re.sub(r"(?m)^    action: block$", "\n".join(f"    {line}" for line in offered), block)
    (made,) = yaml.safe_load(repaired)
    return {**made, "reason": "R101"}


async def repaired(folder: Path, given: dict[str, Any], *turns: list[bytes]) -> tuple[str, list[Seen]]:
    """What a client reads with this rule in force, and what the endpoint was asked."""
    async with (
        upstream(in_turn(*map(streams, turns))) as (url, up),
        gateway(folder, [url], [given]) as running,
        await running.chat(stream=True) as response,
    ):
        return said(await response.read()), up.calls


def test_both_languages_show_the_same() -> None:
    assert of_readme(README[0]) == of_readme(README[1])


@pytest.mark.parametrize(
    ("bad", "good", "read", "told"),
    [
        (
            ["It is safe. ", "It pays a guaranteed ", "return."],
            [" It may fall."],
            "It is safe. Returns vary. It may fall.",
            "Promise no return.",
        ),
        (["期限三年。", "它稳赚不赔", "。"], ["也可能亏损。"], "期限三年。收益会波动。也可能亏损。", "不要承诺收益。"),
    ],
)
async def test_the_readme_s_rule_repairs_an_answer(
    tmp_path: Path, bad: list[str], good: list[str], read: str, told: str
) -> None:
    text, (_, second) = await repaired(tmp_path, of_readme(README[0]), chat_stream(*bad), chat_stream(*good))
    assert text == read
    assert second.json["messages"][0]["content"] == f"hi\n\n{told}"
    assert len(second.json["bad_words"]) == 1


@pytest.mark.parametrize(
    ("bad", "good", "read"),
    [
        (
            ["Thank you. ", "This fund guarantees ", "high yields."],
            [" Its yield depends on the market."],
            "Thank you. Its yield depends on the market.",
        ),
        (["感谢咨询。", "该产品保本保息", "。"], ["收益取决于市场。"], "感谢咨询。收益取决于市场。"),
    ],
)
async def test_the_finance_pack_s_rule_repairs_an_answer_if_its_lines_are_taken(
    tmp_path: Path, bad: list[str], good: list[str], read: str
) -> None:
    text, calls = await repaired(tmp_path, of_pack(), chat_stream(*bad), chat_stream(*good))
    assert text == read
    assert len(calls) == 2


def test_as_it_is_shipped_that_rule_ends_an_answer() -> None:
    (shipped,) = [
        one for one in yaml.safe_load(PACK.read_text(encoding="utf-8"))["rules"] if one["id"] == "finance.promise.made"
    ]
    assert shipped["action"] == "block"
    assert shipped["check"] == of_pack()["check"]
