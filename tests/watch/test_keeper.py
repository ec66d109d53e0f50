"""Versions and trials of policies in a living gateway: noted, switched off, tried, ended, and kept over restarts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import yaml

from gateway.config import House, Source, build
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.terms import ACCEPTED
from gateway.types import Exchange, Principal, Reuse
from gateway.watch import register
from gateway.watch.keeper import Keeper
from gateway.watch.pairs import Pair
from gateway.watch.versions import PolicyFile
from tests.cli.inside import said
from tests.plugin import Plugin, asked, engine, in_front
from tests.rig import (
    REASONS,
    RawUpstream,
    Running,
    answers,
    chat_stream,
    completion,
    regex,
    serving,
    streams,
    until,
    write_config,
)
from tests.watch import twice
from tests.watch.twice import twin

LONG = "a document about settlement days " * 60
URL = ["http://127.0.0.1:9"]
OFF: dict[str, Any] = {"mode": "none", "capture": True, "sensitive": "allow"}
ON: dict[str, Any] = {"mode": "prefix", "sensitive": "allow"}
QUICK = {
    "trials": {"least_pairs": 10, "least_visits": 20, "looks": 1, "margins": {"unlike": 0.9, "late": 0.9, "left": 0.9}}
}


def edited(folder: Path, name: str, **fields: Any) -> None:
    """A YAML file with other fields."""
    path = folder / name
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **fields}, allow_unicode=True))


async def readyz(running: Running) -> dict[str, Any]:
    async with running.http.get(f"{running.url}/readyz") as response:
        told: dict[str, Any] = (await response.json())["policies"]
        return told


# Through a real gateway, in front of an engine with the plugin.


@asynccontextmanager
async def retracing(folder: Path, policy: Mapping[str, Any]) -> AsyncIterator[tuple[Running, RawUpstream, Plugin]]:
    """One that captures all, with trials."""
    (folder / "watch.yaml").write_text("{shadow: {rate: 0}}\n")
    retrace = {"capture": "all", "accepted": policy}
    async with (
        engine(answers(completion("fine"))) as (url, up, plugin),
        in_front(folder, [url], [], retrace=retrace, watch="watch.yaml") as running,
    ):
        yield running, up, plugin


async def donors(running: Running, up: RawUpstream, sessions: int) -> set[int]:
    """Which of so many sessions are offered a donor."""
    offered = set()
    for number in range(sessions):
        await running.chat(LONG, {"x-retrace-session": f"s{number}"})
        if asked(up.calls[-1]).get("donor"):
            offered.add(number)
    return offered


async def test_a_changed_policy_goes_to_a_tenth_of_the_sessions_and_always_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    async with retracing(tmp_path, OFF) as (running, up, _):
        assert not path.exists()
        await running.chat(LONG)
        await until(path.exists, 15)
        edited(tmp_path, "gateway.yaml", retrace={"capture": "all", "accepted": ON})
        await until(lambda: running.server.steward.house.standing.trials, 15)
        terms = running.server.steward.house.terms

        def arm(number: int) -> str:
            return terms.arm(ACCEPTED, Exchange("rt", "chat", "m", Principal(), (), session=f"s{number}"))

        new = {number for number in range(80) if arm(number) == "new"}
        assert 2 <= len(new) <= 20
        await running.chat(LONG, {"x-retrace-session": f"s{min(new)}"})  # whose capture may be found
        assert await donors(running, up, 80) == new
        assert await donors(running, up, 20) == {number for number in new if number < 20}
        await running.chat(LONG)
        assert not asked(up.calls[-1]).get("donor")  # without a session nobody is in a trial
        told = await readyz(running)
        assert told["trials"][ACCEPTED]["share"] == 0.1
        assert (await running.metrics())['retrace_trials_total{event="begun"}'] == 1
        await until(lambda: "trial:" in path.read_text(), 15)
        assert said("policy", "trial", ACCEPTED, "--accept", "-c", str(tmp_path / "gateway.yaml")).exit_code == 0
        await until(lambda: not running.server.steward.house.standing.trials, 15)
        assert await donors(running, up, 5) == set(range(5))


async def test_what_repeats_show_is_evidence_of_the_arm_whose_exchange_it_was(tmp_path: Path) -> None:
    """Also where hardly anything is repeated otherwise: all of the new arm is."""
    shadow = {"rate": 0.0001, "tokens_per_hour": 1_000_000, "idle_below": 1}
    async with twin(tmp_path, {"shadow": shadow, "every_seconds": 3600}) as (running, engine_, _):
        await running.chat(twice.LONG)
        await until((tmp_path / "policies.yaml").exists, 15)
        splice = {"mode": "splice", "sensitive": "allow"}
        edited(tmp_path, "gateway.yaml", retrace={"capture": "all", "accepted": splice})
        await until(lambda: running.server.steward.house.standing.trials, 15)
        standing, terms = running.server.steward.house.standing, running.server.steward.house.terms
        asks = [Exchange("rt", "chat", "m", Principal(), (), session=f"s{number}") for number in range(200)]
        session = next(ask.session for ask in asks if terms.arm(ACCEPTED, ask) == "new")
        await running.chat(twice.LONG, {"x-retrace-session": session})
        seen = running.server.keeper._umpire._evidence.of(standing.trials[ACCEPTED].key)
        assert seen is not None
        await until(lambda: seen.new.unlike, 15)
        assert (len(seen.new.late), seen.new.unlike, seen.now.unlike) == (1, [0.0], [])
        assert len(engine_.heard) >= 2


async def test_the_audit_log_says_which_policies_an_exchange_has_tried(tmp_path: Path) -> None:
    files(tmp_path, "prefix", audit={"folder": "audit"})
    house = build(Source(tmp_path / "gateway.yaml"))
    register.change(tmp_path / "policies.yaml", lambda _known: (house.standing.state, None))
    async with engine(answers(completion("fine"))) as (url, _, _):
        files(tmp_path, "splice", audit={"folder": "audit"}, backend={"urls": [url]})
        async with serving(tmp_path / "gateway.yaml") as running:
            terms = running.server.steward.house.terms
            for number in range(30):
                await running.chat("hi", {"x-retrace-session": f"s{number}"})
    lines = [
        orjson.loads(line) for path in (tmp_path / "audit").glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    told = [line.get("tried") for line in lines if line["kind"] == "exchange"]
    sessions = (Exchange("rt", "chat", "m", Principal(), (), session=f"s{number}") for number in range(30))
    assert told == [list(terms.tried(one)) or None for one in sessions]
    assert ["R101"] in told
    (trials,) = [line["trials"] for line in lines if line["kind"] == "house"]
    assert (trials["R101"]["mode"], trials["R101"]["share"]) == ("splice", 0.1)
    assert [line["what"] for line in lines if line["kind"] == "policy"] == ["begun"]


async def test_a_code_whose_rules_changed_is_off_until_a_person_says_so(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a bomb "))) as (url, _, plugin),
        in_front(tmp_path, [url], [regex("bomb")]) as running,
    ):

        async def verdict() -> str:
            before = len(plugin.heard)
            await (await running.chat(LONG, stream=True)).read()
            await until(lambda: len(plugin.heard) > before, 15)
            return plugin.heard[-1].method

        assert await verdict() == "POST"
        await until((tmp_path / "policies.yaml").exists, 15)
        edited(tmp_path, "rules.yaml", rules=[regex("bomb|rocket")])
        await until(lambda: running.server.steward.house.standing.unconfirmed, 15)
        assert await verdict() == "DELETE"
        told = await readyz(running)
        assert told["unconfirmed"] == {"R101": ["output.regex: looks for something else"]}
        figures = await running.metrics()
        assert figures['retrace_policy_unconfirmed{reason="R101"}'] == 1
        assert figures['retrace_policy_unconfirmed{reason="R102"}'] == 0
        assert said("policy", "confirm", "R101", "-c", str(tmp_path / "gateway.yaml")).exit_code == 0
        await until(lambda: not running.server.steward.house.standing.unconfirmed, 15)
        assert await verdict() == "POST"
        assert (await running.metrics())['retrace_policy_unconfirmed{reason="R101"}'] == 0


async def test_a_restart_knows_what_was_confirmed(tmp_path: Path) -> None:
    async with engine(streams(chat_stream("a bomb "))) as (url, _, plugin):
        async with in_front(tmp_path, [url], [regex("bomb")]) as running:
            await (await running.chat(LONG, stream=True)).read()
            await until((tmp_path / "policies.yaml").exists, 15)
        write_config(tmp_path, [url], [regex("rocket")])
        async with serving(tmp_path / "gateway.yaml") as running:
            assert set((await readyz(running))["unconfirmed"]) == {"R101"}
            write_config(tmp_path, [url], [regex("bomb")])
            await until(lambda: not running.server.steward.house.standing.unconfirmed, 15)
        assert plugin.heard


async def test_a_broken_state_file_keeps_reuse_off_and_is_left_alone_until_it_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    path.write_text("codes: {R101: {why: guess}}\n")
    async with (
        engine(streams(chat_stream("a bomb "))) as (url, _, plugin),
        in_front(tmp_path, [url], [regex("bomb")]) as running,
    ):
        assert (await (await running.chat(LONG, stream=True)).read()).startswith(b"data: ")
        await until(lambda: plugin.heard, 15)
        assert {heard.method for heard in plugin.heard} == {"DELETE"}
        assert "policies.yaml:1" in (await readyz(running))["fault"]
        assert (await running.metrics())['retrace_policy_faults_total{kind="unreadable"}'] == 1
        assert path.read_text() == "codes: {R101: {why: guess}}\n"
        path.write_text("codes: {}\n")
        await until(lambda: not running.server.steward.house.standing.fault, 15)
        await (await running.chat(LONG, stream=True)).read()
        await until(lambda: plugin.heard[-1].method == "POST", 15)
        path.write_text("codes: [\n")
        await until(lambda: "last_error" in running.server.steward.status(), 15)
        assert running.server.steward.house.terms.policy("R101").mode == "prefix"  # what was known stays


async def test_where_nobody_may_write_a_changed_rule_switches_its_code_off_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "policies.yaml.lock").mkdir()
    async with (
        engine(streams(chat_stream("a bomb "))) as (url, _, _),
        in_front(tmp_path, [url], [regex("bomb")]) as running,
    ):
        await (await running.chat(LONG, stream=True)).read()
        fault = 'retrace_policy_faults_total{kind="unwritable"}'
        await until(lambda: running.server.keeper._failed, 15)
        assert (await running.metrics())[fault] >= 1
        edited(tmp_path, "rules.yaml", rules=[regex("rocket")])
        await until(lambda: set(running.server.steward.house.standing.unconfirmed) == {"R101"}, 15)
        edited(tmp_path, "rules.yaml", rules=[regex("bomb")])
        await until(lambda: not running.server.steward.house.standing.unconfirmed, 15)


# A keeper by itself, in fast time.


class Home:
    """A folder of files, and a keeper that follows it as a process would."""

    def __init__(self, folder: Path) -> None:
        self.source = Source(folder / "gateway.yaml")
        self.metrics, self.notes = Metrics(), list[tuple[str, Mapping[str, Any]]]()
        self.keeper = Keeper(self.metrics, self.change, lambda kind, told: self.notes.append((kind, told)), every=0.01)
        self.house: House = build(self.source)

    async def change(self, state: PolicyFile) -> None:
        await self.follow(state)

    async def follow(self, state: PolicyFile | None = None) -> None:
        """Read the files again."""
        self.house = build(self.source, known=state or self.house.standing.state)
        await self.keeper.apply(self.house)

    def figures(self) -> dict[str, float]:
        lines = [line for line in self.metrics.page().decode().splitlines() if line.startswith("retrace_trials_total")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    async def see(self, *, ratio: float = 0.8, leaves: bool = False) -> None:
        """What is enough of both arms; of the new one it may be bad."""
        for arm in ("new", "now"):
            for number in range(12):
                times = ((ratio if arm == "new" else 0.8) + number / 1000, 1.0)
                self.keeper.pair(Pair(1.0, "R101", arm, "splice", times, times, True, 0.9))
        counts = {"new": 0, "now": 0}
        for number in range(2000):
            exchange = Exchange("rt", "chat", "m", Principal(), (), session=f"s{number}")
            arm = self.house.terms.arm("R101", exchange)
            if counts[arm] == 40:
                continue
            counts[arm] += 1
            trip = Trip(0.0, exchange=exchange, status=499 if leaves and arm == "new" else 200, at=time.time() - 7200)
            self.keeper.over(trip)
        assert counts == {"new": 40, "now": 40}


def files(folder: Path, mode: str, **fields: Any) -> None:
    write_config(folder, URL, [regex("a")], watch="watch.yaml", **fields)
    (folder / "watch.yaml").write_text(yaml.safe_dump(QUICK))
    reasons = {**REASONS, "R101": {**REASONS["R101"], "inject": {"mode": mode}}}
    (folder / "reasons.yaml").write_text(yaml.safe_dump({"reasons": reasons}, allow_unicode=True))


async def trying(folder: Path) -> Home:
    """A home where `splice` is tried instead of `prefix`."""
    files(folder, "prefix")
    home = Home(folder)
    await home.follow()
    home.keeper.reuse(Reuse("rt", "c", "r", "kept", "R101"))
    await until((folder / "policies.yaml").exists, 15)
    files(folder, "splice")
    await home.follow()
    assert set(home.house.standing.trials) == {"R101"}
    return home


async def test_a_policy_that_shows_itself_no_worse_goes_to_all(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    await home.see()
    await until(lambda: not home.house.standing.trials, 15)
    assert home.house.standing.policies["R101"].mode == "splice"
    assert home.figures() == {
        'retrace_trials_total{event="begun"}': 1,
        'retrace_trials_total{event="accepted"}': 1,
    }
    told = [(told["code"], told["what"]) for _, told in home.notes]
    assert told == [("R101", "begun"), ("R101", "accepted")]
    assert "LD" in home.notes[-1][1]["why"]
    await home.keeper.stop()
    again = Home(tmp_path)  # a restart, from the file
    assert (again.house.standing.policies["R101"].mode, again.house.standing.trials) == ("splice", {})


async def test_a_policy_that_drives_clients_away_is_turned_back(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    await home.see(leaves=True)
    await until(lambda: not home.house.standing.trials, 15)
    assert home.house.standing.policies["R101"].mode == "prefix"
    assert home.house.standing.turned_back == {"R101"}
    assert "drop-off 100.00%" in home.notes[-1][1]["why"]
    await home.follow()
    assert home.house.standing.trials == {}
    await home.keeper.stop()


async def test_what_was_seen_outlives_the_process_and_one_leads_at_a_time(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    key = home.house.standing.trials["R101"].key
    home.keeper.pair(Pair(1.0, "R101", "new", "splice", (0.5, 1.0), (1.0, 2.0), True, 0.9))
    await until((tmp_path / "policies.yaml.lead").exists, 15)
    other = Home(tmp_path)
    await other.follow()
    await other.see(leaves=True)
    await asyncio.sleep(0.1)
    assert other.house.standing.trials  # it sees, and waits for its turn
    await home.keeper.stop()
    assert (tmp_path / "policies.yaml.evidence").exists()
    await until(lambda: other.keeper._umpire._lead is not None, 15)

    def goes_on() -> bool:
        seen = other.keeper._umpire._evidence.of(key)
        return seen is not None and len(seen.new.late) == 1  # what the first has left

    await until(goes_on, 15)
    await other.keeper.stop()


async def test_a_trial_is_judged_where_nothing_can_be_written_too(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    (tmp_path / "policies.yaml.lock").unlink()
    (tmp_path / "policies.yaml.lock").mkdir()
    await home.see()
    await until(lambda: not home.house.standing.trials, 15)
    assert home.house.standing.policies["R101"].mode == "splice"
    assert home.keeper._due
    (tmp_path / "policies.yaml.lock").rmdir()
    await until(lambda: "trial:" not in (tmp_path / "policies.yaml").read_text(), 15)
    found = register.read(tmp_path / "policies.yaml")
    assert found is not None
    assert found.codes["R101"].policy.mode == "splice"
    await home.keeper.stop()


async def test_what_a_person_ends_is_told_by_who_leads(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    await until(lambda: home.keeper._umpire._lead is not None, 15)
    assert said("policy", "trial", "R101", "--back", "-c", str(tmp_path / "gateway.yaml")).exit_code == 0
    await home.follow()
    assert home.notes[-1][1] == {"code": "R101", "what": "turned_back", "why": "by hand"}
    assert home.house.standing.turned_back == {"R101"}
    await home.keeper.stop()


async def test_both_arms_are_repeated_about_as_often(tmp_path: Path) -> None:
    home = await trying(tmp_path)
    assert home.keeper.going
    assert home.keeper.share("R101", "new") == 1
    assert 0.1 < home.keeper.share("R101", "now") < 0.12
    assert home.keeper.share("R203", "new") == 0
    await home.keeper.stop()


async def test_the_file_may_stand_elsewhere_and_is_followed_there(tmp_path: Path) -> None:
    rules, state = tmp_path / "rules", tmp_path / "state"
    rules.mkdir()
    state.mkdir()
    files(rules, "prefix", retrace={"policies": "../state/policies.yaml"})
    home = Home(rules)
    await home.follow()
    home.keeper.reuse(Reuse("rt", "c", "r", "kept", "R101"))
    await until((state / "policies.yaml").exists, 15)
    await until(lambda: (state / "policies.yaml").resolve() in home.house.watched, 15)
    await home.keeper.stop()
