"""gateway.yaml itself: what may be left out, what is refused, which models it names."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.mainfile import GatewayFile

BACKEND = {"name": "up", "type": "vllm", "urls": ["http://127.0.0.1:9"]}


def test_a_backend_is_all_that_must_be_named() -> None:
    read = GatewayFile.model_validate({"backends": [BACKEND]})
    assert (read.listen.host, read.listen.port, read.watch, read.audit, read.refine) == (
        "127.0.0.1",
        8080,
        None,
        None,
        None,
    )
    with pytest.raises(ValidationError):
        GatewayFile.model_validate({"backends": []})
    with pytest.raises(ValidationError):
        GatewayFile.model_validate({"backends": [BACKEND], "backend": 1})


def test_the_models_it_names_are_those_in_full() -> None:
    read = GatewayFile.model_validate({"backends": [{**BACKEND, "models": ["large", "tiny-*", "m[12]"]}]})
    assert read.models == {"large"}
