"""In which language a person is spoken to: what he asks for, else what his terminal is set to, else English."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Literal

import typer

Lang = Literal["en", "zh"]


def spoken(env: Mapping[str, str]) -> Lang:
    """The language that a terminal is set to, as far as it is one of ours."""
    return "zh" if (env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "").startswith("zh") else "en"


LANG: Lang = spoken(os.environ)

Language = Annotated[Lang, typer.Option("--lang", help="en or zh; by default as your terminal is set.")]
