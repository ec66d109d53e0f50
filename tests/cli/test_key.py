"""`retrace key`: it opens the door."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp
import pytest
import yaml

from tests.cases.test_metrics import scripted
from tests.cli.inside import said
from tests.commands import served
from tests.rig import CHAT


@pytest.mark.long
async def test_a_key_that_was_made_opens_the_door(tmp_path: Path) -> None:
    told = said("key")
    assert told.exit_code == 0
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
