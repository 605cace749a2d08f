#!/usr/bin/env python3
"""Imports the networks that the onnx package carries for its own tests, and writes the tables of docs/reference/onnx.md.

    python3 bench/peers/onnx_wheel.py [--test build/release/bin/test_cnn]

The nine famous networks come without weights, so they get random ones, and lose a last Softmax, which would hide
differences. The networks of one operator keep their own weights, and a Gemm follows that makes rows of their images. The
test OnnxGraphs of tests/cnn imports each network and compares the answers for random rows with those of ONNX Runtime, or of
onnx itself for older operator sets. Each must agree within 1e-4 of the largest answer, or be refused by the name of an
operator or attribute. Needs onnx and onnxruntime, 8 GB of memory and some minutes.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnx_graphs import rows_of

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
MOST = 1e-4


def with_weights(model, random):
    """Replaces ConstantOfShape by random weights that keep the size of values through the layers."""
    graph = model.graph
    shapes = {w.name: numpy_helper.to_array(w) for w in graph.initializer}
    uses = {name: (node.op_type, k) for node in graph.node for k, name in enumerate(node.input)}
    kept = []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = tuple(int(v) for v in shapes[node.input[0]])
        inputs = max(1, int(numpy.prod(shape[1:])))
        op, place = uses[node.output[0]]
        values = random.normal(size=shape) * (2 / inputs) ** 0.5 if len(shape) > 1 else random.normal(size=shape) * 0.1
        if len(shape) == 1 and (op, place) in (("BatchNormalization", 1), ("BatchNormalization", 4), ("Unsqueeze", 0)):
            values = 0.8 + 0.4 * random.random(shape)
        graph.initializer.append(numpy_helper.from_array(values.astype(numpy.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    if graph.node[-1].op_type == "Softmax":
        graph.output[0].name = graph.node[-1].input[0]
        del graph.node[-1]
    return model


def answers(model):
    """Returns the rows of the only input, and what ONNX Runtime answers, or why there are none."""
    weights = {w.name for w in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    if len(inputs) != 1:
        return None, f"{len(inputs)} inputs"
    shape = [d.dim_value for d in inputs[0].type.tensor_type.shape.dim]
    if inputs[0].type.tensor_type.elem_type != onnx.TensorProto.FLOAT or not shape or 0 in shape:
        return None, "an input that is not rows of floats"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    rows = {inputs[0].name: rows_of(shape[1:], shape[0])}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return shape[0], session.run(None, rows)[0]
    except Exception:
        pass
    try:
        return shape[0], ReferenceEvaluator(model).run(None, rows)[0]
    except Exception as error:
        return None, str(error)


def with_gemm(model, random):
    """Adds Flatten and a Gemm with two outputs, so that networks of one operator answer rows, and have something to train."""
    rows, y = answers(model)
    if rows is None or numpy.ndim(y) < 2 or numpy.asarray(y).dtype != numpy.float32 or len(model.graph.output) != 1:
        return model
    graph, last = model.graph, model.graph.output[0].name
    if graph.node[-1].op_type == "Gemm":
        return model
    weight = (random.normal(size=(int(numpy.prod(y.shape[1:])), 2)) * 0.3).astype(numpy.float32)
    graph.initializer.append(numpy_helper.from_array(weight, "gemm_weight"))
    graph.initializer.append(numpy_helper.from_array(numpy.zeros(2, numpy.float32), "gemm_bias"))
    if y.ndim > 2:
        graph.node.append(helper.make_node("Flatten", [last], ["flat"], axis=1))
    graph.node.append(helper.make_node("Gemm", ["flat" if y.ndim > 2 else last, "gemm_weight", "gemm_bias"], ["answer"]))
    if model.opset_import[0].version < 7:
        graph.node[-1].attribute.append(helper.make_attribute("broadcast", 1))
    if model.ir_version < 4:
        for w in graph.initializer[-2:]:
            graph.input.append(helper.make_tensor_value_info(w.name, w.data_type, list(w.dims)))
    graph.output[0].CopyFrom(helper.make_tensor_value_info("answer", onnx.TensorProto.FLOAT, [y.shape[0], 2]))
    return model


def outcome(test, name, model, place):
    rows, y = answers(model)
    if rows is None or numpy.asarray(y).dtype != numpy.float32:
        # Without answers, only a refusal is right.
        rows, y = 1, numpy.full(1, numpy.nan, numpy.float32)
    case = helper.make_node("Graph", [], [], name=name, model=model.SerializeToString(), y=numpy.ravel(y).tolist(), order="nchw",
                            ends=ending(model), rows=rows)
    path = place / "case.onnx"
    path.write_bytes(helper.make_model(helper.make_graph([case], "wheel", [], [])).SerializeToString())
    done = subprocess.run([test, "--gtest_filter=OnnxGraphs.*"], env={**os.environ, "MOKUME_ONNX_GRAPHS": str(path)},
                          capture_output=True, text=True)
    refused = re.search(r": refused: .*?\.onnx: (.*)", done.stdout)
    if refused:
        return "refused", refused[1]
    off = re.search(r": a difference of (\S+)", done.stdout)
    if off is None:
        return "wrong", done.stdout[-300:]
    return ("equal" if float(off[1]) <= MOST else "wrong"), float(off[1])


def ending(model):
    last = model.graph.node[-1].op_type
    return last if last in ("Softmax", "LogSoftmax") else "plain"


def reason(text):
    """Returns "LRN" or "Transpose: transposes what mokume keeps in one order"."""
    found = re.match(r"(?:the node '.*?'|a node) \((\w+)\) (.*)", text)
    if found is None:
        return re.sub(r"'.*?' |, and .*|: export.*", "", text)
    why = re.sub(r"; supported are.*|: (export|convert|call).*|, (which|and) .*", "", found[2])
    return found[1] if "has no equivalent" in why else f"{found[1]} {why}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test", default="build/release/bin/test_cnn")
    arguments = parser.parse_args()
    random = numpy.random.default_rng(1)
    onnxruntime.set_default_logger_severity(4)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        print("| network | result |\n|---|---|")
        for path in sorted(DATA.glob("light/*.onnx")):
            name = path.stem.removeprefix("light_")
            kind, what = outcome(arguments.test, name, with_weights(onnx.load(path), random), place)
            print(f"| {name} | {f'equal: the largest difference is {what:.1g}' if kind == 'equal' else f'{kind}: {reason(what)}'} |",
                  flush=True)
            wrong += [name] if kind == "wrong" else []
        groups = collections.defaultdict(list)
        for path in sorted(DATA.glob("*/test_*/model.onnx")):
            name = path.parent.name.removeprefix("test_")
            kind, what = outcome(arguments.test, name, with_gemm(onnx.load(path), random), place)
            groups["equal" if kind == "equal" else f"{kind}: {reason(str(what))}"].append(name)
            wrong += [name] if kind == "wrong" else []
    print("\n| result | networks |\n|---|---|")
    for group, names in sorted(groups.items(), key=lambda item: (item[0] != "equal", -len(item[1]), item[0])):
        print(f"| {group} ({len(names)}) | {', '.join(names)} |")
    if wrong:
        sys.exit(f"wrong: {' '.join(wrong)}")


if __name__ == "__main__":
    main()
