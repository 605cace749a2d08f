#!/usr/bin/env python3
"""Measures predictions a second, alternating with ONNX Runtime and OpenVINO on the same cores.

    python3 bench/peers/inference.py [--bench build/release/bin/cnn_bench] [--batches 1,1000] [--seconds 2] [--rounds 3]
                                     [--devices host,opencl] [--out FILE]

The networks are guide, LeNet-5, ResNet-8 with batch norm, and ten linear layers of 512, all with random weights. Each
peer runs with one thread and with one for each core. The ratios are those of the median of each of our devices and that
of the fastest peer with its faster setting. Needs torch, onnx, onnxruntime and openvino.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime
import openvino
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "campaign"))
import campaign  # noqa: E402


class Block(nn.Module):
    """Adds two 3x3 convolutions to the connection around them."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.way = nn.Sequential(nn.Conv2d(channels, filters, 3, stride, 1, bias=False), nn.BatchNorm2d(filters),
                                 nn.ReLU(), nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters))
        self.around = nn.Identity() if channels == filters else nn.Sequential(
            nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        return torch.relu(self.way(x) + self.around(x))


def torch_networks():
    conv, relu, linear = nn.Conv2d, nn.ReLU, nn.Linear
    ten = [layer for _ in range(9) for layer in (linear(512, 512), relu())] + [linear(512, 10)]
    return {
        "guide": (nn.Sequential(conv(1, 32, 3), relu(), conv(32, 64, 3), relu(), nn.MaxPool2d(2), nn.Dropout(0.25),
                                nn.Flatten(), linear(9216, 128), relu(), nn.Dropout(0.5), linear(128, 10)),
                  (1, 28, 28)),
        "LeNet-5": (nn.Sequential(conv(1, 6, 5, padding=2), relu(), nn.MaxPool2d(2), conv(6, 16, 5), relu(),
                                  nn.MaxPool2d(2), nn.Flatten(), linear(400, 120), relu(), linear(120, 84), relu(),
                                  linear(84, 10)), (1, 28, 28)),
        "ResNet-8": (nn.Sequential(conv(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), relu(), Block(16, 16, 1),
                                   Block(16, 32, 2), Block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                   linear(64, 10)), (3, 32, 32)),
        "ten linear": (nn.Sequential(*ten), (512,)),
    }


def our_layers(name):
    def conv(filters, size, stride=1, padding=0, bias=True, **more):
        return {"type": "conv2d", "out_channels": filters, "kernel_size": size, "stride": stride, "padding": padding,
                "bias": bias} | more

    def linear(outputs):
        return {"type": "linear", "out_features": outputs, "bias": True}
    relu, flatten, pool = {"type": "relu"}, {"type": "flatten"}, {"type": "max_pool2d", "kernel_size": 2, "stride": 2,
                                                                  "padding": 0}
    if name == "guide":
        return [conv(32, 3), relu, conv(64, 3), relu, pool, {"type": "dropout", "p": 0.25}, flatten, linear(128), relu,
                {"type": "dropout", "p": 0.5}, linear(10)]
    if name == "LeNet-5":
        return [conv(6, 5, padding=2), relu, pool, conv(16, 5), relu, pool, flatten, linear(120), relu, linear(84),
                relu, linear(10)]
    if name == "ten linear":
        return [linear(512), relu] * 9 + [linear(10)]

    def norm(**more):
        return {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1} | more
    layers = [conv(16, 3, 1, 1, False), norm(), {"type": "relu", "name": "b0"}]
    before = "b0"
    for k, (filters, stride) in enumerate([(16, 1), (32, 2), (64, 2)]):
        layers += [conv(filters, 3, stride, 1, False, inputs=before), norm(), relu, conv(filters, 3, 1, 1, False),
                   norm(name=f"way{k}")]
        around = before
        if stride != 1:
            around = f"around{k}"
            layers += [conv(filters, 1, stride, 0, False, inputs=before), norm(name=around)]
        before = f"block{k}"
        layers += [{"type": "add", "inputs": f"way{k},{around}"}, {"type": "relu", "name": before}]
    return layers + [{"type": "adaptive_avg_pool2d", "output_size": 1}, flatten, linear(10)]


def our_rate(arguments, file, batch, device):
    done = subprocess.run([arguments.bench, file, str(batch), "infer", str(arguments.seconds), device], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["images_per_s"]


def rate(run, batch, seconds):
    for _ in range(5):
        run()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        run()
        count += batch
    return count / (time.perf_counter() - start)


def onnx_runtime(file, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda: session.run(None, {name: x})


def open_vino(file, x, threads):
    core = openvino.Core()
    model = core.read_model(file)
    model.reshape(list(x.shape))
    hint = "LATENCY" if len(x) == 1 else "THROUGHPUT"
    settings = {"PERFORMANCE_HINT": hint, "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
                "NUM_STREAMS": 1}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x))
    return request.infer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/cnn_bench")
    parser.add_argument("--batches", default="1,1000")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--devices", default="host,opencl")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    here = campaign.measured_here(arguments.out)
    cores = len(os.sched_getaffinity(0))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (network, shape) in torch_networks().items():
            file = os.path.join(folder, "network")
            with open(file + ".json", "w", encoding="utf-8") as out:
                sides = [shape[1], shape[2], shape[0]] if len(shape) == 3 else list(shape)
                json.dump({"input": sides, "layers": our_layers(name),
                           "optimizer": {"type": "sgd", "lr": 0.01, "momentum": 0.9, "weight_decay": 0}}, out)
            for batch in map(int, arguments.batches.split(",")):
                x = numpy.random.default_rng(1).random((batch, *shape), dtype=numpy.float32)
                torch.onnx.export(network.eval(), (torch.from_numpy(x),), file + ".onnx", dynamo=False)
                peers = {f"{title} {threads}": make(file + ".onnx", x, threads)
                         for title, make in [("ONNX Runtime", onnx_runtime), ("OpenVINO", open_vino)]
                         for threads in sorted({1, cores})}
                rates = {}
                for _ in range(arguments.rounds):
                    for device in arguments.devices.split(","):
                        rates.setdefault(device, []).append(our_rate(arguments, file + ".json", batch, device))
                    for title, run in peers.items():
                        rates.setdefault(title, []).append(rate(run, batch, arguments.seconds))
                medians = {title: statistics.median(all_) for title, all_ in rates.items()}
                best = max(medians[p] for p in peers)
                ratios = {device: round(medians[device] / best, 2) for device in arguments.devices.split(",")}
                found.append({"network": name, "batch": batch, "ratios": ratios,
                              "rows_per_s": {t: round(m) for t, m in medians.items()}})
                print(json.dumps(found[-1]), flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps({
            "what": "predicted rows a second, medians of alternating rounds", **here,
            "command": f"bench/peers/inference.py --batches {arguments.batches} --seconds {arguments.seconds:g} "
                       f"--rounds {arguments.rounds} --devices {arguments.devices}",
            "versions": f"ONNX Runtime {onnxruntime.__version__}, OpenVINO {openvino.__version__.partition('-')[0]}",
            "results": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
