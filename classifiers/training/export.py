"""The student as an ONNX file, its graph written out by hand, its matrices in eight bits.

Only what is stored is quantised: each row of the word table and each column of a matrix has a scale, and the arithmetic
is in floats. A graph that quantises what flows through it would be no faster at this size, and would give a text
another code when it stands in a batch with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from classifiers.training.student import HEADS, LAYERS, WIDTH

OPSET = 20
MIN = -1e4  # what is added where there is no token

State = Mapping[str, NDArray[np.float32]]


class Graph:
    """Nodes and constants, each named once."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: NDArray[Any]) -> str:
        """Its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def number(self, value: float) -> str:
        """One number."""
        return self.constant(np.array(value, np.float32))

    def numbers(self, *values: int) -> str:
        """Whole numbers in a row: axes, shapes."""
        return self.constant(np.array(values, np.int64))

    def add(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """The name of a node's one output."""
        name = out or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def small(self, value: NDArray[np.float32], axis: int) -> tuple[str, str]:
        """A matrix in eight bits, and the scales along `axis`."""
        scale = np.abs(value).max(axis=1 - axis, keepdims=True) / 127 + 1e-12
        return (
            self.constant(np.round(value / scale).astype(np.int8)),
            self.constant(scale.astype(np.float32)),
        )

    def matrix(self, value: NDArray[np.float32]) -> str:
        """A matrix for MatMul; widened once, when the session is made."""
        stored, scale = self.small(value, axis=1)
        return self.add("Mul", self.add("Cast", stored, to=TensorProto.FLOAT), scale)

    def linear(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32], out: str = "") -> str:
        """As torch's: `weight` has a row for each output."""
        product = self.add("MatMul", x, self.matrix(np.ascontiguousarray(weight.T)))
        return self.add("Add", product, self.constant(bias), out=out)

    def norm(self, x: str, state: State, name: str) -> str:
        """LayerNorm over the last axis."""
        weight, bias = (self.constant(state[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-5)


def encode(state: State) -> bytes:
    """The file's bytes: `ids` in, `vectors` and `signs` out."""
    graph = Graph()
    there = graph.add("Cast", graph.add("Greater", "ids", graph.numbers(0)), to=TensorProto.FLOAT)
    x = _words(graph, state)
    gone = graph.add("Sub", graph.number(1), there)
    bias = graph.add("Unsqueeze", graph.add("Mul", gone, graph.number(MIN)), graph.numbers(1, 2))
    for number in range(LAYERS):
        x = _layer(graph, state, f"layers.{number}", x, bias)
    kept = graph.add("Unsqueeze", there, graph.numbers(2))
    total = graph.add("ReduceSum", graph.add("Mul", x, kept), graph.numbers(1), keepdims=0)
    # The mean's length is of no account: the sum has the same direction.
    graph.add("LpNormalization", total, out="vectors", axis=-1, p=2)
    graph.linear("vectors", state["head.weight"], state["head.bias"], out="signs")
    return _finished(graph, len(state["head.bias"]))


def _words(graph: Graph, state: State) -> str:
    stored, scale = graph.small(state["words.weight"], axis=0)
    rows = graph.add("Cast", graph.add("Gather", stored, "ids"), to=TensorProto.FLOAT)
    x = graph.add("Mul", rows, graph.add("Gather", scale, "ids"))
    length = graph.add("Shape", "ids", start=1, end=2)
    places = graph.add("Slice", graph.constant(state["places"]), graph.numbers(0), length, graph.numbers(0))
    return graph.add("Add", x, places)


def _layer(graph: Graph, state: State, name: str, x: str, bias: str) -> str:
    def linear(x: str, part: str) -> str:
        return graph.linear(x, state[f"{name}.{part}.weight"], state[f"{name}.{part}.bias"])

    joined = linear(graph.norm(x, state, f"{name}.before"), "joined")
    heads = graph.add("Reshape", joined, graph.numbers(0, 0, 3, HEADS, WIDTH // HEADS))
    apart = graph.add("Transpose", heads, perm=[2, 0, 3, 1, 4])
    query, key, value = (
        graph.add("Gather", apart, graph.constant(np.array(part, np.int64)), axis=0) for part in range(3)
    )
    product = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    scaled = graph.add("Mul", product, graph.number((WIDTH // HEADS) ** -0.5))
    weights = graph.add("Softmax", graph.add("Add", scaled, bias), axis=-1)
    seen = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
    x = graph.add("Add", x, linear(graph.add("Reshape", seen, graph.numbers(0, 0, WIDTH)), "out"))
    inner = graph.add("Gelu", linear(graph.norm(x, state, f"{name}.between"), "inner"))
    return graph.add("Add", x, linear(inner, "outer"))


def _finished(graph: Graph, bits: int) -> bytes:
    def told(name: str, kind: int, shape: Sequence[str | int]) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [told("ids", TensorProto.INT64, ("texts", "tokens"))],
        [told("vectors", TensorProto.FLOAT, ("texts", WIDTH)), told("signs", TensorProto.FLOAT, ("texts", bits))],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())
