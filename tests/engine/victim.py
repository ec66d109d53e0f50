"""An engine to be killed: real vLLM with the plugin in one process, which captures one prompt after the other.

`python -m tests.engine.victim MODEL`, in the engine's environment. Imports vLLM once; for each line on its standard
input it forks an engine, says `pid` once that engine is capturing, and waits for its death.
"""

from __future__ import annotations

import importlib
import os
import random
import secrets
import sys
from typing import Any


def captures(model: str, told: int) -> None:
    """An engine that captures until it dies; tells its process id when it begins."""
    vllm: Any = importlib.import_module("vllm")
    names = {
        "kv_connector": "RetraceConnector",
        "kv_connector_module_path": "gateway.kv.connector",
        "kv_role": "kv_both",
    }
    engine = vllm.LLM(
        model=model,
        enforce_eager=True,
        max_model_len=4096,
        kv_transfer_config=names,
        scheduler_cls="gateway.kv.scheduler.RetraceScheduler",
        disable_log_stats=True,
    )
    rng = random.Random(os.getpid())
    os.write(told, f"{os.getpid()}\n".encode())
    while True:
        prompt = {"prompt_token_ids": [rng.randrange(40, 250) for _ in range(rng.randrange(300, 3000))]}
        ask = {"retrace": {"capture": secrets.token_hex(8)}}
        params = vllm.SamplingParams(max_tokens=2, extra_args={"kv_transfer_params": ask})
        engine.generate([prompt], params, use_tqdm=False)


def main() -> None:
    importlib.import_module("vllm")
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            captures(sys.argv[1], sys.stdout.fileno())
        os.waitpid(child, 0)
        os.write(sys.stdout.fileno(), b"dead\n")


if __name__ == "__main__":
    main()
