"""`/v1/completions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.errors import BadRequest
from gateway.surfaces import Asked, Asking, Continuation
from gateway.surfaces._asked import NOT_TEXT, choices_asked, field, wants_usage
from gateway.surfaces._openai import OpenAISurface
from gateway.types import Exchange, Text

_BOOKKEEPING = (
    "index",
    "finish_reason",
    "logprobs",
    "stop_reason",
    "token_ids",
    "prompt_token_ids",
    "prompt_logprobs",
)


class Plug(OpenAISurface):
    """A prompt in, choices with a text out."""

    name = "completions"
    paths = ("/v1/completions",)
    answer = "text"
    skip = NOT_TEXT.union(_BOOKKEEPING)
    spelling = 0

    def admit(self, body: Mapping[str, Any]) -> Asked:
        if body.get("prompt_embeds") is not None:
            raise BadRequest("embeddings can't be judged; send the prompt as text", param="prompt_embeds")
        prompts = _prompts(body.get("prompt"))
        suffix = field(body, "suffix", str, "")
        texts = [Text(path, "user", text) for path, text in prompts]
        return Asked(
            model=field(body, "model", str, ""),
            texts=(*texts, *([Text(("suffix",), "user", suffix)] if suffix else [])),
            stream=field(body, "stream", bool, False),
            choices=choices_asked(body) * len(prompts),
            wants_usage=wants_usage(body),
        )

    def holders(self, choice: dict[str, Any]) -> list[dict[str, Any]]:
        return [choice]

    def free(self, body: Mapping[str, Any]) -> bool:
        return super().free(body) and isinstance(body.get("prompt"), str) and not body.get("suffix")

    def review(self, body: Mapping[str, Any], answer: str, instruction: str) -> Asking:
        prompt = f"{body['prompt']}{answer}\n\n{instruction}\n"
        return Asking(self.paths[0], {"model": body.get("model", ""), "prompt": prompt})

    def resume(self, body: Mapping[str, Any], more: Continuation) -> Asking:
        prompt = body["prompt"]
        own = prompt if isinstance(prompt, str) else prompt[more.choice // choices_asked(body)]
        begun = "" if body.get("echo") and more.kept else own  # then what is kept begins with it
        return Asking(self.paths[0], {**self.continued(body, more), "prompt": begun + more.kept})

    def said(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def canned(self, exchange: Exchange, message: str) -> list[dict[str, Any]]:
        choices = [
            {"index": i, "text": message, "logprobs": None, "finish_reason": "content_filter"}
            for i in range(exchange.choices)
        ]
        if exchange.stream:
            return [self.envelope(exchange, "text_completion", [choice]) for choice in choices]
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return [{**self.envelope(exchange, "text_completion", choices), "usage": usage}]


def _prompts(prompt: Any) -> list[tuple[tuple[str | int, ...], str]]:
    if isinstance(prompt, str):
        return [(("prompt",), prompt)]
    if isinstance(prompt, list) and prompt and all(isinstance(item, str) for item in prompt):
        return [(("prompt", index), item) for index, item in enumerate(prompt)]
    if isinstance(prompt, list) and prompt:
        raise BadRequest("prompts of token ids can't be judged; send the prompt as text", param="prompt")
    raise BadRequest("`prompt` must be a text, or a list of texts", param="prompt")
