"""refine.yaml: what it may say, what is told of what it may not, and which exchange is served how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from gateway.errors import ConfigFault
from gateway.refine.file import PLAIN, RefineFile, Way
from gateway.tiers import business, classifier, rules
from gateway.types import Principal
from gateway.yamlfile import Document
from tests.refine.matters import chat, file, matter
from tests.refine.rigs import ALWAYS


def exchange(tenant: str = "default", tier: str = "standard", model: str = "m") -> Any:
    return matter(chat("?", model=model), who=Principal(tenant, tier)).exchange


def read(folder: Path, said: dict[str, Any]) -> RefineFile:
    path = folder / "refine.yaml"
    path.write_text(yaml.safe_dump(said, allow_unicode=True), encoding="utf-8")
    return Document(path).into(RefineFile)


def test_a_file_that_says_nothing_serves_all_live_and_asks_nobody() -> None:
    made = file()
    assert made.way(exchange()) == Way("live", True, made.guards.tenant_tokens_per_hour)
    assert made.tiers == ()
    assert made.queue is None
    assert made.backlog is None
    assert made.cache is not None
    assert not PLAIN.refine


def test_the_first_route_that_matches_counts() -> None:
    vip, shop = {"tier": ["vip"]}, {"tenant": ["shop-*"]}
    made = file(
        delivery="hold",
        routes=[
            {"when": vip, "delivery": "live"},
            {"when": shop, "refine": False},
            {"when": {"model": ["small"]}, "delivery": "live", "refine": False},
        ],
    )
    quota = made.guards.tenant_tokens_per_hour
    assert made.way(exchange(tier="vip", tenant="shop-1")) == Way("live", True, quota)
    assert made.way(exchange(tenant="shop-1")) == Way("hold", False, quota)
    assert made.way(exchange(model="small")) == Way("live", False, quota)
    assert made.way(exchange()) == Way("hold", True, quota)


def test_a_way_knows_the_quota() -> None:
    quotas = [{"when": {"tier": ["vip"]}, "tokens_per_hour": 9}]
    made = file(guards={"tenant_tokens_per_hour": 5, "quotas": quotas})
    assert made.way(exchange(tier="vip")).quota == 9
    assert made.way(exchange()).quota == 5


def test_tiers_and_queues_are_told_apart_by_their_type(tmp_path: Path) -> None:
    tiers = [{"type": "rules"}, {"type": "classifier", "threshold": 0.5}, ALWAYS]
    made = read(tmp_path, {"tiers": tiers, "queue": {"type": "file", "path": "review.jsonl"}, "cache": None})
    assert [type(tier) for tier in made.tiers] == [rules.Plug, classifier.Plug, business.Plug]
    assert made.queue is not None
    assert made.queue.type == "file"
    assert made.cache is None


def test_a_model_s_folder_is_found_from_the_file(tmp_path: Path) -> None:
    (tier,) = read(tmp_path, {"tiers": [{"type": "classifier", "model": "models/own"}]}).tiers
    assert isinstance(tier, classifier.Plug)
    assert tier.model == tmp_path / "models" / "own"


def test_words_may_be_chinese(tmp_path: Path) -> None:
    said = {"domains": {"words": {"finance": {"zh": ["年利率"]}}}, "degraded": {"tags": {"zh": "〔待核〕"}}}
    made = read(tmp_path, said)
    assert made.degraded.tags.zh == "〔待核〕"
    assert made.domains.words["finance"]["zh"] == ("年利率",)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a word that it does not know": ({"delivary": "live"}, "delivary"),
    "a delivery that is none": ({"delivery": "later"}, "delivery"),
    "a tier that is none": ({"tiers": [{"type": "oracle"}]}, "tiers.0"),
    "a tier without a type": ({"tiers": [{"cases": []}]}, "tiers.0"),
    "a reason that metrics could not hold": (
        {"tiers": [{"type": "business", "cases": [{"decision": "force", "why": "Very Important"}]}]},
        "tiers.0",
    ),
    "no time at all": ({"guards": {"seconds": 0}}, "guards.seconds"),
    "too many marks": ({"guards": {"most_marks": 11}}, "guards.most_marks"),
    "a queue without a place": ({"queue": {"type": "file"}}, "queue"),
    "a queue that is none": ({"queue": {"type": "mail"}}, "queue"),
    "a backlog that never works": ({"backlog": {"most": 5}}, "backlog"),
    "a tag that breaks a table": ({"degraded": {"tags": {"en": "a|b"}}}, "degraded.tags.en"),
    "a route that asks for nothing known": ({"routes": [{"when": {"weather": ["rain"]}}]}, "routes.0.when.weather"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_is_told_with_its_line(tmp_path: Path, wrong: str) -> None:
    said, field = WRONG[wrong]
    with pytest.raises(ConfigFault) as caught:
        read(tmp_path, {"bill": True, **said})
    told = caught.value.complaints[0]
    assert told.file.name == "refine.yaml"
    assert told.line
    assert told.field.startswith(field)


def test_nothing_of_it_changes_later() -> None:
    with pytest.raises(ValidationError):
        file().delivery = "hold"


def test_two_files_that_say_the_same_are_the_same() -> None:
    assert file(tiers=[ALWAYS], queue={"type": "file", "path": "q"}) == file(
        tiers=[ALWAYS], queue={"type": "file", "path": "q"}
    )
    assert file(tiers=[ALWAYS]) != file()


def test_its_schema_takes_what_it_takes(tmp_path: Path) -> None:
    schema = RefineFile.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    said = {"delivery": "hold", "tiers": [ALWAYS], "cache": None, "guards": {"seconds": 1}}
    read(tmp_path, said)
    jsonschema.validate(said, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"delivery": "later"}, schema)
