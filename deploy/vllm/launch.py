"""The command line and environment of the engine that `make up` and the tests run."""

from pathlib import Path

SERVED_NAME = "qwen"
"""The name that requests put into `model`."""


def command(python: str, source: str, port: int) -> list[str]:
    """vLLM's OpenAI-compatible server on the loopback address. `source` is a folder or a model id."""
    return [
        python,
        # Not the `vllm` command: in the CPU build it looks for a distribution of another name.
        *("-m", "vllm.entrypoints.openai.api_server"),
        *("--host", "127.0.0.1"),
        *("--port", str(port)),
        *("--model", source),
        *("--served-model-name", SERVED_NAME),
        *("--max-model-len", "8192"),
        # Compiling takes 30 s longer to start and decodes 10 % faster: it pays only after some 10,000 tokens.
        "--enforce-eager",
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    ]


def environment(source: str) -> dict[str, str]:
    """What the engine needs beside our own environment: no telemetry, no search for the cache size."""
    offline = {"HF_HUB_OFFLINE": "1"} if Path(source).is_dir() else {}
    return offline | {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "PYTHONUNBUFFERED": "1",
    }
