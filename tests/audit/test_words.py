"""What is written of the words of an exchange."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from gateway.audit._kept import Kept
from gateway.audit._redact import MASK
from gateway.audit._words import Policy, TextPolicy, Words
from gateway.audit.auditor import masking
from gateway.types import Action, Correction, Finding, Outcome, Refined
from tests.audit.rules import MASKING, found, rules

MAIL = "li.wei@example.com"
ASKED = [("system", "Be brief."), ("user", f"I am {MAIL}")]


def words(policy: TextPolicy) -> Words:
    return Words(Policy(policy, b"k", masking(rules(MASKING))))


def told(policy: TextPolicy, said: str = "Fine.", findings: tuple[Finding, ...] = ()) -> dict[str, Any]:
    return words(policy).told(Kept(ASKED, {0: said}), findings, {})


def test_nothing_is_written_if_nothing_is_to_be() -> None:
    assert told("none") == {}


def test_all_of_it_is_written_if_all_is_to_be() -> None:
    line = told("full", findings=(found("surely"),))
    assert [(one["role"], one["text"]) for one in line["asked"]] == [("system", "Be brief."), ("user", f"I am {MAIL}")]
    assert (line["said"], line["found"], "left_out" in line) == ({"0": "Fine."}, ["surely"], False)


def test_personal_data_is_redacted() -> None:
    line = told("redacted", f"Write to {MAIL}.")
    assert line["asked"][1]["text"] == f"I am {MASK}"
    assert line["said"]["0"] == f"Write to {MASK}."
    assert MAIL not in str(line)


def test_what_rules_mask_and_what_they_found_is_redacted() -> None:
    line = told("redacted", "It is project ATLAS, surely safe.", (found("surely"), found("it", "R101")))
    assert line["said"]["0"] == f"It is {MASK}, [R205] safe."
    assert "found" not in line


def test_what_was_masked_on_its_way_is_masked_in_the_log_whatever_the_policy() -> None:
    secret = found("project ATLAS", "R101", Action.MASK, "***")
    line = told("full", "It is project ATLAS.", (secret,))
    assert line["said"]["0"] == "It is ***."


def test_a_keyed_hash_tells_a_text_again_and_nothing_else() -> None:
    line = told("hash", "Fine.")
    assert line["said"]["0"] == {"hmac": hmac.new(b"k", b"Fine.", hashlib.sha256).hexdigest(), "chars": 5}
    assert "Fine" not in str(line)
    assert MAIL not in str(line)


def test_corrections_are_texts_like_any() -> None:
    one = Correction(f"ask {MAIL}", "ask us", "the page says so")
    refined = {0: Refined(Outcome.CORRECTED, "rules", (one,)), 1: Refined(Outcome.FINE)}
    line = words("redacted").told(Kept(ASKED, {}), (), refined)
    assert line["corrections"] == {"0": [{"quote": f"ask {MASK}", "fixed": "ask us", "evidence": "the page says so"}]}


def test_of_what_is_known_to_be_clean_nothing_is_looked_at() -> None:
    line = words("redacted").told(Kept(ASKED, {}), (), {}, clean=True)
    assert line["asked"][1]["text"] == f"I am {MAIL}"


def test_that_words_were_left_out_is_told() -> None:
    assert words("full").told(Kept(ASKED, {}, 3), (), {})["left_out"] == 3
