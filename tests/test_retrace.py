"""What becomes of a rejected draft's KV: which verdict, which donor, on what terms, and what is counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway import config, context, reports
from gateway.backends import Outcome, Plan
from gateway.config import Source, build
from gateway.keys import hashed
from gateway.kv import _wire, ask, nouns
from gateway.metrics import Metrics
from gateway.retrace import UNFINISHED, Retrace
from gateway.rules import Inject
from gateway.stores import Kept, Near, Sketch
from gateway.stores.memory import Plug as Memory
from gateway.terms import ACCEPTED, Terms
from gateway.types import Action, Draft, Exchange, Finding, Principal
from tests.answering import in_turn
from tests.plugin import REPORT, asked, engine, in_front, replicas, settled
from tests.rig import (
    CHAT,
    REASONS,
    answers,
    chat_stream,
    completion,
    payloads,
    quiet,
    regex,
    serving,
    streams,
    until,
    write_config,
)

LONG = "a document about settlement days " * 60
SHIPPED = Path(config.__file__).parent.parent / "rules" / "gateway.yaml"


def exchange(tenant: str = "t", model: str = "m", choices: int = 1) -> Exchange:
    return Exchange("rt-1", "chat", model, Principal(tenant), (), choices=choices)


def body(*texts: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}


def policies(**inject: Mapping[str, Any]) -> Terms:
    return Terms(policies={code: Inject.model_validate(given) for code, given in inject.items()})


def fresh(metrics: Metrics | None = None) -> Retrace:
    """One that remembers nothing yet."""
    of = Retrace(metrics or Metrics())
    asyncio.run(of.apply(Memory(most=100)))
    return of


def plan(of: Retrace, asked_for: Mapping[str, Any], terms: Terms, **who: Any) -> Plan:
    return asyncio.run(of.plan(exchange(**who), asked_for, 100, terms))


def captured(of: Retrace, asked_for: Mapping[str, Any], name: str, reason: str, terms: Terms, **who: Any) -> None:
    """An exchange whose capture the engine has kept."""
    plan(of, asked_for, terms, **who).told(Outcome(name, "http://a", "kept", reason, None))


def page(metrics: Metrics) -> dict[str, float]:
    """The figures on captures and what came of them."""
    lines = [line for line in metrics.page().decode().splitlines() if line[0] != "#" and "_created" not in line]
    figures = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
    ours = ("captures", "injected", "recomputed", "declined")
    return {name: value for name, value in figures.items() if name.startswith(tuple(f"retrace_{x}_" for x in ours))}


# The words of the contract are those of the engine's half.


def test_a_policy_s_words_are_those_of_the_engine_s_half() -> None:
    for word in nouns.After:
        assert Inject(after_sensitive=word.value).after_sensitive == word.value
    for mode in nouns.Mode:
        assert Inject(mode=mode.value).mode == mode.value
    least, recompute = nouns.Ask().least, nouns.Recompute()
    assert (Inject().min_tokens, Inject().recompute.model_dump()) == (least, recompute._asdict())


def test_the_engine_s_half_understands_what_is_asked_of_it_and_what_it_is_told() -> None:
    """Whatever the YAML of a reason code may hold, at its edges too."""
    edges = {"first": 65536, "share": 1}, {"first": 0, "share": 0}
    for recompute, priority, ttl in zip(edges, (100, -100), (30 * 86400, 1), strict=True):
        terms = policies(R101={"recompute": recompute, "priority": priority, "ttl_seconds": ttl, "ban": True})
        of, capture = fresh(), Verdicts()
        captured(of, body(LONG), "c", "R101", terms)
        donor = plan(of, body(LONG), terms).donor
        assert donor
        made = ask.parse({"retrace": {"capture": "d", "donor": donor.capture, "mode": donor.mode, **donor.terms}})
        assert made
        assert (made.donor, made.ban, made.recompute) == ("c", True, nouns.Recompute(**recompute))
        of.settle(capture, exchange(), halted("R101"), terms)
        ((_, reason, told),) = capture.heard
        kept = _wire.verdict(orjson.dumps({"reason": reason, **told}))
        assert (kept.reason, kept.output_sensitive, kept.ttl, kept.priority) == ("R101", True, ttl, priority)


# The salt.


def test_each_tenant_has_a_salt_of_its_own_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", "s")
    salts = [plan(fresh(), body(x), Terms(), tenant=t).salt for t in ("a", "b") for x in ("1", "2")]
    assert salts[0] == salts[1] != salts[2] == salts[3]
    # HMAC-SHA256(b"s", b"a"), worked out by another program
    assert salts[0] == "9659450897188d054f9c20310342e042c55697737b2798b59f8f1cef7dda0674"


def test_without_a_secret_no_two_gateways_have_the_same_salts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETRACE_ENGINE_SECRET", raising=False)
    monkeypatch.delenv("RETRACE_SALT", raising=False)
    one, two = (plan(fresh(), body("x"), Terms()).salt for _ in range(2))
    assert one != two
    monkeypatch.setenv("RETRACE_SALT", "shared by the workers of one gateway")
    one, two = (plan(fresh(), body("x"), Terms()).salt for _ in range(2))
    assert one == two


@pytest.mark.parametrize(("terms", "choices"), [(Terms("none"), 1), (Terms(), 2), (Terms("all"), 3)])
def test_where_nothing_is_captured_the_salt_is_sent_all_the_same(terms: Terms, choices: int) -> None:
    made = plan(fresh(), body("x"), terms, choices=choices)
    assert (bool(made.salt), made.captures, made.donor) == (True, False, None)


# The verdict.


@dataclass
class Verdicts:
    """A capture that writes down what it hears."""

    heard: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    report: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def keep(self, reason: str, terms: Mapping[str, Any]) -> None:
        self.heard.append(("keep", reason, terms))

    def drop(self, reason: str) -> None:
        self.heard.append(("drop", reason, {}))


def verdict(draft: Draft, terms: Terms) -> tuple[str, str, Mapping[str, Any]]:
    capture = Verdicts()
    fresh().settle(capture, exchange(), draft, terms)
    (heard,) = capture.heard
    return heard


def halted(reason: str) -> Draft:
    return Draft(finish={0: "content_filter"}, halted={0: Finding("r", reason, Action.BLOCK, 0, 1)})


TERMS = policies(R307={"sensitive": "allow", "ttl_seconds": 60, "priority": 3}, R301={"capture": False})
KEPT = {"sensitive_texts": [], "sensitive_output": True, "ttl_seconds": 3600, "priority": 0}


@pytest.mark.parametrize(
    ("draft", "capture", "heard"),
    [
        (halted("R101"), "rejected", ("keep", "R101", KEPT)),
        (
            halted("R307"),
            "rejected",
            ("keep", "R307", {**KEPT, "sensitive_output": False, "ttl_seconds": 60, "priority": 3}),
        ),
        (halted("R301"), "rejected", ("drop", "R301", {})),
        (halted("R301"), "all", ("drop", "R301", {})),
        (Draft(finish={0: "stop"}), "rejected", ("drop", ACCEPTED, {})),
        (Draft(finish={0: "stop"}), "all", ("keep", ACCEPTED, {**KEPT, "sensitive_output": False})),
        (Draft(), "rejected", ("drop", UNFINISHED, {})),
        (Draft(), "all", ("drop", UNFINISHED, {})),
    ],
)
def test_a_rejected_draft_is_kept_on_its_reason_s_terms(draft: Draft, capture: Any, heard: Any) -> None:
    assert verdict(draft, TERMS._replace(capture=capture)) == heard


def test_what_was_found_in_the_answer_is_masked_and_what_was_in_the_request_is_not() -> None:
    asked_for = Finding("pii", "R102", Action.MASK, 0, 4, text="4111")
    blocked = Finding("word", "R101", Action.BLOCK, 5, 11, text="deadly")
    draft = Draft([asked_for, blocked], asked=1, finish={0: "content_filter"}, halted={0: blocked})
    _, _, told = verdict(draft, policies(R101={"sensitive": "mask"}))
    assert (told["sensitive_texts"], told["sensitive_output"]) == (["deadly"], False)


# The donor.


@pytest.mark.parametrize(
    ("reason", "heard"),
    [
        ("R101", ("keep", "R101", KEPT)),
        ("R307", ("keep", "R307", {**KEPT, "sensitive_output": False, "ttl_seconds": 60, "priority": 3})),
        ("R301", ("drop", "R301", {})),
    ],
)
def test_a_draft_that_is_cut_back_is_kept_on_the_terms_of_what_was_found(
    reason: str, heard: tuple[str, str, Mapping[str, Any]]
) -> None:
    capture = Verdicts()
    fresh().reject(capture, Finding("r", reason, Action.REWIND, 0, 1, text="稳赚"), TERMS)
    assert capture.heard == [heard]


def test_of_a_draft_that_is_cut_back_what_was_found_can_be_masked() -> None:
    capture = Verdicts()
    fresh().reject(
        capture, Finding("r", "R101", Action.REWIND, 0, 1, text="稳赚"), policies(R101={"sensitive": "mask"})
    )
    ((_, _, told),) = capture.heard
    assert (told["sensitive_texts"], told["sensitive_output"]) == (["稳赚"], False)


def test_the_longest_start_that_was_kept_is_the_donor_on_its_reason_s_terms() -> None:
    of = fresh()
    recompute = {"first": 8, "share": 0.1}
    terms = policies(R101={"ban": True, "min_tokens": 10, "recompute": recompute, "after_sensitive": "recompute"})
    captured(of, body(LONG, "one"), "short", "R101", terms)
    captured(of, body(LONG, "two", "three"), "long", "R101", terms)
    captured(of, body(LONG, "two", "four"), "newest", "R101", terms)
    donor = plan(of, body(LONG, "two", "three", "five"), terms).donor
    assert donor
    assert (donor.capture, donor.replica, donor.mode) == ("long", "http://a", "prefix")
    assert donor.terms == {"recompute": recompute, "after_sensitive": "recompute", "min_tokens": 10, "ban": True}


@pytest.mark.parametrize(("who", "found"), [({}, True), ({"tenant": "u"}, False), ({"model": "n"}, False)])
def test_a_donor_serves_its_own_tenant_and_model_alone(who: dict[str, str], found: bool) -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    assert (plan(of, body(LONG), Terms(), **who).donor is not None) is found


@pytest.mark.parametrize("became", ["dropped", "gone", "failed", "lost"])
def test_what_the_engine_did_not_confirm_is_no_donor(became: Any) -> None:
    of = fresh()
    plan(of, body(LONG), Terms()).told(Outcome("c", "http://a", became, "R101", None))
    assert plan(of, body(LONG), Terms()).donor is None


def test_what_is_shorter_than_pays_is_no_donor() -> None:
    of, terms = fresh(), policies(R101={"min_tokens": 100})
    captured(of, body("short"), "c", "R101", terms)
    assert plan(of, body("short"), terms).donor is None
    captured(of, body("long" * 100), "d", "R101", terms)
    assert plan(of, body("long" * 100), terms).donor is not None


def test_the_same_document_behind_other_words_is_a_donor_only_for_a_splice() -> None:
    for mode, found in (("splice", True), ("prefix", False)):
        of, terms = fresh(), policies(R203={"mode": mode})
        captured(of, body("the old instruction", LONG), "c", "R203", terms)
        donor = plan(of, body("the new one", LONG, "a question"), terms).donor
        assert (donor is not None) is found
        assert donor is None or donor.mode == "splice"


def test_where_nothing_has_moved_the_exact_way_is_asked_for() -> None:
    of, terms = fresh(), policies(R203={"mode": "splice"})
    captured(of, body(LONG, "one"), "c", "R203", terms)
    donor = plan(of, body(LONG, "two"), terms).donor
    assert donor
    assert donor.mode == "prefix"


@pytest.mark.parametrize("tokens", [0, None, 512])
def test_a_capture_that_holds_nothing_is_no_donor(tokens: int | None) -> None:
    metrics = Metrics()
    of = fresh(metrics)
    report = None if tokens is None else {**REPORT, "captured_tokens": tokens}
    plan(of, body(LONG), Terms()).told(Outcome("c", "http://a", "kept", "R101", report))
    assert (plan(of, body(LONG), Terms()).donor is None) is (tokens == 0)
    word = "empty" if tokens == 0 else "kept"
    assert page(metrics)[f'retrace_captures_total{{reason="R101",verdict="{word}"}}'] == 1


@pytest.mark.parametrize(("its", "found"), [("a", True), ("b", False), ("", False)])
def test_a_capture_of_a_session_serves_that_session_alone(its: str, found: bool) -> None:
    of, terms = fresh(), policies(R101={"scope": "session"})
    mine = exchange()._replace(session="a")
    asyncio.run(of.plan(mine, body(LONG), 100, terms)).told(Outcome("c", "http://a", "kept", "R101", None))
    donor = asyncio.run(of.plan(exchange()._replace(session=its), body(LONG), 100, terms)).donor
    assert (donor is not None) is found


def test_what_covers_more_of_a_request_is_the_better_donor() -> None:
    of, terms = fresh(), policies(R203={"mode": "splice"}, R101={"min_tokens": 1})
    captured(of, body("the old instruction", LONG), "document", "R203", terms)
    captured(of, body("the new one", "else"), "start", "R101", terms)
    assert plan(of, body("the new one", LONG), terms).donor == plan(of, body("x", LONG), terms).donor
    captured(of, body("the new one", LONG), "both", "R101", terms)
    donor = plan(of, body("the new one", LONG), terms).donor
    assert donor
    assert (donor.capture, donor.mode) == ("both", "prefix")


def test_a_policy_that_changed_holds_for_what_was_kept_before() -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    assert plan(of, body(LONG), policies(R101={"mode": "none"})).donor is None
    other = plan(of, body("moved", LONG), policies(R101={"mode": "splice"})).donor
    assert other
    assert other.mode == "splice"


def test_a_capture_is_remembered_for_as_long_as_its_reason_says() -> None:
    of, terms = fresh(), policies(R101={"ttl_seconds": 60})
    captured(of, body(LONG), "c", "R101", terms)
    assert of.store
    owner = context.whose(plan(of, body(LONG), terms).salt, "m")
    (kept,) = asyncio.run(_found(of, context.sketch(owner, body(LONG))))
    assert 50 < kept.until - time.time() <= 60
    assert (kept.replica, kept.reason, kept.session) == ("http://a", "R101", "")


async def _found(of: Retrace, sketch: Sketch) -> list[Kept]:
    assert of.store
    return list(await of.store.find(sketch, Near()))


@pytest.mark.parametrize("declined", sorted(reports.DECLINED))
def test_a_donor_that_is_gone_is_not_named_again(declined: str) -> None:
    of = fresh()
    captured(of, body(LONG), "c", "R101", Terms())
    made = plan(of, body(LONG), Terms())
    made.told(Outcome("d", "http://a", "dropped", ACCEPTED, {"declined": declined}))
    gone = ("unknown_donor", "not_kept", "tenant", "adapter", "fingerprint")
    assert (plan(of, body(LONG), Terms()).donor is None) is (declined in gone)


# The figures.


def test_only_what_the_engine_confirms_is_counted() -> None:
    metrics = Metrics()
    of = fresh(metrics)
    made = plan(of, body(LONG), Terms())
    made.told(Outcome("c", "http://a", "kept", "R101", None))
    assert page(metrics) == {'retrace_captures_total{reason="R101",verdict="kept"}': 1}
    used = {**REPORT, "injected_tokens": 900, "recomputed_tokens": 64, "mode": "splice"}
    made.told(Outcome("d", "http://a", "dropped", ACCEPTED, used))
    made.told(Outcome("e", "http://a", "gone", ACCEPTED, {**REPORT, "declined": "cached"}))
    assert page(metrics) == {
        'retrace_captures_total{reason="R101",verdict="kept"}': 1,
        'retrace_captures_total{reason="accepted",verdict="dropped"}': 1,
        'retrace_captures_total{reason="accepted",verdict="gone"}': 1,
        'retrace_injected_tokens_total{mode="splice"}': 900,
        'retrace_recomputed_tokens_total{mode="splice"}': 64,
        'retrace_declined_total{reason="cached"}': 1,
    }


@pytest.mark.parametrize(
    "report",
    [
        {"injected_tokens": 5, "mode": "odd" * 99, "declined": "because" * 99},
        {"injected_tokens": 5, "mode": ["prefix"], "declined": "x", "recomputed_tokens": "many"},
        {"injected_tokens": 5, "declined": "y", "recomputed_tokens": -7},
    ],
)
def test_no_word_of_an_engine_becomes_a_label(report: dict[str, Any]) -> None:
    metrics = Metrics()
    plan(fresh(metrics), body(LONG), Terms()).told(Outcome("c", "http://a", "dropped", ACCEPTED, report))
    told = page(metrics)
    assert told['retrace_injected_tokens_total{mode="other"}'] == 5
    assert told['retrace_recomputed_tokens_total{mode="other"}'] == 0
    assert told['retrace_declined_total{reason="other"}'] == 1
    assert len(told) == 4


@pytest.mark.parametrize(
    "report", [{}, {"injected_tokens": -5}, {"injected_tokens": "5"}, {"injected_tokens": None, "declined": ["a"]}]
)
def test_a_report_that_makes_no_sense_counts_nothing(report: dict[str, Any]) -> None:
    metrics = Metrics()
    plan(fresh(metrics), body(LONG), Terms()).told(Outcome("c", "http://a", "dropped", ACCEPTED, report))
    assert page(metrics) == {'retrace_captures_total{reason="accepted",verdict="dropped"}': 1}


# The whole road.


def reported(**report: Any) -> bytes:
    """An answer in one piece that holds the engine's report."""
    answer = orjson.loads(completion("hi"))
    return orjson.dumps({**answer, "kv_transfer_params": {"retrace": {**REPORT, **report}}})


BLOCK = [regex("deadly", when={"role": "assistant"})]


async def test_what_was_rejected_is_offered_to_the_next_request_like_it(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a deadly ", "word"))) as (url, up, plugin),
        in_front(tmp_path, [url], BLOCK) as running,
    ):
        await (await running.chat(LONG, stream=True)).read()
        ((method, told),) = await settled(up, plugin)
        assert (method, told["reason"]) == ("POST", "R101")
        await quiet(running)
        up.script = answers(reported(injected_tokens=300, mode="prefix"))
        got = await running.ask("/v1/chat/completions", body(LONG))
        assert b"kv_transfer_params" not in got
        assert asked(up.calls[1])["donor"] == asked(up.calls[0])["capture"]
        assert asked(up.calls[1])["mode"] == "prefix"
        assert asked(up.calls[1])["recompute"] == {"first": 128, "share": 0.15}
        await settled(up, plugin, 2)
        figures = await running.metrics()
        assert figures['retrace_injected_tokens_total{mode="prefix"}'] == 300  # counted once
        assert figures['retrace_captures_total{reason="R101",verdict="kept"}'] == 1
        assert figures['retrace_captures_total{reason="accepted",verdict="dropped"}'] == 1


REWIND = [regex("deadly", action="rewind")]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_draft_that_was_cut_back_is_kept_and_what_went_on_from_it_is_an_answer_like_any(
    tmp_path: Path, stream: bool
) -> None:
    script = in_turn(streams(chat_stream("a deadly ", "word")), streams(chat_stream(" fine ", "word")))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": stream})
        assert b"deadly" not in got
        (first, told), (second, _) = await settled(up, plugin, 2)
        assert (first, told["reason"], second) == ("POST", "R101", "DELETE")
        assert up.calls[1].json["continue_final_message"] is True
        await quiet(running)
        up.script = answers(completion("hi"))
        await running.ask("/v1/chat/completions", body(LONG))
        assert asked(up.calls[2])["donor"] == asked(up.calls[0])["capture"]
        figures = await running.metrics()
    assert figures['retrace_captures_total{reason="R101",verdict="kept"}'] == 1
    assert figures['retrace_captures_total{reason="accepted",verdict="dropped"}'] >= 1


async def test_each_draft_that_is_cut_back_is_kept_and_the_last_one_that_blocks_too(tmp_path: Path) -> None:
    script = streams(chat_stream("a deadly ", "word"))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        heard = await settled(up, plugin, 3)
    assert [(method, told["reason"]) for method, told in heard] == [("POST", "R101")] * 3


async def test_a_draft_whose_way_on_fails_is_kept_all_the_same(tmp_path: Path) -> None:
    script = in_turn(streams(chat_stream("a deadly ", "word")), answers(b'{"error": {"message": "no"}}', 500))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        assert b'"error"' in got
        heard = await settled(up, plugin, 2)
    assert [method for method, _ in heard][:1] == ["POST"]


async def test_a_stream_s_reuse_is_counted_from_the_verdict_s_answer(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a fine word"))) as (url, up, plugin),
        in_front(tmp_path, [url], BLOCK) as running,
    ):
        plugin.report = {**REPORT, "injected_tokens": 40, "mode": "prefix"}
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        assert payloads(got)[-1] == "[DONE]"
        await settled(up, plugin)
        assert (await running.metrics())['retrace_injected_tokens_total{mode="prefix"}'] == 40


async def test_the_replica_that_holds_the_donor_is_asked_and_no_other_hears_of_it(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a deadly ", "word"))) as (one, up_one, plugin_one),
        engine(streams(chat_stream("a deadly ", "word"))) as (two, up_two, plugin_two),
        in_front(tmp_path, [one, two], BLOCK) as running,
    ):
        await (await running.chat(LONG, stream=True)).read()
        await until(lambda: plugin_one.heard or plugin_two.heard)
        await quiet(running)
        holder, other = (up_one, up_two) if up_one.calls else (up_two, up_one)
        for up in (holder, other):
            up.script = answers(completion("fine"))
        for number in range(1, 5):
            await running.ask("/v1/chat/completions", body(LONG))
            assert (len(holder.calls), other.calls) == (1 + number, [])
            assert asked(holder.calls[-1])["donor"] == asked(holder.calls[0])["capture"]
        holding = next(replica for replica in replicas(running) if replica.url == (one if holder is up_one else two))
        holding.healthy = False
        await running.ask("/v1/chat/completions", body(LONG))
        assert asked(other.calls[0])["donor"] is None
        assert asked(other.calls[0])["mode"] == "none"


async def test_tenants_share_neither_salt_nor_donor(tmp_path: Path) -> None:
    tenants = {"keys": [{"hash": hashed(name), "tenant": name} for name in ("one", "two")]}
    async with engine(streams(chat_stream("a deadly ", "word"))) as (url, up, plugin):
        path = write_config(tmp_path, [url], BLOCK, tiers="tiers.yaml")
        (tmp_path / "tiers.yaml").write_text(yaml.safe_dump(tenants))
        async with serving(path) as running:
            await until(lambda: running.server._fleet.patched()["up"])
            for name in ("one", "two", "one"):
                headers = {"authorization": f"Bearer {name}"}
                await (await running.chat(LONG, headers, stream=True)).read()
                await quiet(running)
                await until(lambda: len(plugin.heard) == len(up.calls))
                await asyncio.sleep(0.05)
    salts = [seen.json["cache_salt"] for seen in up.calls]
    assert salts[0] == salts[2] != salts[1]
    assert [asked(seen)["donor"] for seen in up.calls] == [None, None, asked(up.calls[0])["capture"]]


@pytest.mark.parametrize(("capture", "methods"), [("rejected", ["DELETE"]), ("all", ["POST"]), ("none", [])])
async def test_what_is_captured_is_the_configuration_s_to_say(tmp_path: Path, capture: str, methods: list[str]) -> None:
    async with (
        engine(answers(completion("fine"))) as (url, up, plugin),
        in_front(tmp_path, [url], retrace={"capture": capture}) as running,
    ):
        await running.ask("/v1/chat/completions", CHAT)
        assert [method for method, _ in await settled(up, plugin, len(methods))] == methods
        assert up.calls[-1].json["cache_salt"]
        await running.ask("/v1/chat/completions", {**CHAT, "n": 2})
        assert "kv_transfer_params" not in up.calls[-1].json
        assert up.calls[-1].json["cache_salt"]


def test_the_shipped_policies_are_those_of_the_reasons() -> None:
    terms = build(Source(SHIPPED)).terms
    assert terms.capture == "rejected"
    told = {code: policy for code, policy in terms.policies.items() if policy != Inject()}
    assert told == {
        "R101": Inject(mode="prefix", sensitive="mask", after_sensitive="stop", ban=True),
        "R203": Inject(mode="splice", sensitive="cut", after_sensitive="stop"),
        "R307": Inject(mode="prefix", sensitive="allow", cut=("R308",), ban=False),
        ACCEPTED: Inject(sensitive="allow"),
        **dict.fromkeys(("R301", "R304", "R305", "R900"), Inject(capture=False)),
    }
    assert REASONS.keys() <= terms.policies.keys()
