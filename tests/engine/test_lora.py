"""KV of one adapter serves that adapter alone: a real one beside its base model on one engine."""

from __future__ import annotations

import subprocess

import pytest

from deploy.setup import env
from deploy.setup.engine import Engine
from deploy.setup.paths import ROOT
from deploy.vllm import model
from deploy.vllm.launch import Launch
from tests.bench.client import Answer, Client, client
from tests.engine.conftest import FORGETTING
from tests.engine.talk import SALT, asked, captured, forget, tokens
from tests.engines import Engines, skip_unless_ours

pytestmark = pytest.mark.engine

PROMPT = tokens(400, 21)


@pytest.fixture
def adapted(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """An engine that serves the tiny model as `tiny`, and with an adapter as `adapted`."""
    skip_unless_ours()
    base, target = model.path(model.source("tiny")), tmp_path_factory.mktemp("adapter")
    python = env.ensure("engine") / "bin" / "python"
    subprocess.run([python, "-m", "tests.engine.adapter", base, target], cwd=ROOT, check=True)
    flags = ("--enable-lora", "--max-lora-rank", "8", "--lora-modules", f"adapted={target}")
    return engines.get(Launch(model="tiny", served="tiny", flags=flags, env=FORGETTING))


def taken(engine: Engine, talk: Client, donor: str) -> Answer:
    """The prompt, with what the donor can give."""
    forget(engine)
    return asked(talk, PROMPT, donor, "prefix", max_tokens=16)


def test_an_adapter_s_capture_serves_that_adapter_alone(adapted: Engine) -> None:
    with client(adapted.url, "tiny") as plain, client(adapted.url, "adapted") as other:
        donors = {"plain": captured(plain, PROMPT), "other": captured(other, PROMPT)}
        own = {"plain": taken(adapted, plain, donors["plain"]), "other": taken(adapted, other, donors["other"])}
        for name, told in own.items():
            assert told.retrace["injected_tokens"] == 384, name
        assert own["plain"].ids != own["other"].ids
        assert own["other"].ids == other.ask(PROMPT, max_tokens=16, salt=SALT).ids
        for talk, donor in ((plain, donors["other"]), (other, donors["plain"])):
            told = taken(adapted, talk, donor)
            assert told.retrace["declined"] == "adapter"
            assert told.retrace["injected_tokens"] == 0
