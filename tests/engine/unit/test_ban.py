"""The logits of what must not come next are closed, for the requests that ask for it and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality

from gateway.kv.ban import RetraceBan
from gateway.kv.nouns import OPEN_END, Block, Owner
from gateway.kv.pool import Pool
from gateway.kv.settings import Settings

SECRET = (11, 12, 13, 14)
TOKENS = (1, 2, 3, *SECRET, 4)
TAIL = (21, 22, 23, 5)  # behind the last whole block


class Params:
    """What of sampling parameters is looked at."""

    def __init__(self, retrace: dict[str, Any] | None) -> None:
        self.extra_args = {"kv_transfer_params": {"retrace": retrace}} if retrace else None


@pytest.fixture
def processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RetraceBan]:
    folder = tmp_path / "pool"
    monkeypatch.setenv("RETRACE_POOL", str(folder))
    pool = Pool(Settings(folder=folder))
    pool.begin("donor", Owner("t", "", "f"), len(TOKENS), 8)
    pool.put("donor", (Block(0, TOKENS, 0), bytes(8)))
    pool.finish("donor", {"captured_tokens": len(TOKENS)}, TAIL)
    pool.keep("donor", "R101", [(3, 7), (8, 11), (12, OPEN_END)])
    yield RetraceBan(None, torch.device("cpu"), False)
    pool.close()


def added(*requests: tuple[int, dict[str, Any] | None, list[int]]) -> BatchUpdate:
    rows = [(index, Params(retrace), None, output) for index, retrace, output in requests]
    return BatchUpdate(len(rows), removed=[], added=rows, moved=[])


ASK = {"donor": "donor", "mode": "prefix", "ban": True}


def closed(processor: RetraceBan, rows: int = 3) -> dict[int, list[int]]:
    logits = processor.apply(torch.zeros(rows, 32))
    return {row: torch.nonzero(torch.isinf(logits[row])).flatten().tolist() for row in range(rows)}


def test_the_end_of_a_sensitive_n_gram_is_closed(processor: RetraceBan) -> None:
    output = [7, 11]
    processor.update_state(added((0, ASK, output)))
    assert closed(processor)[0] == []
    output.append(12)  # the engine's own list: it grows
    assert closed(processor)[0] == [13]


def test_a_span_behind_the_last_block_is_closed_too_and_the_rest_of_the_answer_is_not(processor: RetraceBan) -> None:
    processor.update_state(added((0, ASK, [21, 22]), (1, ASK, [22, 23])))
    assert closed(processor)[0] == [23]
    assert closed(processor)[1] == []


def test_only_who_asks_is_kept_from_it(processor: RetraceBan) -> None:
    plain = {"donor": "donor", "mode": "prefix"}
    processor.update_state(added((0, None, [11, 12]), (1, plain, [11, 12]), (2, ASK, [12, 13])))
    assert closed(processor) == {0: [], 1: [], 2: [14]}


def test_bans_move_with_their_requests(processor: RetraceBan) -> None:
    processor.update_state(added((0, ASK, [11, 12]), (1, ASK, [12, 13])))
    swap = BatchUpdate(2, removed=[], added=[], moved=[(0, 1, MoveDirectionality.SWAP)])
    processor.update_state(swap)
    assert closed(processor, 2) == {0: [14], 1: [13]}
    shift = BatchUpdate(1, removed=[0], added=[], moved=[(1, 0, MoveDirectionality.UNIDIRECTIONAL)])
    processor.update_state(shift)
    assert closed(processor, 2) == {0: [13], 1: []}


def test_an_unknown_donor_or_nonsense_bans_nothing(processor: RetraceBan) -> None:
    processor.update_state(added((0, {**ASK, "donor": "other"}, [11, 12]), (1, {"ban": "yes"}, [11, 12])))
    assert closed(processor) == {0: [], 1: [], 2: []}
