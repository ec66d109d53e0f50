"""Which engine runs: variants are told apart, and one makes room for another only when told to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.setup import engine, process
from deploy.setup.say import SetupError
from deploy.vllm import launch, model
from deploy.vllm.launch import Launch

VARIANTS = [
    Launch(),
    Launch(plugin=False),
    Launch(model="gemma"),
    Launch(model="tiny"),
    Launch(served="other"),
    Launch(connector="tests.engine.faulty"),
    Launch(flags=("--enable-lora",)),
    Launch(env={"RETRACE_POOL_GIB": "2"}),
    Launch(env={"RETRACE_POOL_GIB": "3"}),
]


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_no_two_variants_are_taken_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETRACE_MODEL", raising=False)
    told = [variant.about(model.source(variant.model)) for variant in VARIANTS]
    assert len(set(told)) == len(told)
    assert Launch(model="qwen").about(model.source("qwen")) == told[0]


def test_the_plugin_is_named_in_four_flags() -> None:
    command = launch.command("python", "/model", 1, Launch(connector="a.b", flags=("--enable-lora",)))
    assert json.loads(option(command, "--kv-transfer-config")) == {
        "kv_connector": "RetraceConnector",
        "kv_connector_module_path": "a.b",
        "kv_role": "kv_both",
        "kv_load_failure_policy": "recompute",
    }
    for name in ("--scheduler-cls", "--middleware", "--logits-processors"):
        assert option(command, name).startswith("gateway.kv.")
    assert command[-1] == "--enable-lora"


def test_without_the_plugin_nothing_names_it() -> None:
    command = launch.command("python", "/model", 1, Launch(plugin=False))
    assert "gateway" not in " ".join(command)
    assert not any(name.startswith(("RETRACE", "OMP")) for name in launch.environment("/model", Launch(plugin=False)))


def test_the_engine_says_what_it_had_in_its_cache() -> None:
    for plugin in (True, False):
        assert "--enable-prompt-tokens-details" in launch.command("python", "/model", 1, Launch(plugin=plugin))


def test_each_clone_has_a_pool_of_its_own_in_shared_memory() -> None:
    told = launch.environment("/model", Launch())
    assert Path(told["RETRACE_POOL"]).parent == Path("/dev/shm")
    assert 0 < float(told["RETRACE_POOL_GIB"]) <= 1
    assert int(told["OMP_NUM_THREADS"]) >= 1


def test_a_model_is_ours_or_a_folder_or_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRACE_MODEL", "gemma")
    assert model.source() == model.MODELS["gemma"].title
    assert model.source(str(tmp_path)) == model.path(str(tmp_path)) == str(tmp_path)
    assert model.source("some/id") == model.path("some/id") == "some/id"
    with pytest.raises(SetupError, match="no such folder"):
        model.source("/no/such/folder")


@pytest.fixture
def service() -> Iterator[process.Service]:
    """A process that does nothing, in the place of an engine."""
    started = process.start(f"test-{os.getpid()}", ["sleep", "600"], {"A": "env", "B": "env"}, 1, "one", {"B": "firm"})
    yield started
    process.stop(started)
    started.log.unlink()


def test_what_runs_and_is_wanted_is_used(service: process.Service, tmp_path: Path) -> None:
    way = engine._way(service, "one", False, [tmp_path])
    assert way.service is service
    assert not way.ours
    assert service.alive


def test_another_is_left_alone_unless_it_may_be_replaced(service: process.Service) -> None:
    with pytest.raises(SetupError, match="serves one, not another") as told:
        engine._way(service, "another", False, [])
    assert "make down" in told.value.do
    assert service.alive
    way = engine._way(service, "another", True, [])
    assert way.service is None
    assert way.ours
    assert way.port is None
    assert not service.alive


def test_one_whose_code_has_changed_is_started_anew_in_its_place(service: process.Service, tmp_path: Path) -> None:
    changed = tmp_path / "inner" / "part.py"
    changed.parent.mkdir()
    changed.touch()
    os.utime(changed, (time.time() + 9,) * 2)
    way = engine._way(service, "one", False, [tmp_path])
    assert way.service is None
    assert way.port == service.port
    assert not way.ours
    assert not service.alive


def test_what_a_variant_sets_wins_over_the_user(service: process.Service) -> None:
    names = Path(f"/proc/{service.pid}/environ").read_text().split("\0")
    assert "A=env" in names
    assert "B=firm" in names
