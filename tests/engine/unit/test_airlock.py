"""A request of vLLM's in our words: whose captures may serve it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.kv.airlock import subject_of
from gateway.kv.nouns import Owner


def request(retrace: dict[str, Any] | None, salt: str | None = "tenant", lora: Any = None) -> Any:
    """As much of vLLM's Request as is looked at."""
    return SimpleNamespace(
        kv_transfer_params=retrace and {"retrace": retrace},
        lora_request=lora,
        cache_salt=salt,
        all_token_ids=[1, 2, 3],
        sampling_params=SimpleNamespace(prompt_logprobs=None),
        prompt_embeds=None,
        mm_features=[],
        resumable=False,
    )


@pytest.mark.parametrize(
    ("retrace", "salt", "tenant"),
    [
        ({"capture": "c"}, "tenant", "tenant"),
        ({"capture": "c", "owner": None}, "tenant", "tenant"),
        ({"capture": "c", "donor": "d", "owner": "tenant"}, "apart", "tenant"),
        ({"capture": "c"}, None, ""),
    ],
)
def test_a_request_s_captures_are_its_salt_s_unless_it_names_another_owner(
    retrace: dict[str, Any], salt: str | None, tenant: str
) -> None:
    subject = subject_of(request(retrace, salt), "f")
    assert subject is not None
    assert subject.owner == Owner(tenant, "", "f")
    assert subject.supported


def test_an_adapter_s_captures_are_its_own_whoever_asks() -> None:
    lora = SimpleNamespace(lora_name="tone", lora_path="/a")
    subject = subject_of(request({"capture": "c", "owner": "tenant"}, "apart", lora), "f")
    assert subject is not None
    assert subject.owner == Owner("tenant", "tone@/a", "f")


def test_one_that_does_not_speak_to_us_is_nobody_s() -> None:
    assert subject_of(request(None), "f") is None
