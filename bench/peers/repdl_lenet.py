#!/usr/bin/env python3
"""Trains LeNet-5 with reproducible numerics, in RepDL and in mokume, alternating.

    MOKUME_DATA=... python3 bench/peers/repdl_lenet.py --repdl DIR [--build build/release] [--rounds 3] [--steps 60]
                                                       [--devices host,opencl] [--json FILE]

DIR is a checkout of github.com/microsoft/RepDL whose extension for CPUs is built in place (bench/README.md says how).
RepDL trains the network of its example, with Adam and batches of 100 images of MNIST, for some steps after a warm-up.
mokume trains the same network, optimizer and batch with bench's cnn_bench, once with strict and once with fast numerics. Prints
images per second: the median of the rounds, and ratios to RepDL.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types

BATCH = 100
POOL = {"type": "max_pool2d", "kernel_size": 2, "stride": 0, "padding": 0}
LAYERS = [
    {"type": "conv2d", "out_channels": 6, "kernel_size": 5, "stride": 1, "padding": 2, "bias": True},
    {"type": "relu"},
    POOL,
    {"type": "conv2d", "out_channels": 16, "kernel_size": 5, "stride": 1, "padding": 0, "bias": True},
    {"type": "relu"},
    POOL,
    {"type": "flatten"},
    {"type": "linear", "out_features": 120, "bias": True},
    {"type": "relu"},
    {"type": "linear", "out_features": 84, "bias": True},
    {"type": "relu"},
    {"type": "linear", "out_features": 10, "bias": True},
]
OPTIMIZER = {"type": "adam", "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
NETWORK = {"input": [28, 28, 1], "layers": LAYERS, "optimizer": OPTIMIZER}


def network():
    from torch import nn
    return nn.Sequential(
        nn.Conv2d(1, 6, kernel_size=5, padding=2), nn.ReLU(), nn.MaxPool2d(kernel_size=2, stride=2),
        nn.Conv2d(6, 16, kernel_size=5), nn.ReLU(), nn.MaxPool2d(kernel_size=2, stride=2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


class RepDL:
    def __init__(self, directory, images):
        import torch
        sys.path.insert(0, directory)
        sys.modules["repdl.backend.cuda"] = types.ModuleType("repdl.backend.cuda")  # there is no card here
        import repdl
        from digits_torch import digits
        torch.manual_seed(0)
        self.repdl, self.model = repdl, repdl.from_torch_module(network())
        self.optimizer = repdl.optim.Adam(self.model.parameters(), lr=0.01)
        self.x, self.y = digits(images)

    def rate(self, steps):
        begin = time.perf_counter()
        for step in range(steps):
            first = step * BATCH % len(self.y)
            loss = self.repdl.nn.functional.cross_entropy(self.model(self.x[first:first + BATCH]),
                                                          self.y[first:first + BATCH])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return steps * BATCH / (time.perf_counter() - begin)


def mokume_rate(build, network_file, device, numerics):
    done = subprocess.run([os.path.join(build, "bin", "cnn_bench"), network_file, str(BATCH), "train", "2", device,
                           numerics], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["images_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repdl", required=True)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--devices", default="host,opencl")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    peer = RepDL(os.path.abspath(options.repdl), 6000)
    peer.rate(3)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(NETWORK, file)
        file.flush()
        runs = [(d, n) for d in options.devices.split(",") for n in ("strict", "fast")]
        rates = {"RepDL": [], **{f"mokume {d} {n}": [] for d, n in runs}}
        for _ in range(options.rounds):
            rates["RepDL"].append(peer.rate(options.steps))
            for d, n in runs:
                rates[f"mokume {d} {n}"].append(mokume_rate(options.build, file.name, d, n))
    base = statistics.median(rates["RepDL"])
    rows = [{"name": name, "images_per_s": round(statistics.median(values)),
             "ratio": round(statistics.median(values) / base, 1), "all": [round(v) for v in values]}
            for name, values in rates.items()]
    for row in rows:
        print(json.dumps(row))
    if options.json:
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "campaign"))
        from campaign import measured_here
        with open(options.json, "w") as file:
            command = f"bench/peers/repdl_lenet.py --rounds {options.rounds} --steps {options.steps}"
            json.dump({**measured_here(), "command": command, "results": rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
