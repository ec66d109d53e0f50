"""The documents that refer back, in tokens: as long as their bench promises."""

from __future__ import annotations

import importlib
from typing import Any, get_args

import pytest

from deploy.vllm import model
from tests.bench.backref import documents
from tests.bench.docs import Lang


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Of the model that the bench asks."""
    return importlib.import_module("tokenizers").Tokenizer.from_file(
        f"{model.path(model.source('qwen'))}/tokenizer.json"
    )


@pytest.mark.parametrize("lang", get_args(Lang))
def test_a_short_head_stands_before_a_long_rest(lang: Lang, tokenizer: Any) -> None:
    for document in documents(lang):
        assert 350 <= len(tokenizer.encode(document.body).ids) <= 700
        for value in (document.old, document.new):
            assert len(tokenizer.encode(document.preamble(value)).ids) <= 100
