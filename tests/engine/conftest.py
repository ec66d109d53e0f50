"""Tests of the plugin as it runs inside a real vLLM, on each model of ours; `unit` runs where torch is."""

from __future__ import annotations

import importlib.util

import pytest

from deploy.setup.engine import Engine
from deploy.vllm.launch import Launch
from tests.engines import Engines, skip_unless_ours

# What needs torch but no engine: `.venv-engine/bin/python -m pytest tests/engine/unit`.
collect_ignore = [] if importlib.util.find_spec("torch") else ["unit"]


FORGETTING = {"VLLM_SERVER_DEV_MODE": "1"}  # the engine's own cache can be emptied over HTTP


@pytest.fixture(scope="session", params=["qwen", "gemma", "tiny"])
def model(request: pytest.FixtureRequest) -> str:
    """One of our models. Of the whole session, so that all tests on one come in a row."""
    return str(request.param)


@pytest.fixture
def patched(engines: Engines, model: str) -> Engine:
    """An engine with the plugin that serves `model`."""
    skip_unless_ours()
    return engines.get(Launch(model=model, served=model, connector="tests.engine.controls", env=FORGETTING))
