"""A network and its tokenizer out of a model's folder. onnxruntime and tokenizers are known here alone.

One thread, no spinning: beside a server that shares its cores, a call of some milliseconds must not wake the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnxruntime
from tokenizers import Tokenizer

from classifiers.manifest import Model


def network(model: Model, name: str, without: Sequence[str] = ()) -> onnxruntime.InferenceSession:
    """A network that any number of threads may run. `without`: rewritings of the graph that would make it slower.

    ModelFault if the file can't be loaded.
    """
    try:
        return onnxruntime.InferenceSession(
            model.read(name), _options(), providers=["CPUExecutionProvider"], disabled_optimizers=list(without)
        )
    except Exception as error:  # the library's own kinds are no kinds of these
        raise model.fault(name, error) from error


def tokenizer(model: Model, name: str) -> Tokenizer:
    """What cuts texts for the network. ModelFault if the file can't be loaded."""
    try:
        return Tokenizer.from_str(model.text(name))
    except Exception as error:  # the library knows no narrower kind
        raise model.fault(name, error) from error


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
