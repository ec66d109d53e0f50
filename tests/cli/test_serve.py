"""`retrace serve`: where it listens, what it needs, what it says."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cases.test_metrics import scripted
from tests.cli.inside import said
from tests.commands import retrace, served
from tests.rig import CHAT, answers, completion, regex, upstream, write_config

URL = ["http://127.0.0.1:9"]


def test_without_keys_no_other_address_is_opened(tmp_path: Path) -> None:
    by_file, by_word = [tmp_path / name for name in ("file", "word")]
    hosts = ("0.0.0.0", "::", "192.168.1.1")
    for folder in (by_file, by_word):
        folder.mkdir()
    plain = str(write_config(by_word, URL, []))
    listening = str(write_config(by_file, URL, [], listen={"port": 0, "host": hosts[0]}))
    commands = [(listening,), *((plain, "--host", host) for host in hosts)]
    for host, words in zip((hosts[0], *hosts), commands, strict=True):
        told = said("serve", "-c", *words)
        assert told.exit_code == 1
        assert "listen.host" in told.stderr
        assert host in told.stderr
        assert "retrace key" in told.stderr


@pytest.mark.long
def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = retrace("serve", "-c", str(write_config(tmp_path, URL, [])), "--port", port)
    assert told.returncode == 1
    assert port in told.stderr
    assert "--port" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.long
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


@pytest.mark.long
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
