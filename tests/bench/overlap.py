"""How many tokens a donor can really give a request: told by the engine's own plan on the engine's own tokens."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from gateway.kv.nouns import Ask as Wish
from gateway.kv.nouns import Entry, Mode, Owner, State
from gateway.kv.plan import Engine, Subject, plan
from tests.bench.replay import Ask

OWNER = Owner("t", "", "f")
BLOCK = 16  # tokens, as on a GPU; a CPU engine's are larger
ENGINE = Engine(BLOCK, (None,), splices=True)
LEAST = 64  # tokens of a span


def tokens(tokenizer: Tokenizer, ask: Ask) -> tuple[int, ...]:
    """A request's prompt, by the model's chat template."""
    told = "".join(f"<|im_start|>{said['role']}\n{said['content']}<|im_end|>\n" for said in ask.messages)
    return tuple(tokenizer.encode(told + "<|im_start|>assistant\n", add_special_tokens=False).ids)


def donor(name: str, prompt: Sequence[int]) -> Entry:
    """A capture of all whole blocks of a prompt."""
    whole = tuple(prompt[: len(prompt) // BLOCK * BLOCK])
    return Entry(name, OWNER, State.KEPT, BLOCK, 1, whole, (0,) * (len(whole) // BLOCK))


def given(prompt: Sequence[int], capture: Entry) -> int:
    """Tokens of this prompt that need not be computed with that capture."""
    wish = Wish(donor=capture.id, mode=Mode.SPLICE, least=LEAST)
    made = plan(Subject(prompt, OWNER, wish), capture, ENGINE)
    return made.prefix + sum(jump.length for jump in made.jumps)
