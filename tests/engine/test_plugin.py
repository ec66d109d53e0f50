"""The plugin inside a real vLLM, on each of our models: what is kept comes back, to whom it belongs and no one else."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from deploy.setup.engine import Engine
from gateway.kv.ask import merge
from gateway.kv.locate import located
from tests.bench.client import Client, EngineError, client
from tests.engine.talk import SALT, asked, captured, forget, tokens

pytestmark = pytest.mark.engine

LONG = tokens(600, 1)  # four whole blocks and a rest
SHIFTED = [*tokens(300, 2), *LONG[20:580], *tokens(30, 3)]


@pytest.fixture
def talk(patched: Engine) -> Iterator[Client]:
    with client(patched.url, patched.model) as made:
        yield made


@pytest.fixture
def donor(talk: Client, patched: Engine) -> str:
    """A kept capture of LONG; the engine's own cache no longer has it."""
    name = captured(talk, LONG)
    forget(patched)
    return name


def test_the_engine_says_what_it_is_and_can(talk: Client) -> None:
    told = talk.health()
    assert told["engine"]["modes"] == ["prefix", "splice"]
    assert len(told["engine"]["fingerprint"]) == 32


def test_an_injected_prefix_gives_the_answer_of_a_cache_hit(talk: Client, donor: str) -> None:
    ours = asked(talk, LONG, donor, "prefix", max_tokens=24)
    assert ours.retrace["mode"] == "prefix"
    assert ours.retrace["injected_tokens"] == 512
    hit = talk.ask(LONG, max_tokens=24, salt=SALT)
    assert ours.ids == hit.ids


def test_a_longer_prompt_goes_on_where_the_donor_ends(talk: Client, donor: str) -> None:
    prompt = [*LONG[:384], *tokens(100, 9)]  # whole blocks: then a cache hit has the same left to compute
    ours = asked(talk, prompt, donor, "prefix", max_tokens=8)
    assert ours.retrace["injected_tokens"] == 384
    assert ours.ids == talk.ask(prompt, max_tokens=8, salt=SALT).ids


def test_a_moved_span_is_spliced_and_the_rest_computed(talk: Client, donor: str) -> None:
    ours = asked(talk, SHIFTED, donor, "splice")
    assert ours.retrace["mode"] == "splice"
    assert (
        ours.retrace["injected_tokens"] + ours.retrace["recomputed_tokens"] == 492
    )  # of the donor's whole blocks, 512
    assert 0 < ours.retrace["recomputed_tokens"] <= 0.15 * 492


def test_a_splice_leaves_no_trace_in_the_shared_cache(talk: Client, donor: str, patched: Engine) -> None:
    cold = talk.ask(SHIFTED, max_tokens=8, tops=5, salt=secrets.token_hex(8))
    forget(patched)
    asked(talk, SHIFTED, donor, "splice", max_tokens=8)
    hits = "vllm:prefix_cache_hits_total"
    before = total(talk, hits)
    plain = talk.ask(SHIFTED, max_tokens=8, tops=5, salt=SALT)
    assert total(talk, hits) == before
    assert plain.ids == cold.ids
    assert plain.tops == cold.tops


def test_a_spliced_request_is_never_captured(talk: Client, donor: str) -> None:
    name = secrets.token_hex(8)
    told = asked(talk, SHIFTED, donor, "splice", ask={"capture": name}).retrace
    assert told["mode"] == "splice"
    assert told["captured_tokens"] == 0
    assert talk.keep(name)["tokens"] == 0


@pytest.mark.parametrize("mode", ["prefix", "splice"])
def test_a_tenant_gets_nothing_of_another_s(talk: Client, donor: str, mode: str) -> None:
    told = asked(talk, LONG, donor, mode, salt="somebody else").retrace
    assert told["declined"] == "tenant"
    assert told["injected_tokens"] == 0


def test_what_was_not_kept_serves_nobody(talk: Client, patched: Engine) -> None:
    name = captured(talk, tokens(300, 4), keep=False)
    forget(patched)
    assert asked(talk, tokens(300, 4), name, "prefix").retrace["declined"] == "not_kept"
    talk.keep(name)
    forget(patched)
    assert asked(talk, tokens(300, 4), name, "prefix").retrace["mode"] == "prefix"
    talk.drop(name)
    forget(patched)
    assert asked(talk, tokens(300, 4), name, "prefix").retrace["declined"] in ("not_kept", "unknown_donor")


def test_what_is_sensitive_is_not_injected_nor_what_stands_behind_it(talk: Client, patched: Engine) -> None:
    name = captured(talk, tokens(500, 5), sensitive_token_spans=[[300, 310]])
    forget(patched)
    told = asked(talk, tokens(500, 5), name, "prefix").retrace
    assert told["injected_tokens"] == 300


def test_an_unknown_capture_is_404(talk: Client) -> None:
    with pytest.raises(EngineError) as told:
        talk.keep("never-heard-of")
    assert told.value.status == 404


def test_prompt_logprobs_are_answered_and_nothing_is_spliced(talk: Client, donor: str) -> None:
    told = asked(talk, SHIFTED, donor, "splice", prompt_logprobs=1)
    assert told.retrace["declined"] == "unsupported"
    assert told.ids


def test_what_makes_no_sense_is_said_and_answered_all_the_same(talk: Client) -> None:
    told = talk.ask(tokens(200, 6), retrace={"donor": "x", "mode": "sideways"})
    assert told.retrace["declined"] == "bad_ask"
    assert told.ids


def test_a_long_answer_is_captured_as_it_grows(talk: Client) -> None:
    name = secrets.token_hex(8)
    told = talk.ask(tokens(120, 7), max_tokens=20, retrace={"capture": name}, salt=SALT, ignore_eos=True)
    assert told.retrace["captured_tokens"] == 128
    assert talk.keep(name)["tokens"] == 128


def test_the_engine_counts_what_it_does(talk: Client, donor: str) -> None:
    before = total(talk, "retrace_kv_injected_tokens_total")
    asked(talk, LONG, donor, "prefix")
    assert total(talk, "retrace_kv_injected_tokens_total") == before + 512
    assert total(talk, "retrace_kv_captured_tokens_total") > 0
    assert total(talk, "retrace_kv_faults_total") == 0


def total(talk: Client, name: str) -> float:
    return sum(value for metric, value in talk.metrics().items() if metric.partition("{")[0] == name)


def test_a_passage_of_an_answer_is_found_in_its_tokens_and_kept_from_being_said_again(
    talk: Client, patched: Engine
) -> None:
    """The answer ends in a block that is not whole; what was sensitive there is known and banned all the same."""
    name, prompt = secrets.token_hex(8), tokens(240, 8)
    told = talk.ask(prompt, max_tokens=60, retrace={"capture": name}, salt=SALT, ignore_eos=True)
    clean = max(told.text.split("\ufffd"), key=len)
    passage = clean[len(clean) // 2 :][:8]
    spans = located(talk.text, told.ids, [passage])
    assert spans
    kept = talk.keep(name, "R101", sensitive_texts=[passage])
    assert kept["tokens"] == 256
    assert kept["sensitive_tokens"] <= sum(end - start for start, end in spans)
    forget(patched)
    again = asked(talk, prompt, name, "prefix", max_tokens=60, ignore_eos=True, ask={"ban": True})
    assert again.retrace["injected_tokens"] >= 128
    for start, end in merge(spans):
        size = min(3, end - start)  # n-grams of three tokens, or all of a shorter span
        banned = {told.ids[at : at + size] for at in range(start, end - size + 1)}
        assert not banned & {again.ids[at : at + size] for at in range(60)}


def test_a_passage_that_is_nowhere_makes_the_whole_answer_sensitive(talk: Client) -> None:
    name = secrets.token_hex(8)
    told = talk.ask(tokens(120, 9), max_tokens=140, retrace={"capture": name}, salt=SALT, ignore_eos=True)
    assert told.retrace["captured_tokens"] == 256
    assert talk.keep(name, "R101", sensitive_texts=["nobody said this \u2603"])["sensitive_tokens"] == 136
