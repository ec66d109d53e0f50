"""An exchange repeated: what is asked of the engine, what comes of it, and when it tells nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.surfaces.chat import Plug as Chat
from gateway.surfaces.completions import Plug as Completions
from gateway.surfaces.messages import Plug as Messages
from gateway.watch.cases import Case
from gateway.watch.file import Shadowing
from gateway.watch.pairs import Pair
from gateway.watch.shadow import Shadow, Unmeasured, asking
from tests.plugin import asked
from tests.rig import RawUpstream, Running, quiet, until
from tests.watch.twice import LONG, PROMPT, case, twin

WORDS = Shadowing(answer_tokens=32, seconds=2)


class Books:
    """What is spent, and a gateway that is quiet as long as it is said to be."""

    def __init__(self, *quiets: bool, lot: float = 0.0) -> None:
        self.spent: list[tuple[str, int]] = []
        self._quiets, self._lot = list(quiets), lot

    def shadow(self, running: Running) -> Shadow:
        way = running.server._pipeline.way
        return Shadow(
            way.repeat, way.retrace.salt, self.quiet, lambda *told: self.spent.append(told), lambda: self._lot
        )

    def quiet(self) -> bool:
        return self._quiets.pop(0) if self._quiets else True


async def repeated(
    folder: Path, made: Callable[[str], Case] = case, books: Books | None = None, **fields: Any
) -> tuple[Pair, RawUpstream, list[tuple[str, int]]]:
    books = books or Books()
    async with twin(folder, **fields) as (running, engine, up):
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        pair = await books.shadow(running).pair(made(replica.url), WORDS)
        await until(lambda: len(engine.heard) == 2)
        assert {heard.method for heard in engine.heard} == {"DELETE"}
        await quiet(running)
    return pair, up, books.spent


async def test_both_sides_are_asked_for_greedily_and_apart_from_all_others(tmp_path: Path) -> None:
    pair, up, spent = await repeated(tmp_path, pause=0.1)
    ours, theirs = up.calls
    assert (asked(ours)["donor"], asked(ours)["mode"], asked(ours)["min_tokens"]) == ("d" * 32, "prefix", 64)
    assert (asked(theirs)["donor"], asked(theirs)["mode"]) == (None, "none")
    salts = {seen.json["cache_salt"] for seen in up.calls}
    owners = {asked(seen)["owner"] for seen in up.calls}
    assert len(salts) == 2
    assert len(owners) == 1
    assert not salts & owners
    assert not any(asked(seen)["record"] for seen in up.calls)
    both = [{k: v for k, v in seen.json.items() if k not in ("cache_salt", "kv_transfer_params")} for seen in up.calls]
    assert both[0] == both[1]
    assert both[0]["temperature"] == 0
    assert both[0]["max_tokens"] == 32
    assert both[0]["stream"] is True
    assert both[0]["top_logprobs"] == 20
    assert both[0]["messages"] == [{"role": "user", "content": LONG}]
    assert (pair.at, pair.reason, pair.arm, pair.mode, pair.fair) == (1000, "R101", "now", "prefix", True)
    assert pair.first[0] < 0.1 <= pair.first[1] <= pair.total[1]
    assert (pair.alike, pair.top1, pair.kl) == (1, 1, 0)
    assert spent == [("with", PROMPT + 8), ("without", PROMPT + 8)]


async def test_the_order_is_drawn_by_lot(tmp_path: Path) -> None:
    pair, up, _ = await repeated(tmp_path, books=Books(lot=0.7), other="Not within 14 days.")
    assert [bool(asked(seen)["donor"]) for seen in up.calls] == [False, True]
    assert pair.alike == pytest.approx(2 * 3 / (8 + 4))  # within 14 days
    assert pair.top1 == 0


async def test_a_splice_is_compared_with_what_its_tenant_would_have_had(tmp_path: Path) -> None:
    pair, up, _ = await repeated(tmp_path, lambda url: case(url, "splice", own=None), own=500, mode_of_it="splice")
    ours, theirs = up.calls
    assert theirs.json["cache_salt"] == asked(theirs)["owner"] == asked(ours)["owner"]
    assert ours.json["cache_salt"] != asked(ours)["owner"]
    assert pair.fair


@pytest.mark.parametrize(
    ("own", "fields"),
    [
        (51, {}),  # of a thousand
        (None, {}),  # who knows
        (0, {"own": 200}),  # the engine lets one in all the same
        (0, {"own": None}),
        (0, {"mode_of_it": "splice"}),  # another injection than the one that was seen
    ],
)
async def test_times_are_not_compared_where_the_engine_s_own_cache_would_have_helped(
    tmp_path: Path, own: int | None, fields: dict[str, Any]
) -> None:
    pair, _, _ = await repeated(tmp_path, lambda url: case(url, own=own), **fields)
    assert not pair.fair
    assert pair.alike == 1


@pytest.mark.parametrize("quiets", [(False,), (True, False), (True, True, False)])
async def test_times_are_not_compared_while_others_are_served(tmp_path: Path, quiets: tuple[bool, ...]) -> None:
    pair, _, _ = await repeated(tmp_path, books=Books(*quiets))
    assert not pair.fair


async def unmeasured(folder: Path, **fields: Any) -> tuple[str, Running]:
    """Why there is no pair; and the gateway has nothing left to do."""
    books = Books()
    async with twin(folder, **fields) as (running, _, _up):
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        with pytest.raises(Unmeasured) as caught:
            await books.shadow(running).pair(case(replica.url), WORDS)
        await quiet(running)
        return caught.value.why, running


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("not_injected", {"injects": 0}),
        ("refused", {"status_of_it": 503}),
        ("torn", {"torn": True}),
        ("slow", {"pause": 10}),
    ],
)
async def test_why_there_is_no_pair(tmp_path: Path, why: str, fields: dict[str, Any]) -> None:
    told, _ = await unmeasured(tmp_path, **fields)
    assert told == why


async def test_an_engine_without_log_probabilities_is_asked_without_the_next_time(tmp_path: Path) -> None:
    async with twin(tmp_path, shows=False) as (running, _, up):
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        shadow = Books().shadow(running)
        with pytest.raises(Unmeasured, match="refused"):
            await shadow.pair(case(replica.url), WORDS)
        pair = await shadow.pair(case(replica.url), WORDS)
    assert "logprobs" not in up.calls[-1].json
    assert (pair.top1, pair.kl, pair.alike) == (None, None, 1)


async def test_who_has_no_plugin_and_who_is_gone_tell_nothing(tmp_path: Path) -> None:
    async with twin(tmp_path) as (running, _, _up):
        shadow = Books().shadow(running)
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        with pytest.raises(Unmeasured, match="failed"):
            await shadow.pair(case(replica.url)._replace(backend="retired"), WORDS)
        replica.engine = None
        with pytest.raises(Unmeasured, match="unpatched"):
            await shadow.pair(case(replica.url), WORDS)


async def test_one_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async with twin(tmp_path, pause=10) as (running, _, up):
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        task = asyncio.create_task(Books(lot=0.9).shadow(running).pair(case(replica.url), WORDS))
        await until(lambda: up.calls)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.wait_for(up.calls[0].closed.wait(), 1)
        await quiet(running)


def test_what_a_client_asked_for_is_kept_but_for_what_a_repeat_must_not_have() -> None:
    body: dict[str, Any] = {
        "n": 1,
        "max_tokens": 8,
        "min_tokens": 50,
        "stop": ["x"],
        "temperature": 0.9,
        "logprobs": True,
        "seed": 3,
    }
    path, told, optional = asking(case("u", **body), Chat(), 32, 0)
    assert path == "/v1/chat/completions"
    assert optional == ()
    assert not told.keys() & {"n", "logprobs"}
    assert (told["max_tokens"], told["min_tokens"], told["stop"], told["seed"]) == (8, 32, ["x"], 3)
    told = asking(case("u", max_completion_tokens=500), Chat(), 32, 0).body
    assert told["max_completion_tokens"] == 32
    assert "max_tokens" not in told
    assert asking(case("u"), Completions(), 32, 5).body["logprobs"] == 5
    assert asking(case("u"), Messages(), 32, 0).path == "/v1/chat/completions"
