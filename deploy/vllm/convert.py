"""Turn a GGUF file into a Hugging Face folder: `python convert.py SOURCE.gguf TARGET_FOLDER`.

Runs inside the engine's environment, which has transformers; everything else in this folder runs before
there is one.
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any


def convert(source: Path, target: Path) -> None:
    """Write config, weights (bf16), tokenizer and chat template of `source` into the new folder `target`."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    # By name, because the gateway's environment, where types are checked, has neither of the two.
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")

    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    print("reading the tokenizer", flush=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
    _begin_as_said(source, tokenizer)
    print("unpacking the weights", flush=True)
    plain = transformers.GgufConfig(dequantize=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(**where, quantization_config=plain, dtype=torch.bfloat16)
    # The weights are plain from here on; left in, the entry would make the engine look for packed ones.
    vars(model.config).pop("quantization_config", None)
    print("writing the folder", flush=True)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _begin_as_said(source: Path, tokenizer: Any) -> None:
    """Whether a prompt begins with BOS: the file says it, and transformers does not read it."""
    gguf: Any = importlib.import_module("gguf")
    field = gguf.GGUFReader(source).fields.get("tokenizer.ggml.add_bos_token")
    if field is not None and field.contents():
        tokenizer.add_bos_token = True
        tokenizer.update_post_processor()


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
