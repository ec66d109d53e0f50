"""A file that can't be loaded is a fault that names it, even where the manifest agrees with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from classifiers import session
from classifiers.manifest import Manifest, Model, ModelFault


@pytest.mark.parametrize("load", [session.network, session.tokenizer])
@pytest.mark.parametrize("content", [b"", b"not a model", b"{}"])
def test_what_is_no_model_is_a_fault(load: Callable[[Model, str], Any], content: bytes) -> None:
    model = Model(Path("models"), Manifest("toy", "toy", {}, {}), {"file": content})
    with pytest.raises(ModelFault, match=r"file: can't be loaded"):
        load(model, "file")


@pytest.mark.parametrize("load", [session.network, session.tokenizer])
def test_a_file_of_another_name_is_a_fault(load: Callable[[Model, str], Any]) -> None:
    with pytest.raises(ModelFault, match="knows no such file"):
        load(Model(Path("models"), Manifest("toy", "toy", {}, {}), {}), "file")
