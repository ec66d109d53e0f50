"""The configuration that is shipped, as it is and with packs switched on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from gateway.config import House, Source, build

RULES = Path(__file__).parents[2] / "rules"
PACKS = ("finance", "ecommerce", "education")


def switched_on(folder: Path, *packs: str) -> House:
    """The shipped files, with packs switched on as the comment in gateway.yaml says."""
    shutil.copytree(RULES, folder / "rules")
    main = folder / "rules" / "gateway.yaml"
    text = main.read_text(encoding="utf-8")
    for pack in packs:
        text, count = re.subn(rf"^  # - (packs/{pack}/)", r"  - \1", text, flags=re.MULTILINE)
        assert count == 1, f"gateway.yaml has no line that switches {pack} on"
    main.write_text(text, encoding="utf-8")
    return build(Source(main))
