"""Make a tiny Llama with random weights: `python random_llama.py TARGET_FOLDER [SEED]`.

Runs inside the engine's environment, like convert.py. The same seed makes the same model; each byte of a text is a
token, so that any text can be asked. What it says depends on all that stands before, as it does for a trained one: a
wrong or missing piece of KV shows in its answers.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

SPECIALS = ("<s>", "</s>", "<pad>")
CHAT = (
    "{{ bos_token }}{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
SHAPE = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,  # the smallest that the engine's attention takes on a CPU
    "max_position_embeddings": 8192,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    # Ten times the usual: with smaller weights every prompt gets the same few tokens.
    "initializer_range": 0.2,
}


def make(target: Path, seed: int = 0) -> None:
    """Write config, weights (bf16), tokenizer and chat template into the new folder `target`."""
    # By name, because the gateway's environment, where types are checked, has none of them.
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")

    print("making random weights", flush=True)
    tokenizer = _tokenizer()
    ids = {
        f"{name}_token_id": tokenizer.convert_tokens_to_ids(SPECIALS[i]) for i, name in enumerate(("bos", "eos", "pad"))
    }
    config = transformers.LlamaConfig(vocab_size=len(tokenizer), **SHAPE, **ids)
    torch.manual_seed(seed)
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _tokenizer() -> Any:
    """A token for each byte, none for more."""
    parts: Any = importlib.import_module("tokenizers")
    transformers: Any = importlib.import_module("transformers")
    letters = sorted(parts.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*letters, *SPECIALS])}
    made = parts.Tokenizer(parts.models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = parts.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = parts.decoders.ByteLevel()
    bos, eos, pad = SPECIALS
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=bos, eos_token=eos, pad_token=pad, chat_template=CHAT
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]), *map(int, sys.argv[2:]))
