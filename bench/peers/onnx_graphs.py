#!/usr/bin/env python3
"""Writes random ONNX graphs with the answers of ONNX Runtime, for the test OnnxGraphs of tests/cnn.

    python3 bench/peers/onnx_graphs.py [--seed 1] [--count 300] [--out tests/cnn/data/graphs.onnx] [--test TEST_CNN]
    MOKUME_ONNX_GRAPHS=FILE build/release/bin/test_cnn --gtest_filter='OnnxGraphs.*'

The test imports each graph, which mokume must refuse by the name of an operator, or answer as ONNX Runtime does. The file
is an ONNX model itself: each of its nodes is one graph, with the attributes model (bytes), y (answers for the rows), ends
(the last operator if it is Softmax or LogSoftmax), order (of the elements of a row) and rows (their number). The rows are
rows_of(). Operators, attributes and shapes are those that exporters write, and many that mokume does not take. With --test,
the file also says what this test program does with each graph (outcome): the test fails once that changes. Needs onnx and
onnxruntime.
"""
import argparse
import os
import pathlib
import re
import subprocess

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROWS = 3
OPSETS = [7, 8, 9, 11, 12, 13, 17, 18, 21]
TRAINED = {"Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "LayerNormalization", "InstanceNormalization",
           "GroupNormalization"}
SHAPES = {"Reshape", "Flatten", "Squeeze", "Identity", "Dropout", "Cast", "Shape", "Gather", "Concat"}
HERE = pathlib.Path(__file__).resolve().parent


def rows_of(shape, rows=ROWS):
    """Returns rows of numbers in [-2, 2) that the test computes too."""
    with numpy.errstate(over="ignore"):
        h = numpy.arange(rows * int(numpy.prod(shape)), dtype=numpy.uint32) * numpy.uint32(2654435761)
        h = (h ^ (h >> numpy.uint32(15))) * numpy.uint32(2246822519)
        h ^= h >> numpy.uint32(13)
    return ((h >> numpy.uint32(8)).astype(numpy.float32) / numpy.float32(1 << 22) - numpy.float32(2)).reshape(rows, *shape)


class Graph:
    """Grows a graph by one operator at a time, and keeps the shape of the last value."""

    def __init__(self, random):
        self.random, self.nodes, self.weights, self.count = random, [], [], 0
        self.opset = int(random.choice(OPSETS))
        self.batch = self.one("n", "n", ROWS)
        self.order = "rows"

    # ---- choices
    def chance(self, share):
        return self.random.random() < share

    def one(self, *values):
        return values[self.random.integers(len(values))]

    def below(self, first, last):
        return int(self.random.integers(first, last + 1))

    # ---- parts of the graph
    def weight(self, *shape, low=None):
        values = numpy.asarray(self.random.normal(size=shape) * 0.7 if low is None else low + self.random.random(shape))
        kind = self.one(*["initializer"] * 8, "node", "half")
        if kind == "node":
            return self.add("Constant", value=numpy_helper.from_array(values.astype(numpy.float32)))
        if kind == "half":
            return self.add("Cast", self.constant(values.astype(numpy.float16)), to=TensorProto.FLOAT)
        return self.constant(values.astype(numpy.float32))

    def constant(self, values):
        self.weights.append(numpy_helper.from_array(numpy.asarray(values), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def number(self, value):
        return self.constant(numpy.array(value, numpy.float32))

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def add(self, op, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        attributes = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def model(self, output):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [self.batch, *self.input])
        y = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "graph", [x], [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def answer(self, output):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        # The answers are those of the operators, not of approximations by fused ones.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.model(output).SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, {"x": rows_of(self.input)})[0]

    def begin(self):
        kind = self.one("image", "image", "image", "image", "rows", "rows", "nhwc", "flat", "flat nhwc")
        c, h, w = self.below(1, 4), self.below(3, 7), self.below(3, 7)
        if kind == "rows":
            self.input = [self.below(2, 12)]
            return "x"
        self.order = "nhwc" if "nhwc" in kind else "nchw"
        inner = [h, w, c] if self.order == "nhwc" else [c, h, w]
        self.input = [h * w * c] if "flat" in kind else inner
        x = "x"
        if "flat" in kind:
            x = self.add("Reshape", x, self.integers(self.one(0, -1), *inner))
        return self.add("Transpose", x, perm=[0, 3, 1, 2]) if self.order == "nhwc" else x

    def try_step(self, x, step):
        """Returns the value and the shape after a step, or None if the graph would not be valid."""
        kept = len(self.nodes), len(self.weights), self.count
        try:
            y = step(self, x)
            shape = self.answer(y).shape
        except (onnxruntime.capi.onnxruntime_pybind11_state.Fail, Exception):
            shape = None
        if shape is None or len(shape) < 2 or shape[0] != ROWS or numpy.prod(shape) > ROWS * 400 or 0 in shape:
            del self.nodes[kept[0]:], self.weights[kept[1]:]
            self.count = kept[2]
            return None
        return y, list(shape[1:])


# ---- windows

def window(g, pool, transposed=False):
    kernel = [g.below(1, 3), g.below(1, 3)] if g.chance(0.5) else [g.below(1, 3)] * 2
    attributes = {"kernel_shape": kernel}
    if g.chance(0.5):
        attributes["strides"] = [g.below(1, 2), g.below(1, 3)] if g.chance(0.5) else [2, 2]
    kind = g.one("none", "even", "even", "uneven", "same", "valid")
    most = [k - 1 if pool else 2 for k in kernel]
    if kind == "even":
        attributes["pads"] = [g.below(0, most[0]), g.below(0, most[1])] * 2
    elif kind == "uneven":
        attributes["pads"] = [g.below(0, most[k % 2]) for k in range(4)]
    elif kind in ("same", "valid"):
        attributes["auto_pad"] = g.one("SAME_UPPER", "SAME_LOWER") if kind == "same" else "VALID"
    if g.chance(0.2):
        attributes["dilations"] = g.one([2, 2], [1, 2], [2, 1])
    return attributes


def conv(g, x):
    c, attributes = g.shape[0], window(g, False)
    kernel, groups, out = attributes["kernel_shape"], g.one(1, 1, c), g.below(1, 3)
    if g.chance(0.2):
        del attributes["kernel_shape"]
    weights = [g.weight(out * groups, c // groups, *kernel)] + ([g.weight(out * groups)] if g.chance(0.6) else [])
    return g.add("Conv", x, *weights, group=groups if groups > 1 or g.chance(0.3) else None, **attributes)


def conv_transpose(g, x):
    c, attributes = g.shape[0], window(g, False)
    groups, out = g.one(1, 1, c), g.below(1, 2)
    if g.chance(0.3):
        attributes["output_padding"] = g.one([1, 1], [1, 0])
    if g.chance(0.1):
        attributes["output_shape"] = [g.shape[1] * 2, g.shape[2] * 2]
    weights = [g.weight(c, out, *attributes["kernel_shape"])] + ([g.weight(out * groups)] if g.chance(0.6) else [])
    return g.add("ConvTranspose", x, *weights, group=groups, **attributes)


def pool(g, x):
    op = g.one(*["MaxPool"] * 4, *["AveragePool"] * 5, "LpPool")
    attributes = window(g, True)
    if any(a < b for a, b in zip(attributes["kernel_shape"], attributes.get("strides", [1, 1]))):
        attributes.pop("auto_pad", None)  # ONNX Runtime reads beyond the image
    if op != "MaxPool" and g.opset < 19 or g.opset < 10:
        attributes.pop("dilations", None)
    if op != "LpPool" and g.chance(0.4) and g.opset >= 10:
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and g.chance(0.5):
        attributes["count_include_pad"] = 1
    return g.add(op, x, **attributes)


def global_pool(g, x):
    return g.add(g.one(*["GlobalAveragePool"] * 5, *["GlobalMaxPool"] * 3, "GlobalLpPool"), x)


def reduce(g, x):
    op = g.one(*["ReduceMean"] * 7, "ReduceMax", "ReduceSum")
    axes = g.one([2, 3], [2, 3], [-2, -1], [-1, -2], [1], [2], [1, 2, 3]) if len(g.shape) == 3 else [1]
    as_input = g.opset >= (13 if op == "ReduceSum" else 18)
    inputs = [x, g.integers(*axes)] if as_input else [x]
    return g.add(op, *inputs, axes=None if as_input else axes, keepdims=g.one(None, 0, 1))


# ---- products and normalisations

def gemm(g, x):
    inputs, outputs = g.shape[0], g.below(1, 6)
    transposed = g.chance(0.6)
    weights = [g.weight(*((outputs, inputs) if transposed else (inputs, outputs)))]
    if g.chance(0.7) or g.opset < 11:
        weights.append(g.weight(*g.one(*[[outputs]] * 8, [1, outputs], [1, outputs], [1], [], [ROWS, outputs], [ROWS, 1])))
    return g.add("Gemm", x, *weights, transB=1 if transposed else g.one(None, 0), alpha=g.one(None, None, 1.0, 0.5, -2.0),
                 beta=g.one(None, None, 1.0, 0.25, 0.0), transA=g.one(None, None, 0))


def matmul(g, x):
    inputs, outputs = g.shape[-1], g.below(1, 5)
    turned = g.chance(0.2)
    weight = g.weight(outputs, inputs) if turned else g.weight(inputs, outputs)
    return g.add("MatMul", x, g.add("Transpose", weight, perm=g.one(None, [1, 0])) if turned else weight)


def batch_norm(g, x):
    c = g.shape[0]
    return g.add("BatchNormalization", x, g.weight(c), g.weight(c), g.weight(c), g.weight(c, low=0.5),
                 epsilon=g.one(None, 1e-3, 0.1), momentum=g.one(None, 0.8))


def norm(g, x):
    c, shape = g.shape[0], g.shape
    if numpy.prod(shape[1:]) == 1:
        return gemm(g, x) if len(shape) == 1 else conv(g, x)  # the norm of one number is 0 but for rounding
    op = g.one(*["LayerNormalization", "InstanceNormalization", "GroupNormalization"] * 4, "LRN", "LpNormalization",
               "MeanVarianceNormalization")
    if op == "LayerNormalization":
        axis = g.one(1, -len(shape), -1, 2)
        tail = ([ROWS] + shape)[axis:]
        return g.add(op, x, g.weight(*tail), *([g.weight(*tail)] if g.chance(0.7) else []), axis=axis, epsilon=g.one(None, 0.01))
    if op == "InstanceNormalization":
        return g.add(op, x, g.weight(c), g.weight(c), epsilon=g.one(None, 0.01))
    if op == "GroupNormalization":
        groups = g.one(*[k for k in range(1, c + 1) if c % k == 0])
        each = c if g.opset >= 21 else groups
        return g.add(op, x, g.weight(each), g.weight(each), num_groups=groups, epsilon=g.one(None, 0.01))
    return g.add(op, x, size=3) if op == "LRN" else g.add(op, x)


# ---- elements

def activation(g, x):
    known = ["Relu", "LeakyRelu", "PRelu", "Sigmoid", "Tanh", "Gelu", "HardSigmoid", "Clip", "Softmax", "silu", "gelu", "relu6",
             "HardSwish", "hard swish"]
    op = g.one(*known * 4, "Elu", "Selu", "Softplus", "Softsign", "Mish", "ThresholdedRelu", "Celu", "LogSoftmax")
    if op == "PRelu":
        c = g.shape[0]
        return g.add(op, x, g.weight(*g.one([1], [], [c] + [1] * (len(g.shape) - 1), g.shape[-1:])))
    if op == "Clip":
        low, high = g.one((0, 6), (-1, 1), (0, None), (None, 0.5), (-0.5, 2.5), (1, -1))
        if g.opset < 11:
            return g.add(op, x, min=None if low is None else float(low), max=None if high is None else float(high))
        return g.add(op, x, "" if low is None else g.number(low), *([] if high is None else [g.number(high)]))
    if op == "silu":
        return g.add("Mul", x, g.add("Sigmoid", x))
    if op == "gelu":
        return g.add("Mul", g.add("Mul", x, g.number(0.5)),
                     g.add("Add", g.add("Erf", g.add("Div", x, g.number(2 ** 0.5))), g.number(1)))
    if op in ("relu6", "hard swish"):
        y = g.add("Add", x, g.number(3)) if op == "hard swish" else x
        y = g.add("Clip", y, g.number(0), g.number(6)) if g.opset >= 11 else g.add("Clip", y, min=0.0, max=6.0)
        if op == "relu6":
            return y
        if g.chance(0.5):
            return g.add("Mul", x, g.add("Div", y, g.number(6)))
        return g.add("Div", g.add("Mul", *g.one((x, y), (y, x))), g.number(6))
    attributes = {}
    if op in ("LeakyRelu", "Elu", "HardSigmoid", "ThresholdedRelu", "Celu"):
        attributes["alpha"] = g.one(None, 0.3, 1.5, 1 / 6, 0.0 if op == "LeakyRelu" else 0.7)
    if op == "HardSigmoid":
        attributes["beta"] = g.one(None, 0.25)
    if op == "Gelu":
        attributes["approximate"] = g.one(None, "tanh", "none")
    if op in ("Softmax", "LogSoftmax"):
        attributes["axis"] = g.one(None, 1, -1, 2)
    return g.add(op, x, **attributes)


def function(g, x):
    return g.add(g.one(*["Neg"] * 4, "Exp", "Sqrt", "Erf", "Abs", "Sign", "Reciprocal", "Floor", "Sin", "Log"), x)


def arithmetic(g, x):
    op, s = g.one(*["Add", "Sub", "Mul", "Div"] * 4, "Pow", "Max", "Min"), g.shape
    shape = g.one([], [1], [1] * len(s), s[:1] + [1] * (len(s) - 1), [1] + s[:1] + [1] * (len(s) - 1), s[-1:], s, [1] + s,
                  [1] + s[1:], [ROWS] + [1] * len(s))
    if op == "Pow" and g.chance(0.8):
        return g.add(op, x, g.number(2.0))
    other = g.weight(*shape, low=g.one(None, 0.4) if op != "Div" else 0.4)
    return g.add(op, other, x) if g.chance(0.25) else g.add(op, x, other)


def wide(g, x):
    """Applies a function that bends far from 0 to values that reach there."""
    factor = g.one(10.0, 50.0, 300.0)
    y = g.add("Mul", x, g.number(factor))
    op = g.one("Clip", "Clip", "Clip", "Relu", "LeakyRelu", "HardSigmoid")
    if op == "Clip":
        low, high = g.one(*[(0, 20), (0, 100), (-100, 100), (-20, None), (None, 20)] * 3, (0, 3000), (-3000, 3000),
                          (0, 1e6))
        if g.opset < 11:
            y = g.add(op, y, min=None if low is None else float(low), max=None if high is None else float(high))
        else:
            y = g.add(op, y, "" if low is None else g.number(low), *([] if high is None else [g.number(high)]))
    elif op == "HardSigmoid":
        return g.add(op, y, alpha=g.one(0.05, 0.01), beta=0.5)
    else:
        y = g.add(op, g.add(g.one("Add", "Sub"), y, g.number(g.one(10, 40, 100))))
    # A softmax of large numbers would only show how each program rounds them.
    return g.add("Mul", y, g.number(1 / factor)) if g.chance(0.5) else g.add("Div", y, g.number(factor))


def computed(g, x):
    """Adds a constant that nodes convert and give more dimensions."""
    s = g.shape
    c = g.constant((g.random.normal(size=s[:1]) * 3).astype(numpy.float32))
    if g.chance(0.7):
        to = g.one(*[TensorProto.INT64, TensorProto.INT32, TensorProto.DOUBLE, TensorProto.BOOL] * 2, TensorProto.FLOAT16)
        c = g.add("Cast", g.add("Cast", c, to=to), to=TensorProto.FLOAT)
    if len(s) > 1:
        axes = g.one([-2, -1], [-1, -2], [1, 2], [2, 1], [0, 2, 3], [3, 0, 2], [2, -4, -1])
        c = g.add("Unsqueeze", c, g.integers(*axes)) if g.opset >= 13 else g.add("Unsqueeze", c, axes=axes)
    return g.add(g.one("Add", "Sub"), x, c)


def nothing(g, x):
    op = g.one("Identity", "Dropout", "Cast", "Cast")
    to = g.one(*[TensorProto.FLOAT] * 4, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.BOOL)
    y = g.add(op, x, to=to if op == "Cast" else None)
    return g.add("Cast", y, to=TensorProto.FLOAT) if op == "Cast" and to != TensorProto.FLOAT else y


# ---- shapes

def flatten(g, x):
    if g.chance(0.25):
        x = g.add("Transpose", x, perm=[0, 2, 3, 1])
        if g.chance(0.3):
            x = g.add("ReduceMean", x, axes=[1, 2], keepdims=g.one(None, 1)) if g.opset < 18 else x
    kind = g.one("Flatten", "Flatten", "Reshape", "Reshape", "shape", "Squeeze")
    if kind == "Flatten":
        return g.add("Flatten", x, axis=g.one(None, 1, 1, 1, -len(g.shape), -len(g.shape), 2))
    if kind == "Squeeze":
        axes = [2, 3] if g.chance(0.7) else [-1]
        return g.add("Squeeze", x, g.integers(*axes)) if g.opset >= 13 else g.add("Squeeze", x, axes=axes)
    if kind == "shape":
        n = g.add("Gather", g.add("Shape", x), g.integers(0), axis=0)
        return g.add("Reshape", x, g.add("Concat", n, g.integers(-1), axis=0))
    return g.add("Reshape", x, g.integers(*g.one(*[[0, -1], [-1, int(numpy.prod(g.shape))]] * 4, [ROWS, -1])))


def other_shape(g, x):
    if len(g.shape) == 1:
        sizes = g.one([-1, 1, 1], [1, -1, 1], [1, 1, -1], [2, -1, 1], [-1, 2, 2])
        return g.add("Reshape", x, g.integers(0, *sizes))
    c, h, w = g.shape
    kind = g.one("Transpose", "Reshape", *["Pad"] * 9, "Slice", "Resize", "DepthToSpace")
    if kind == "Transpose":
        return g.add(kind, x, perm=g.one([0, 2, 3, 1], [0, 1, 3, 2], [0, 2, 1, 3]))
    if kind == "Reshape":
        return g.add(kind, x, g.integers(0, *g.one([c, w, h], [h, w, c], [1, c * h, w], [c, h * w], [c, h, w], [c, h, w])))
    if kind == "Pad":
        pads = g.one([0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0, 2, 1], [0, 1, 0, 0, 0, 1, 0, 0], [0] * 8,
                     [0, 0, -1, 0, 0, 0, 0, 0])
        mode = g.one(None, "constant", "constant", "reflect", "edge", "wrap" if g.opset >= 19 else "edge")
        if g.opset < 11:
            y = g.add(kind, x, pads=pads, mode=mode, value=g.one(None, 0.0, 1.5))
        else:
            y = g.add(kind, x, g.integers(*pads), *([g.number(g.one(0, 0, 1.5))] if g.chance(0.5) else []), mode=mode)
        g.shape = g.shape_of(y)
        if g.chance(0.5):
            return g.add("Conv", y, g.weight(2, g.shape[0], 2, 2), strides=g.one(None, [2, 1]), dilations=g.one(None, [1, 2]))
        return g.one(conv, conv, conv, pool)(g, y) if g.chance(0.8) else y
    if kind == "Slice":
        return g.add(kind, x, g.integers(0), g.integers(2), g.integers(g.below(1, 3)))
    if kind == "Resize":
        return g.add(kind, x, "", g.constant(numpy.array([1, 1, 2, 2], numpy.float32)), mode="nearest")
    return g.add(kind, x, blocksize=2)


def shuffle(g, x):
    c, h, w = g.shape
    groups = g.one(*[k for k in range(1, c + 1) if c % k == 0])
    y = g.add("Reshape", x, g.integers(0, groups, g.one(-1, c // groups), h, w))
    if g.chance(0.9):
        y = g.add("Transpose", y, perm=g.one(*[[0, 2, 1, 3, 4]] * 8, [0, 1, 2, 4, 3]))
    return g.add("Reshape", y, g.integers(0, *g.one(*[[c, h, w], [-1, h, w]] * 4, [c, h * w])))


# ---- branches

def branches(g, x):
    def branch():
        y, kept = x, g.shape
        for _ in range(g.below(0, 2)):
            y = g.one(*(IMAGE if len(g.shape) == 3 else ROW), activation)(g, y)
            g.shape = g.shape_of(y)
        g.shape = kept
        return y
    a, b = branch(), branch()
    op = g.one(*["Add", "Concat", "Sum", "Mul"] * 4, "Sub", "Max")
    return g.add(op, a, b, axis=g.one(1, 1, 1, -len(g.shape), -1, 2) if op == "Concat" else None)


def squeeze_and_excite(g, x):
    """Multiplies the channels by factors, which convolutions or, as in many classifiers by PyTorch, linear layers compute."""
    c, y = g.shape[0], g.add("GlobalAveragePool", x)
    maps = g.one(c, c, c, c, 1)
    gate = g.one("Sigmoid", "HardSigmoid", "Tanh", "Relu")
    if g.chance(0.5):
        y = g.add("Relu", g.add("Conv", y, g.weight(2, c, 1, 1)))
        y = g.add(gate, g.add("Conv", y, g.weight(maps, 2, 1, 1)))
    else:
        y = g.add("Flatten", y) if g.chance(0.5) else g.add("Reshape", y, g.integers(0, g.one(-1, c)))
        y = g.add(gate, g.add("Gemm", g.add("Gemm", y, g.weight(c, 2), g.weight(2)), g.weight(2, maps), g.weight(maps)))
        if g.chance(0.7):
            y = g.add("Reshape", y, g.integers(g.one(0, -1), maps, 1, 1))
        else:
            y = g.add("Unsqueeze", y, g.integers(2, 3)) if g.opset >= 13 else g.add("Unsqueeze", y, axes=[2, 3])
    return g.add("Mul", *g.one((x, y), (y, x)))


IMAGE = [conv, conv, conv, pool, batch_norm]
ROW = [gemm, gemm, gemm, matmul, batch_norm]
MORE = [activation, activation, activation, arithmetic, arithmetic, norm, nothing, function, branches, branches, wide, wide,
        wide, computed]
ONLY_IMAGE = [conv_transpose, pool, global_pool, reduce, other_shape, other_shape, squeeze_and_excite, squeeze_and_excite,
              shuffle, shuffle]
ONLY_ROWS = [gemm, gemm, gemm, gemm, reduce, other_shape]


def shape_of(g, y):
    return list(g.answer(y).shape[1:])


Graph.shape_of = shape_of


def make(seed, number):
    """Returns a graph, its output and the answers, or None if they are of no use."""
    g = Graph(numpy.random.default_rng([seed, number]))
    x = g.begin()
    g.shape = list(g.answer(x).shape[1:]) if g.nodes else list(g.input)

    def walk(steps):
        nonlocal x
        image = len(g.shape) == 3
        pools = [IMAGE if image else ROW] * 2 + [MORE] + [ONLY_IMAGE if image else ONLY_ROWS]
        for _ in range(steps):
            kept = list(g.shape)
            got = g.try_step(x, g.one(*g.one(*pools)))
            g.shape = kept if got is None else got[1]
            x = x if got is None else got[0]

    walk(g.below(0, 3))
    if len(g.shape) == 3 and g.chance(0.95):
        kept = list(g.shape)
        got = g.try_step(x, flatten)
        x, g.shape = got if got is not None else (x, kept)
        if len(g.shape) != 1:
            x = g.add("Flatten", x)
            g.shape = shape_of(g, x)
    if len(g.shape) == 1:
        walk(g.below(0, 2))
        ending = g.one("none", "none", "Gemm", "Gemm", "Softmax", "Softmax", "LogSoftmax", "Sigmoid", "Tanh")
        if ending in ("Gemm", "Sigmoid", "Tanh") and g.chance(0.8):
            x = g.add("Gemm", x, g.weight(g.shape[0], 1)) if ending != "Gemm" else (g.try_step(x, gemm) or (x, 0))[0]
        if ending == "Gemm":
            pass
        elif ending != "none":
            x = g.add(ending, x, axis=g.one(None, 1, -1) if "max" in ending else None)
    if not any(node.op_type in TRAINED for node in g.nodes):
        return None
    y = g.answer(x)
    useful = numpy.isfinite(y).all() and 0.05 < numpy.abs(y).max() < 1e3 and y.dtype == numpy.float32
    return (g, x, y) if useful and y.size <= ROWS * 200 else None


def ending(g, y):
    """Returns the softmax over all outputs that only changes of shape follow, or "plain"."""
    last = [node for node in g.nodes if node.op_type in TRAINED or node.op_type not in SHAPES][-1]
    if last.op_type not in ("Softmax", "LogSoftmax"):
        return "plain"
    inner = g.answer(last.output[0])
    axis = next((a.i for a in last.attribute if a.name == "axis"), 1 if g.opset < 13 else -1)
    whole = inner.ndim == 2 or inner[0, 0].size == 1 or (g.opset < 13 and axis == 1)
    return last.op_type if whole else "plain"


def write(arguments, nodes):
    graph = helper.make_graph(nodes, f"seed {arguments.seed}", [], [])
    arguments.out.write_bytes(helper.make_model(graph).SerializeToString())


def add_outcomes(arguments, nodes):
    done = subprocess.run([arguments.test, "--gtest_filter=OnnxGraphs.*"], capture_output=True, text=True,
                          env={**os.environ, "MOKUME_ONNX_GRAPHS": str(arguments.out)})
    if done.returncode != 0:
        raise SystemExit(done.stdout[-3000:])
    refused = dict(re.findall(r"^graph (.*): (refused|a difference of)(?:: | )", done.stdout, re.MULTILINE))
    for node in nodes:
        what = "refused" if refused[node.name] == "refused" else "equal"
        node.attribute.append(helper.make_attribute("outcome", what))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--test", help="a test_cnn whose outcomes to store")
    parser.add_argument("--out", default=HERE.parent.parent / "tests/cnn/data/graphs.onnx", type=pathlib.Path)
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    nodes, number = [], 0
    while len(nodes) < arguments.count:
        number += 1
        try:
            made = make(arguments.seed, number)
        except Exception:  # ONNX Runtime refuses the graph, so it has no answers
            made = None
        if made is None:
            continue
        g, output, y = made
        model = g.model(output)
        name = f"{number} {' '.join(n.op_type for n in g.nodes)} {g.opset}"
        nodes.append(helper.make_node("Graph", [], [], name=name, model=model.SerializeToString(), y=y.flatten().tolist(),
                                      order=g.order, rows=ROWS, ends=ending(g, y)))
    write(arguments, nodes)
    if arguments.test is not None:
        add_outcomes(arguments, nodes)
        write(arguments, nodes)
    print(f"{len(nodes)} graphs, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
