"""Scopes: every field must match, any of a list, and names may hold wildcards."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.tiers._scope import Scope
from tests.tiers.cases import case

WHO = case("x", tenant="shop-1", tier="vip", domain="legal", surface="chat", model="qwen-7b")


@pytest.mark.parametrize(
    "scope",
    [{}, {"tenant": "shop-*"}, {"tier": ["gold", "vip"]}, {"model": "qwen-?b", "surface": "chat"}, {"domain": "legal"}],
)
def test_what_matches_in_all_fields_is_covered(scope: dict[str, Any]) -> None:
    assert Scope(**scope).covers(WHO)


@pytest.mark.parametrize(
    "scope",
    [{"tenant": "shop"}, {"tier": "VIP"}, {"tier": "vip", "domain": "finance"}, {"model": "qwen-?"}, {"surface": "c"}],
)
def test_what_differs_in_one_field_is_not(scope: dict[str, Any]) -> None:
    assert not Scope(**scope).covers(WHO)


def test_where_no_domain_is_known_none_is_meant() -> None:
    nowhere = case("x")
    assert not Scope(domain=("legal", "finance")).covers(nowhere)
    assert not Scope(domain=("?*",)).covers(nowhere)
    assert Scope().covers(nowhere)


@pytest.mark.parametrize("scope", [{"tier": []}, {"tier": [""]}, {"teir": "vip"}])
def test_a_scope_that_could_never_match_is_refused(scope: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Scope(**scope)
