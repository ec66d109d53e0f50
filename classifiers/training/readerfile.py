"""The reader as an ONNX file, its graph written out by hand, its matrices in eight bits.

It is read by one row at a time, so nothing is padded or masked. The matrices of the layers are multiplied in whole
numbers, each with the scale of what flows into it at that moment; the word table has a scale for each row.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from classifiers.reading import FEATURES
from classifiers.training.export import Graph, State
from classifiers.training.reader import EPSILON, HEADS, WIDTH

OPSET = 20


def encode(state: State, layers: int) -> bytes:
    """The file's bytes: `ids`, `kinds` and `features` in, `number` out."""
    graph = Graph()
    x = _norm(graph, _words(graph, state), state, "norm")
    for number in range(layers - 1):
        x = _layer(graph, state, f"layers.{number}", x, x)
    mean = graph.add("ReduceMean", x, graph.numbers(1), keepdims=0)
    asking = graph.add("Slice", x, graph.numbers(0), graph.numbers(1), graph.numbers(1))
    last = _layer(graph, state, f"layers.{layers - 1}", asking, x)
    first = graph.add("Squeeze", last, graph.numbers(1))
    read = _exact(graph, state, "middle", graph.add("Concat", first, mean, axis=-1))
    plain = _exact(graph, state, "plain", "features")
    both = graph.add("Concat", graph.add("Tanh", read), graph.add("Tanh", plain), axis=-1)
    graph.add("Squeeze", _exact(graph, state, "last", both), graph.numbers(1), out="number")
    return _quantised(_finished(graph))


def _words(graph: Graph, state: State) -> str:
    stored, scale = graph.small(state["words.weight"], axis=0)
    rows = graph.add("Cast", graph.add("Gather", stored, "ids"), to=TensorProto.FLOAT)
    x = graph.add("Mul", rows, graph.add("Gather", scale, "ids"))
    length = graph.add("Shape", "ids", start=1, end=2)
    places = graph.add("Slice", graph.constant(state["places"]), graph.numbers(0), length, graph.numbers(0))
    x = graph.add("Add", x, places)
    return graph.add("Add", x, graph.add("Gather", graph.constant(state["kinds"]), "kinds"))


def _layer(graph: Graph, state: State, name: str, asking: str, x: str) -> str:
    if asking == x:
        joined = _heads(graph, _linear(graph, state, [f"{name}.{part}" for part in ("query", "key", "value")], x), 3)
        query, key, value = (_part(graph, joined, number) for number in range(3))
    else:
        query = _heads(graph, _linear(graph, state, [f"{name}.query"], asking), 1)
        joined = _heads(graph, _linear(graph, state, [f"{name}.key", f"{name}.value"], x), 2)
        key, value = (_part(graph, joined, number) for number in range(2))
    product = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    weights = graph.add("Softmax", graph.add("Mul", product, graph.number((WIDTH // HEADS) ** -0.5)), axis=-1)
    seen = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
    out = _linear(graph, state, [f"{name}.out"], graph.add("Reshape", seen, graph.numbers(0, 0, WIDTH)))
    x = _norm(graph, graph.add("Add", asking, out), state, f"{name}.attention_norm")
    inner = graph.add("Gelu", _linear(graph, state, [f"{name}.inner"], x))
    return _norm(graph, graph.add("Add", x, _linear(graph, state, [f"{name}.outer"], inner)), state, f"{name}.norm")


def _heads(graph: Graph, x: str, times: int) -> str:
    apart = graph.add("Reshape", x, graph.numbers(0, 0, times * HEADS, WIDTH // HEADS))
    return graph.add("Transpose", apart, perm=[0, 2, 1, 3])


def _part(graph: Graph, joined: str, number: int) -> str:
    return graph.add("Slice", joined, *(graph.numbers(n) for n in (number * HEADS, (number + 1) * HEADS, 1)))


def _linear(graph: Graph, state: State, names: list[str], x: str) -> str:
    weight = np.concatenate([state[f"{name}.weight"] for name in names])
    bias = np.concatenate([state[f"{name}.bias"] for name in names])
    return graph.add(
        "Add", graph.add("MatMul", x, graph.constant(np.ascontiguousarray(weight.T))), graph.constant(bias)
    )


def _exact(graph: Graph, state: State, name: str, x: str) -> str:
    """The head's few matrices, which stay as they are."""
    weight, bias = (graph.constant(state[f"{name}.{part}"]) for part in ("weight", "bias"))
    return graph.add("Gemm", x, weight, bias, transB=1)


def _norm(graph: Graph, x: str, state: State, name: str) -> str:
    weight, bias = (graph.constant(state[f"{name}.{part}"]) for part in ("weight", "bias"))
    return graph.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)


def _finished(graph: Graph) -> Any:
    def told(name: str, kind: int, *shape: str | int) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    made = helper.make_graph(
        graph.nodes,
        "reader",
        [
            told("ids", TensorProto.INT64, "rows", "tokens"),
            told("kinds", TensorProto.INT64, "rows", "tokens"),
            told("features", TensorProto.FLOAT, "rows", FEATURES),
        ],
        [told("number", TensorProto.FLOAT, "rows")],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


def _quantised(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "reader.onnx"
        quantize_dynamic(
            model, path, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )  # fmt: skip
        return path.read_bytes()
