"""`retrace` as a user has it: helpful texts, exit codes, and errors that say file, line, field and fix."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from tests.cases.test_metrics import scripted
from tests.commands import at_once, retrace, served
from tests.rig import CHAT, answers, completion, regex, rule, upstream, write_config

URL = ["http://127.0.0.1:9"]


def bad(folder: Path) -> Path:
    path = write_config(folder, URL, [])
    (folder / "rules.yaml").write_text(
        "rules:\n  - id: x\n    side: input\n    check: {type: regx, pattern: a}\n    action: blok\n"
    )
    return path


def test_help_lists_the_commands_and_what_they_do() -> None:
    for words in ((), ("-h",)):
        told = retrace(*words)
        text = told.stdout + told.stderr
        assert told.returncode == (0 if words else 2)
        for command in ("serve", "try", "check", "tune", "schema", "key"):
            assert command in text
        assert "base_url" in text


def test_each_command_explains_itself() -> None:
    for told in at_once(*((command, "--help") for command in ("serve", "try", "check", "tune", "schema", "key"))):
        assert told.returncode == 0
        assert "Usage" in told.stdout
        assert len(told.stdout) > 200
        assert told.stderr == ""


def test_a_wrong_word_is_an_error_with_a_hint() -> None:
    for told in at_once(("nonsense",), ("try",), ("serve", "--workers", "0")):
        assert told.returncode == 2
        assert "Usage" in told.stderr or "help" in told.stderr
        assert "Traceback" not in told.stderr


def test_check_takes_what_is_right_and_lists_it(tmp_path: Path) -> None:
    write_config(tmp_path, URL, [regex("bomb", side="input"), rule({"type": "pii"}, "mask", id="pii.out")])
    for told in at_once(("check", str(tmp_path)), ("check", str(tmp_path / "gateway.yaml"))):
        assert told.returncode == 0, told.stderr
        assert "all right" in told.stdout
        assert "input.regex" in told.stdout
        assert "pii.out" in told.stdout
        assert "R101 sensitive.content" in told.stdout


def test_the_shipped_rules_are_right() -> None:
    told = retrace("check")
    assert told.returncode == 0, told.stderr
    assert "all right" in told.stdout


def test_what_is_wrong_is_told_with_file_line_field_and_fix(tmp_path: Path) -> None:
    path = str(bad(tmp_path))
    for told in at_once(("check", path), ("serve", "-c", path), ("try", "x", "-c", path)):
        assert told.returncode == 1
        assert told.stdout == ""
        assert "Traceback" not in told.stderr
        assert re.search(rf"{re.escape(str(tmp_path))}/rules.yaml:4 rules\.0\.check", told.stderr)
        assert "did you mean `regex`?" in told.stderr
        assert re.search(r"rules.yaml:5 rules\.0\.action", told.stderr)
        assert re.search(r"rules\.0\.reason\s+this field is missing\s+add it", told.stderr)


def backend(**fields: Any) -> str:
    return yaml.safe_dump({"backends": [{"name": "a", "type": "vllm", "urls": URL, **fields}]})


BROKEN: dict[str, tuple[str, str, str]] = {
    "no file": ("gateway.yaml", "", "no such file"),
    "not yaml": ("rules.yaml", "rules: [\n", "not YAML"),
    "unbounded": ("rules.yaml", yaml.safe_dump({"rules": [regex("a*")]}), "without bound"),
    "not an address": ("gateway.yaml", backend(urls=["host:80"]), "http://"),
    "odd type": ("gateway.yaml", backend(type="vlm"), "vllm"),
}


def test_every_kind_of_fault_has_its_words(tmp_path: Path) -> None:
    for number, (name, text, _) in enumerate(BROKEN.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_config(folder, URL, [])
        if text:
            (folder / name).write_text(text)
        else:
            (folder / name).unlink()
    tolds = at_once(*(("check", str(tmp_path / str(number) / "gateway.yaml")) for number in range(len(BROKEN))))
    for number, ((name, _, words), told) in enumerate(zip(BROKEN.values(), tolds, strict=True)):
        assert told.returncode == 1
        assert words in told.stderr
        assert str(tmp_path / str(number) / name) in told.stderr
        assert "Traceback" not in told.stderr


def test_try_judges_and_says_so_with_its_exit_code(tmp_path: Path) -> None:
    rules = [
        regex("bomb", side="input", id="bomb"),
        regex("secret", side="input", action="mask", id="mask"),
        regex("odd", side="input", action="tag", id="tag", reason="R102"),
        regex("answer", id="out"),
        regex("vip", side="input", id="vip", when={"tenant": "vip"}),
    ]
    config = ("-c", str(write_config(tmp_path, URL, rules)))
    cases: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = [
        (("a bomb",), 2, ("BLOCK", "R101 sensitive.content", "bomb", "2-6")),
        (("my secret [b]x[/b]",), 0, ("MASK", "my *** [b]x[/b]")),
        (("odd",), 0, ("TAG", "R102 personal.data")),
        (("an answer", "--side", "output"), 2, ("BLOCK", "out")),
        (("an answer for a vip",), 0, ("ALLOW",)),
        (("vip", "--tenant", "vip"), 2, ("BLOCK", "vip")),
    ]
    tolds = at_once(*(("try", *words, *config) for words, _, _ in cases))
    for (words, code, shown), told in zip(cases, tolds, strict=True):
        assert told.returncode == code, (words, told.stdout, told.stderr)
        for word in shown:
            assert word in told.stdout
    told = retrace("try", "-", *config, told="from a pipe: bomb")
    assert told.returncode == 2
    assert "BLOCK" in told.stdout


def test_schema_prints_and_writes_what_editors_need(tmp_path: Path) -> None:
    told, wrong, wrote = at_once(
        ("schema", "rules"), ("schema", "nonsense"), ("schema", "--write", str(tmp_path / "new"))
    )
    assert told.returncode == 0
    assert "properties" in json.loads(told.stdout)
    assert wrong.returncode == 1
    assert "gateway" in wrong.stderr
    assert wrote.returncode == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["gateway.json", "reasons.json", "rules.json", "tiers.json"]


async def test_a_key_that_was_made_opens_the_door(tmp_path: Path) -> None:
    told = retrace("key")
    assert told.returncode == 0
    key = re.search(r"rtk-[\w-]{40,}", told.stdout)
    digest = re.search(r"sha256:[0-9a-f]{64}", told.stdout)
    assert key
    assert digest
    path = scripted(tmp_path)
    (tmp_path / "tiers.yaml").write_text(yaml.safe_dump({"keys": [{"hash": digest[0], "tenant": "my-team"}]}))
    path.write_text(path.read_text() + "tiers: tiers.yaml\n")
    words = ("-c", str(path), "--port", "0", "--host", "0.0.0.0")
    async with served(*words) as (url, _), aiohttp.ClientSession() as http:
        at = url.replace("0.0.0.0", "127.0.0.1")
        for headers, status in (({}, 401), ({"authorization": f"Bearer {key[0]}"}, 200)):
            async with http.post(f"{at}/v1/chat/completions", json=CHAT, headers=headers) as response:
                assert response.status == status


def test_without_keys_no_other_address_is_opened(tmp_path: Path) -> None:
    by_file, by_word = [tmp_path / name for name in ("file", "word")]
    hosts = ("0.0.0.0", "::", "192.168.1.1")
    for folder in (by_file, by_word):
        folder.mkdir()
    plain = str(write_config(by_word, URL, []))
    listening = str(write_config(by_file, URL, [], listen={"port": 0, "host": hosts[0]}))
    commands = [("serve", "-c", listening), *(("serve", "-c", plain, "--host", host) for host in hosts)]
    for host, told in zip((hosts[0], *hosts), at_once(*commands), strict=True):
        assert told.returncode == 1
        assert "listen.host" in told.stderr
        assert host in told.stderr
        assert "retrace key" in told.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = retrace("serve", "-c", str(write_config(tmp_path, URL, [])), "--port", port)
    assert told.returncode == 1
    assert port in told.stderr
    assert "--port" in told.stderr
    assert "Traceback" not in told.stderr


async def test_serve_needs_no_backend_in_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, URL, [regex("secret", action="mask")])
    async with upstream(answers(completion("a secret"))) as (up, _):
        for address in (up, f"{up}/v1/"):
            async with served("-c", str(path), "--port", "0", "--backend", address) as (url, _process):
                assert await message(url) == "a ***"


async def message(url: str) -> str:
    async with aiohttp.ClientSession() as http, http.post(f"{url}/v1/chat/completions", json=CHAT) as response:
        answer: Any = await response.json()
        return str(answer["choices"][0]["message"]["content"])


@pytest.mark.parametrize("verbose", [True, False])
async def test_what_serve_logs_is_one_line_each_and_json(tmp_path: Path, verbose: bool) -> None:
    """A collector of logs can read it: what rules saw, and all of it only with -v."""
    words = ("-c", str(scripted(tmp_path)), "--port", "0", *(["-v"] if verbose else []))
    with (tmp_path / "log").open("wb") as log:
        async with served(*words, log=log) as (url, _):
            assert await message(url) == "one two three"
    lines = (tmp_path / "log").read_text().splitlines()
    records = [json.loads(line[line.index("{") :]) for line in lines if '"surface"' in line]
    assert [(record["verdict"], record["status"]) for record in records] == [("tag", 200)]
    assert "Traceback" not in "".join(lines)


def test_tune_shows_the_curve_writes_the_best_and_takes_it_back(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, URL, []))
    text = " ".join(f"Clause {n} of {n * n} is settled in {n * 7 % 31} days." for n in range(90))
    sample, tuned = tmp_path / "sample.jsonl", tmp_path / "tuned.yaml"
    sample.write_text("".join(json.dumps({"prompt": f"{n} {text}"}) + "\n" for n in range(5)))
    shown = retrace("tune", str(sample), "-c", config)
    assert (shown.returncode, "->" in shown.stdout, tuned.exists()) == (0, True, False), shown.stderr
    assert retrace("tune", str(sample), "-c", config, "--write").returncode == 0
    assert yaml.safe_load(tuned.read_text())["sample"] == "sample.jsonl, 5 requests"
    assert retrace("check", config).returncode == 0
    assert retrace("tune", str(sample), "-c", config, "--reset").returncode == 0
    assert not tuned.exists()
    sample.write_text("nonsense\n")
    wrong = retrace("tune", str(sample), "-c", config)
    assert (wrong.returncode, "sample.jsonl:1" in wrong.stderr) == (1, True)
