"""The command line and environment of the engine that `make up`, the tests and the benches run."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.setup.paths import pool


@dataclass(frozen=True)
class Launch:
    """Which engine is wanted: all that makes one differ from another."""

    model: str | None = None
    """One of ours (`model.MODELS`), a folder or a model id; None: what RETRACE_MODEL names, else ours."""
    served: str = "qwen"
    """The name that requests put into `model`."""
    plugin: bool = True
    """With gateway.kv inside, or as vLLM comes."""
    connector: str = "gateway.kv.connector"
    """The module that holds RetraceConnector; a test may wrap it."""
    flags: tuple[str, ...] = ()
    """More of the command line; what is said twice counts as said last."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """More of the environment; wins over the user's."""

    def about(self, source: str) -> str:
        """In words what tells this engine, serving `source`, from any other."""
        told = [source, "with our plugin" if self.plugin else "without plugin"]
        told += [f"called {self.served}"] if self.served != Launch.served else []
        told += [f"by {self.connector}"] if self.connector != Launch.connector else []
        return " ".join([*told, *self.flags, *(f"{name}={value}" for name, value in sorted(self.env.items()))])


def command(python: str, source: str, port: int, launch: Launch) -> list[str]:
    """vLLM's OpenAI-compatible server on the loopback address. `source` is a folder or a model id."""
    return [
        python,
        # Not the `vllm` command: in the CPU build it looks for a distribution of another name.
        *("-m", "vllm.entrypoints.openai.api_server"),
        *("--host", "127.0.0.1"),
        *("--port", str(port)),
        *("--model", source),
        *("--served-model-name", launch.served),
        *("--max-model-len", "8192"),
        # Compiling takes 30 s longer to start and decodes 10 % faster: it pays only after some 10,000 tokens.
        "--enforce-eager",
        "--enable-prompt-tokens-details",  # usage says what was cached: what a second reading is measured by
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *_dtype(),
        *(_plugin(launch.connector) if launch.plugin else ()),
        *launch.flags,
    ]


def _dtype() -> list[str]:
    """What the model says, as a rule. An x86 without AVX-512 prefills five times as fast in plain floats as in bf16."""
    told = Path("/proc/cpuinfo").read_text()
    return ["--dtype", "float32"] if "avx2" in told and "avx512" not in told else []


def _plugin(connector: str) -> list[str]:
    """What makes a vLLM load gateway.kv, which it finds since it runs in the root of the clone."""
    names = {"kv_connector": "RetraceConnector", "kv_connector_module_path": connector, "kv_role": "kv_both"}
    names["kv_load_failure_policy"] = "recompute"
    return [
        *("--kv-transfer-config", json.dumps(names)),
        *("--scheduler-cls", "gateway.kv.scheduler.RetraceScheduler"),
        *("--middleware", "gateway.kv.api.RetraceMiddleware"),
        *("--logits-processors", "gateway.kv.ban:RetraceBan"),
    ]


def environment(source: str, launch: Launch) -> dict[str, str]:
    """What the engine needs beside our own environment: no telemetry, no search for the cache size."""
    offline = {"HF_HUB_OFFLINE": "1"} if Path(source).is_dir() else {}
    plain = {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "PYTHONUNBUFFERED": "1",
    }
    return offline | plain | (_for_the_plugin() if launch.plugin else {})


def _for_the_plugin() -> dict[str, str]:
    return {
        # Threads bound to cores and the plugin's own get into each other's way.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
        "RETRACE_POOL": str(pool()),
        "RETRACE_POOL_GIB": f"{max(0.01, min(1.0, shutil.disk_usage(pool().parent).total / 2**31)):.2f}",
    }
