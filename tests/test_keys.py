"""API keys."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.errors import Unauthorized
from gateway.keys import PREFIX, KeyEntry, Keyring, TiersFile, hashed, new_key
from gateway.types import Principal

KEY = "rtk-a-key"


def entry(key: str = KEY, tenant: str = "acme", tier: str = "gold") -> KeyEntry:
    return KeyEntry(hash=hashed(key), tenant=tenant, tier=tier)


def test_a_key_names_its_tenant_and_tier() -> None:
    ring = Keyring([entry(), entry("other", "zeta", "standard")])
    assert ring.principal(KEY) == Principal("acme", "gold")
    assert ring.principal("other") == Principal("zeta", "standard")


@pytest.mark.parametrize(
    "key", [None, "", "x", KEY + "x", KEY[:-1], KEY.upper(), " " + KEY, "\0", "键", "\udcff", hashed(KEY)]
)
def test_any_other_key_is_nobody_s(key: str | None) -> None:
    with pytest.raises(Unauthorized):
        Keyring([entry()]).principal(key)


@pytest.mark.parametrize("key", [None, "", "x"])
def test_without_any_key_everybody_is_the_default_tenant(key: str | None) -> None:
    ring = Keyring([])
    assert not ring
    assert ring.principal(key) == Principal()


def test_what_is_told_of_a_wrong_key_holds_nothing_of_it() -> None:
    with pytest.raises(Unauthorized) as caught:
        Keyring([entry()]).principal("secret-but-wrong")
    assert "secret" not in caught.value.message


def test_keys_whose_digests_begin_alike_are_told_apart() -> None:
    alike = hashed(KEY)[:-1] + ("0" if hashed(KEY)[-1] != "0" else "1")
    ring = Keyring([KeyEntry(hash=alike, tenant="twin"), entry()])
    assert ring.principal(KEY) == Principal("acme", "gold")


def test_nothing_of_a_key_is_kept() -> None:
    ring = Keyring([entry()])
    assert KEY not in repr(vars(ring))


def test_a_new_key_is_long_random_and_knows_its_kind() -> None:
    first, second = new_key(), new_key()
    assert first != second
    assert first.startswith(PREFIX)
    assert len(first) >= len(PREFIX) + 43


def test_a_key_s_hash_is_sha256() -> None:
    assert hashed("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_key_can_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", KEY)
    ring = Keyring([KeyEntry(env="ACME_KEY", tenant="acme")])
    assert ring.principal(KEY) == Principal("acme", "standard")


def test_an_empty_variable_is_told_when_the_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "")
    with pytest.raises(ValidationError, match="ACME_KEY is empty; export it"):
        KeyEntry(env="ACME_KEY", tenant="acme")


@pytest.mark.parametrize(
    "fields",
    [{}, {"hash": hashed(KEY), "env": "X"}, {"hash": "md5:12"}, {"hash": KEY}, {"hash": hashed(KEY), "tenant": "A b"}],
)
def test_an_entry_that_is_none_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        KeyEntry.model_validate({"tenant": "acme", **fields})


def test_the_same_key_twice_is_refused() -> None:
    with pytest.raises(ValidationError, match="the same key stands twice"):
        TiersFile(keys=(entry(), entry(tenant="other")))
