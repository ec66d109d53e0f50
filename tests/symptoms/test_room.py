"""The room: each symptom is found by being there, has its place, and says grey where nothing is known."""

from __future__ import annotations

import random

from gateway.plug import plugs
from gateway.symptoms import Facts, Finding, Light, Said, Sign, examined, worst
from tests.anything import table
from tests.symptoms.facts import CHINESE, facts, look, plugin, replica, reply

NAMES = ["configuration", "gateway", "backend", "plugin", "pool", "reuse", "growth", "hedging", "drift", "complaints"]
NAMES += ["redis", "disk", "clock", "alerts"]


def test_each_file_is_a_symptom_with_a_place_of_its_own_and_a_name_in_both_languages() -> None:
    kinds = plugs("symptoms")
    assert sorted(kinds, key=lambda word: kinds[word].order) == NAMES
    assert len({kind.order for kind in kinds.values()}) == len(kinds)
    assert all(CHINESE.search(kind.title.zh) or kind.title.zh == "Redis" for kind in kinds.values())


def test_where_nothing_is_known_nothing_is_green_but_the_configuration() -> None:
    findings = examined(facts())
    assert [one.symptom for one in findings] == NAMES
    assert {one.symptom: one.sign.light for one in findings if one.sign.light is not Light.GREY} == {
        "configuration": Light.GREEN
    }
    assert worst(findings) is Light.GREEN


def test_a_house_in_which_all_is_well_is_green() -> None:
    told: Facts = facts(
        gateway=reply(told={"ready": True, "revision": "abc", "controller": {}, "policies": {}}),
        address="http://127.0.0.1:8080",
        replicas=[replica(looks=[look()], plugin=plugin())],
        prometheus=reply(),
    )
    known = [one for one in examined(told) if one.sign.light is not Light.GREY]
    assert {one.sign.light for one in known} == {Light.GREEN}
    assert len(known) == 9


def test_the_worst_light_is_the_house_s() -> None:
    def finding(light: Light) -> Finding:
        return Finding("x", Said("", ""), Sign(light, "", Said("", "")))

    assert worst([]) is Light.GREEN
    assert worst([finding(Light.GREY), finding(Light.GREEN)]) is Light.GREEN
    assert worst([finding(Light.YELLOW), finding(Light.GREEN)]) is Light.YELLOW
    assert worst([finding(Light.YELLOW), finding(Light.RED)]) is Light.RED


_WORDS: tuple[str, ...] = (
    "plugin",
    "engine",
    "pool",
    "size",
    "bytes",
    "entries",
    "pending",
    "fingerprint",
    "modes",
    "ready",
    "backends",
)
_WORDS += ("last_error", "revision", "store", "refine", "controller", "policies", "off", "unconfirmed", "fault")


def test_whatever_others_say_something_is_seen() -> None:
    chance = random.Random(11)
    for _ in range(1000):
        one, other = table(chance, _WORDS), table(chance, _WORDS)
        replicas = [replica(plugin=reply(told=one)), replica(1, plugin=reply(told=other))]
        findings = examined(facts(gateway=reply(told=one), replicas=replicas))
        assert {finding.symptom for finding in findings} == set(NAMES), (one, other)
        assert all(finding.sign.seen.en and finding.sign.seen.zh for finding in findings), (one, other)
