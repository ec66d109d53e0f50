"""Whatever fails in the plugin, the engine lives and answers as if the plugin were not there."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from deploy.setup.engine import Engine
from deploy.setup.paths import RUN, pool
from deploy.vllm.launch import Launch
from tests.bench.client import Client, client
from tests.engine.armed import CALLS, FILE
from tests.engine.talk import SALT, asked, captured, forget, tokens
from tests.engines import Engines, skip_unless_ours

pytestmark = pytest.mark.engine

SWITCH = RUN / "faults"
SHIFTED = [*tokens(520, 2), *tokens(1000, 1)[20:980], *tokens(30, 3)]
PREFIXED = [*tokens(1000, 1)[:700], *tokens(40, 4)]


@pytest.fixture
def fragile(engines: Engines) -> Iterator[Engine]:
    """A small engine with little room (40 blocks), whose plugin can be made to fail."""
    skip_unless_ours()
    SWITCH.unlink(missing_ok=True)
    # In float32, so that an answer does not depend on how its prompt was cut into steps.
    flags = ("--num-gpu-blocks-override", "40", "--max-model-len", "2048", "--dtype", "float32")
    env = {FILE: str(SWITCH), "VLLM_SERVER_DEV_MODE": "1"}
    yield engines.get(Launch(model="tiny", served="tiny", connector="tests.engine.faults", flags=flags, env=env))
    SWITCH.unlink(missing_ok=True)


@pytest.fixture
def talk(fragile: Engine) -> Iterator[Client]:
    with client(fragile.url, fragile.model) as made:
        yield made


@pytest.fixture
def donor(talk: Client, fragile: Engine) -> str:
    name = captured(talk, tokens(1000, 1))
    forget(fragile)
    return name


def faults(talk: Client) -> float:
    return sum(value for name, value in talk.metrics().items() if name.startswith("retrace_kv_faults_total"))


@pytest.mark.parametrize("mode", ["prefix", "splice"])
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_at_any_hook_costs_only_our_help(
    talk: Client, donor: str, fragile: Engine, call: str, mode: str
) -> None:
    prompt = PREFIXED if mode == "prefix" else SHIFTED
    cold = talk.ask(prompt, max_tokens=6, salt=secrets.token_hex(8))
    forget(fragile)
    SWITCH.write_text(call)
    told = asked(talk, prompt, donor, mode, max_tokens=6, ask={"capture": secrets.token_hex(8)})
    SWITCH.unlink()
    assert len(told.ids) == len(cold.ids)
    if told.retrace.get("mode", "none") != "splice":
        assert told.ids == cold.ids
    forget(fragile)
    again = asked(talk, PREFIXED, donor, "prefix", max_tokens=6)
    if call != "Injector.load":  # there the donor is dropped: it could not be read
        assert again.retrace["mode"] == "prefix"
    assert again.ids == talk.ask(PREFIXED, max_tokens=6, salt=secrets.token_hex(8)).ids


def test_faults_are_counted(talk: Client, donor: str) -> None:
    before = faults(talk)
    SWITCH.write_text("Desk.admit")
    asked(talk, PREFIXED, donor, "prefix")
    SWITCH.unlink()
    talk.ask(tokens(20, 8))
    assert faults(talk) > before


@pytest.mark.parametrize("mode", ["prefix", "splice"])
def test_a_torn_capture_is_dropped_and_its_prompt_computed(
    talk: Client, donor: str, fragile: Engine, mode: str
) -> None:
    prompt = PREFIXED if mode == "prefix" else SHIFTED
    cold = talk.ask(prompt, max_tokens=6, salt=secrets.token_hex(8))
    data = pool() / f"{donor}.kv"
    raw = bytearray(data.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    data.write_bytes(bytes(raw))
    told = asked(talk, prompt, donor, mode, max_tokens=6)
    assert told.retrace["declined"] == "load_failed"
    assert told.ids == cold.ids
    assert asked(talk, prompt, donor, mode).retrace["injected_tokens"] == 0


@pytest.mark.parametrize("mode", ["prefix", "splice"])
def test_a_capture_whose_file_has_vanished_is_computed_anew(
    talk: Client, donor: str, fragile: Engine, mode: str
) -> None:
    prompt = PREFIXED if mode == "prefix" else SHIFTED
    cold = talk.ask(prompt, max_tokens=6, salt=secrets.token_hex(8))
    (pool() / f"{donor}.kv").unlink()
    told = asked(talk, prompt, donor, mode, max_tokens=6)
    assert told.retrace["injected_tokens"] == 0
    assert told.ids == cold.ids


def test_preemption_between_jump_and_load_ends_in_full_prefills(talk: Client, donor: str) -> None:
    """More requests than there is room for: the engine takes blocks away from some while they are under way."""
    prompts = [[*tokens(200 + 30 * n, 50 + n), *tokens(1000, 1)[20:980], *tokens(30, 3)] for n in range(8)]
    with ThreadPoolExecutor(8) as at_once:
        told = list(at_once.map(lambda p: asked(talk, p, donor, "splice", max_tokens=150, ignore_eos=True), prompts))
    assert all(len(one.ids) == 150 for one in told)
    preempted = sum(value for name, value in talk.metrics().items() if name.startswith("vllm:num_preemptions_total"))
    assert preempted > 0
    assert talk.ask(tokens(50, 1)).ids


def test_requests_whose_clients_leave_leave_nothing_behind(talk: Client, donor: str, fragile: Engine) -> None:
    body = {"model": "tiny", "prompt": SHIFTED, "max_tokens": 400, "stream": True, "ignore_eos": True}
    names = [secrets.token_hex(8) for _ in range(6)]

    def leave(name: str) -> None:
        ask = {"retrace": {"capture": name, "donor": donor, "mode": "splice", "min_tokens": 128}}
        with httpx.stream(
            "POST",
            f"{fragile.url}/v1/completions",
            json={**body, "kv_transfer_params": ask, "cache_salt": SALT},
            timeout=60,
            trust_env=False,
        ) as answer:
            next(answer.iter_raw())

    threads = [threading.Thread(target=leave, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    talk.ask(tokens(50, 1))
    for name in names:
        assert talk.drop(name)["report"]["captured_tokens"] == 0
    running = [value for name, value in talk.metrics().items() if name.startswith("vllm:num_requests_running")]
    assert sum(running) == 0


def test_a_pool_that_vanishes_altogether_leaves_an_engine_that_answers(talk: Client, fragile: Engine) -> None:
    for file in Path(pool()).iterdir():
        file.unlink()
    told = talk.ask(PREFIXED, max_tokens=6, retrace={"capture": secrets.token_hex(8)}, salt=SALT)
    assert told.ids == talk.ask(PREFIXED, max_tokens=6, salt=secrets.token_hex(8)).ids
    fragile.stop()  # of its pool nothing is left; this is the last test, so that none has to start another one
