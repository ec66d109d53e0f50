"""The random model: the same each time, takes any text, and what it says hangs on all that stands before."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch

from deploy.vllm import random_llama

transformers: Any = importlib.import_module("transformers")  # by name: types are checked where it isn't
TEXT = "A draft, a rewind. 草稿，回退。\n\tconst x = 1;"


def made(folder: Path, seed: int) -> Any:
    random_llama.make(folder, seed)
    return transformers.AutoModelForCausalLM.from_pretrained(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("models") / "tiny"
    random_llama.make(where, 3)
    return where


def test_the_seed_alone_decides(folder: Path, tmp_path: Path) -> None:
    one = transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict()
    same, other = made(tmp_path / "same", 3).state_dict(), made(tmp_path / "other", 4).state_dict()
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_any_text_goes_in_and_comes_out(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT)["input_ids"]
    assert len(ids) == len(TEXT.encode())
    assert tokenizer.decode(ids) == TEXT
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert prompt == "<s>user: hi\n"


def test_what_stands_far_before_changes_the_next_token(folder: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    torch.manual_seed(1)
    ids = torch.randint(0, 256, (8, 200))
    changed = ids.clone()
    changed[:, :64] = torch.randint(0, 256, (8, 64))
    with torch.no_grad():
        one, two = (model(batch).logits[:, -1].float().log_softmax(-1) for batch in (ids, changed))
    assert torch.sum(one.exp() * (one - two), -1).min() > 0.1  # KL
