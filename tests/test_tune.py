"""A sample of traffic tells which setting of the search would have reused the most; a bad sample tells its bad line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway import tune, tuned
from gateway.config import Source, build
from gateway.errors import ConfigFault
from gateway.terms import Lookup
from gateway.tune import Sample, chosen, curve, read, settings
from tests.rig import write_config

RULES = " ".join(f"Article {n}: a parcel of class {n * 7 % 13} is weighed at counter {n * 31 % 17}." for n in range(60))
规则 = "".join(f"第{n}条：{n * 7 % 13}类包裹在{n * 31 % 17}号柜台称重，由{n * 5 % 23}路车运走。" for n in range(80))


def chat(*texts: str, tenant: str = "t") -> Sample:
    return Sample(tenant, {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]})


MOVED = [chat(f"{n}. {text}", tenant=text[0]) for n in range(6) for text in (RULES, 规则)]
STRANGERS = [chat("".join(chr(0x4E00 + (n * 997 + k * k) % 8000) for k in range(900))) for n in range(8)]


def one(samples: list[Sample], **fields: Any) -> tune.Row:
    (row,) = curve(samples, [Lookup(**fields)])
    return row


def test_documents_that_moved_are_found_and_nearly_all_of_them_reused() -> None:
    row = one(MOVED)
    assert row.named == pytest.approx(10 / 12)  # all but the first of each
    assert row.reused > 0.9
    assert row.poor == 0


def test_too_coarse_a_setting_finds_less() -> None:
    assert one(MOVED, chunk_bits=12).reused < one(MOVED, chunk_bits=8).reused


def test_strangers_get_no_donor_and_other_tenants_neither() -> None:
    assert one(STRANGERS).named == 0
    assert one([chat(RULES, tenant=str(n)) for n in range(5)]).named == 0
    assert chosen(curve(STRANGERS, settings(Lookup()))) is None
    assert chosen(curve([], settings(Lookup()))) is None


def test_the_best_setting_is_the_coarsest_of_those_that_reuse_the_most_and_none_that_names_the_poor() -> None:
    def row(bits: int, reused: float, poor: float = 0.0, named: float = 0.5) -> tune.Row:
        return tune.Row("chunks", Lookup(chunk_bits=bits), named, reused, poor)

    assert chosen([row(6, 0.9), row(7, 0.9), row(8, 0.8)]) == row(7, 0.9)
    assert chosen([row(6, 0.9, poor=0.06), row(8, 0.8, poor=0.05)]) == row(8, 0.8, poor=0.05)
    assert chosen([row(6, 0.0, named=0.0)]) is None


def test_codes_alone_name_the_nearest_question_s_capture_whatever_it_holds() -> None:
    def codes(text: str, window: int) -> list[int]:
        return [len(text) if window == 3 else 0]  # texts of one length have the same code

    samples = [chat(RULES, "same?"), chat(规则, "same!"), chat(RULES, "another one")]
    exact, near, blind = tune.codes_curve(
        samples, [Lookup(radius=0), Lookup(radius=7), Lookup(radius=0, window=2)], codes
    )
    assert {exact.by, near.by, blind.by} == {"codes"}
    assert exact.named == pytest.approx(1 / 3)
    assert exact.poor == 1
    assert near.named == blind.named == pytest.approx(2 / 3)
    assert chosen([exact, near, blind]) is None


def test_each_request_of_each_setting_is_a_step() -> None:
    steps: list[int] = []
    rows = list(curve(MOVED[:5], settings(Lookup(radius=2)), lambda: steps.append(1)))
    assert len(steps) == 5 * len(rows)
    assert {row.lookup.radius for row in rows} == {2}


@pytest.mark.parametrize(
    ("line", "told"),
    [(b"{", "is not JSON"), (b"[]", "neither"), (b'{"model": "m"}', "neither"), (b'{"body": {"x": 1}}', "neither")],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, told: str) -> None:
    file = tmp_path / "sample.jsonl"
    file.write_bytes(b'{"prompt": "x"}\n\n' + line + b"\n")
    with pytest.raises(ConfigFault) as caught:
        read(file)
    (complaint,) = caught.value.complaints
    assert (complaint.file, complaint.line) == (file, 3)
    assert told in complaint.problem
    assert complaint.fix


def test_a_sample_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="can't be read"):
        read(tmp_path / "none.jsonl")


def test_a_sample_holds_bodies_bare_or_with_their_tenant_and_the_newest_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "sample.jsonl"
    body = {"messages": [{"role": "user", "content": "你好"}]}
    lines = [{"tenant": "a", "body": body}, body] + [{"prompt": str(n)} for n in range(tune.MOST - 1)]
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    samples = read(file)
    assert len(samples) == tune.MOST
    assert samples[0] == Sample("", body)


def test_what_is_written_is_in_force_until_it_is_removed(tmp_path: Path) -> None:
    config = write_config(tmp_path, ["http://127.0.0.1:1"], [], retrace={"lookup": {"chunk_bits": 7}})
    best = tune.Row("chunks", Lookup(chunk_bits=10, radius=5), 0.5, 0.9, 0.0)
    tuned.write_lookup(tmp_path / "tuned.yaml", best.lookup, "sample.jsonl")
    house = build(Source(config))
    assert house.terms.lookup == best.lookup
    assert (tmp_path / "tuned.yaml").resolve() in house.watched
    (tmp_path / "tuned.yaml").write_text("lookup: {chunk_bits: 99}")
    with pytest.raises(ConfigFault, match=r"tuned\.yaml"):
        build(Source(config))
    (tmp_path / "tuned.yaml").unlink()
    assert build(Source(config)).terms.lookup.chunk_bits == 7
