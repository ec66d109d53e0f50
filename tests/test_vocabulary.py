"""The words of all figures: each worker's registry is its own, and nothing of a client is in a name."""

from __future__ import annotations

from prometheus_client import generate_latest

from gateway.vocabulary import Vocabulary


def test_two_in_one_process_do_not_share_what_they_count() -> None:
    one, other = Vocabulary(), Vocabulary()
    one.lookups.labels("donor").inc()
    assert b'retrace_lookups_total{result="donor"} 1.0' in generate_latest(one.registry)
    assert b'retrace_lookups_total{result="donor"}' not in generate_latest(other.registry)


def test_every_figure_says_what_it_means() -> None:
    page = generate_latest(Vocabulary().registry).decode()
    heads = [line.split(" ", 3) for line in page.splitlines() if line.startswith("# HELP")]
    assert heads
    assert [name for _, _, name, said in heads if not said.endswith(".")] == []
