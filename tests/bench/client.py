"""Ask a real engine directly, in token ids and with what only the plugin understands: what its benches stand on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

TOP = 20
"""How many of the most probable tokens an engine tells at most (its `--max-logprobs`)."""


class EngineError(Exception):
    """The engine refused; the text is its own."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(f"HTTP {status}: {told[:500]}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one prompt."""

    text: str
    ids: tuple[int, ...]
    """The tokens of the answer."""
    tops: tuple[Mapping[int, float], ...]
    """For each of them the log probabilities of the tokens that stood highest there; empty if not asked for."""
    seconds: float
    """Of wall time; of an answer of one token it is the time to first token."""
    prompt_tokens: int
    finish: str
    retrace: Mapping[str, Any] = field(default_factory=dict)
    """The plugin's report; empty without plugin."""

    @classmethod
    def read(cls, body: Mapping[str, Any], seconds: float) -> Answer:
        """Out of the body of a completion that was asked for with `return_token_ids`."""
        choice = body["choices"][0]
        tops = (choice.get("logprobs") or {}).get("top_logprobs") or ()
        return cls(
            text=choice["text"],
            ids=tuple(choice["token_ids"]),
            tops=tuple({int(name.removeprefix("token_id:")): value for name, value in top.items()} for top in tops),
            seconds=seconds,
            prompt_tokens=body["usage"]["prompt_tokens"],
            finish=choice["finish_reason"],
            retrace=(body.get("kv_transfer_params") or {}).get("retrace") or {},
        )


class Client:
    """One engine. Every call raises EngineError if it refuses, httpx.HTTPError if it can't be reached."""

    def __init__(self, http: httpx.Client, model: str) -> None:
        self._http = http
        self._model = model

    def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        """The tokens of a text; `special`: with what the model wants at the start of a prompt, as BOS."""
        asked = {"model": self._model, "prompt": text, "add_special_tokens": special}
        return [int(token) for token in self._call("POST", "/tokenize", asked)["tokens"]]

    def chat(self, *messages: tuple[str, str]) -> list[int]:
        """The tokens of a prompt of (role, content) messages, by the model's template, up to where it answers."""
        said = [{"role": role, "content": content} for role, content in messages]
        asked = {"model": self._model, "messages": said}
        return [int(token) for token in self._call("POST", "/tokenize", asked)["tokens"]]

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._call("POST", "/detokenize", {"model": self._model, "tokens": list(ids)})["prompt"])

    def ask(
        self,
        prompt: str | Sequence[int],
        *,
        max_tokens: int = 1,
        tops: int = 0,
        retrace: Mapping[str, Any] | None = None,
        salt: str | None = None,
        **more: Any,
    ) -> Answer:
        """A greedy completion. `tops`: how many log probabilities a token, TOP at most; `retrace`: what is asked of the
        plugin (capture, donor, mode, ...); `salt`: prompts share the prefix cache with those of the same salt alone;
        `more`: any other field of the request."""
        asked: dict[str, Any] = {
            "model": self._model,
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "max_tokens": max_tokens,
            "temperature": 0,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
        }
        asked |= {"logprobs": tops} if tops else {}
        asked |= {"kv_transfer_params": {"retrace": dict(retrace)}} if retrace is not None else {}
        asked |= {"cache_salt": salt} if salt is not None else {}
        began = time.perf_counter()
        body = self._call("POST", "/v1/completions", asked | more)
        return Answer.read(body, time.perf_counter() - began)

    def keep(self, capture: str, reason: str = "R203", **more: Any) -> dict[str, Any]:
        """The verdict that keeps a capture; `more`: sensitive_token_spans, sensitive_output, ttl_seconds, priority."""
        return self._call("POST", f"/retrace/v1/captures/{capture}", {"reason": reason, **more})

    def drop(self, capture: str) -> dict[str, Any]:
        """The verdict that drops it."""
        return self._call("DELETE", f"/retrace/v1/captures/{capture}")

    def capture(self, capture: str) -> dict[str, Any]:
        """What the plugin knows of it."""
        return self._call("GET", f"/retrace/v1/captures/{capture}")

    def captures(self, **query: str | int) -> list[dict[str, Any]]:
        """All that it knows, at most `limit` of them, in `state` if one is named."""
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        return list(self._call("GET", f"/retrace/v1/captures?{asked}")["captures"])

    def health(self) -> dict[str, Any]:
        """Version of the plugin, fingerprint of the engine, use of the pool; EngineError 404 without plugin."""
        return self._call("GET", "/retrace/v1/health")

    def metrics(self) -> dict[str, float]:
        """The engine's counters by name and labels, as Prometheus writes them."""
        answer = self._http.get("/metrics").raise_for_status()
        lines = (line for line in answer.text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = self._http.request(method, path, json=body)
        if answer.status_code != 200:
            raise EngineError(answer.status_code, answer.text)
        read: dict[str, Any] = answer.json()
        return read


@contextmanager
def client(url: str, model: str, secret: str = "", seconds: float = 600) -> Iterator[Client]:
    """A client of the engine at `url`; a call may take `seconds`. `secret`: the engine's RETRACE_ENGINE_SECRET."""
    headers = {"x-retrace-secret": secret} if secret else {}
    with httpx.Client(base_url=url, headers=headers, timeout=seconds, trust_env=False) as http:
        yield Client(http, model)
