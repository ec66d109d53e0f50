"""What the plugin says, and whether all replicas of a backend say the same."""

from __future__ import annotations

import pytest

from gateway.symptoms import Reply
from gateway.symptoms.plugin import Plug
from tests.symptoms.facts import lights, plugin, replica, reply, seen


@pytest.mark.parametrize(
    ("told", "light", "words"),
    [
        (plugin(), "green", "modes: prefix, splice"),
        (reply(404, told={"detail": "Not Found"}), "yellow", "no plugin"),
        (reply(401, told={"error": {}}), "red", "secret"),
        (plugin(engine=None), "yellow", "does not know its engine"),
        (reply(0, why="timeout"), "grey", "timeout"),
    ],
)
def test_each_word_has_its_light(told: Reply, light: str, words: str) -> None:
    (sign,) = seen(Plug(), replicas=[replica(plugin=told)])
    assert (sign.light, words in sign.seen.en) == (light, True)


def test_replicas_of_one_backend_must_agree_and_those_of_two_need_not() -> None:
    pair = [replica(0), replica(1, plugin=plugin("other", "0.2.0"))]
    signs = seen(Plug(), replicas=pair)
    assert [sign.light for sign in signs] == ["red", "red"]
    assert "0.1.0, 0.2.0" in signs[0].seen.en
    assert "f, other" in signs[1].seen.zh
    assert lights(Plug(), replicas=[pair[0], pair[1]._replace(backend="second")]) == ["green", "green"]


def test_where_no_plugin_can_be_nobody_looks() -> None:
    assert lights(Plug(), replicas=[replica(plugin=None)]) == ["grey"]
