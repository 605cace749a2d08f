#!/usr/bin/env python3
"""Measures fits of the study's networks on real digits, in the whole program and in a loop in PyTorch.

    MOKUME_DATA=... python3 bench/peers/digits_torch.py [--mokume build/release/bin/mokume] [--rounds 3]
                                                        [N,KERNEL,HIDDEN:IMAGES ...]

Runs configs/cnn-study-mnist.toml on the first IMAGES rows, one epoch at batch 10, and the same network, optimizer,
images and batch in PyTorch with all cores, once unchanged and once with torch.set_flush_denormal(True). Generated
images of noise leave no unit idle for long, but real ones do, and the values of idle units become subnormal. mokume's
time is that of the whole fit with its start and its validation on a quarter as many additional images; PyTorch's is
that of training alone.
"""
import argparse
import csv
import glob
import gzip
import os
import statistics
import subprocess
import tempfile
import time

import numpy
import torch
from cnn_torch import network
from torch import nn

BATCH, SHARE = 10, 0.2


def digits(images):
    directory = os.path.join(os.environ["MOKUME_DATA"], "mnist")
    with gzip.open(os.path.join(directory, "train-images-idx3-ubyte.gz")) as f:
        pixels = numpy.frombuffer(f.read(16 + images * 784)[16:], numpy.uint8).reshape(images, 1, 28, 28)
    with gzip.open(os.path.join(directory, "train-labels-idx1-ubyte.gz")) as f:
        labels = numpy.frombuffer(f.read(8 + images)[8:], numpy.uint8)
    return torch.from_numpy((pixels.astype(numpy.float32) - 127.5) / 73.61), torch.from_numpy(labels.astype(numpy.int64))


def torch_rate(name, images, flush):
    torch.manual_seed(1)
    torch.set_flush_denormal(flush)
    net, _ = network(name)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.005, momentum=0.1, fused=True)
    loss_of = nn.CrossEntropyLoss()
    x, y = digits(images)
    order = torch.randperm(images)
    start = time.perf_counter()
    for first in range(0, images, BATCH):
        rows = order[first:first + BATCH]
        optimizer.zero_grad(set_to_none=True)
        loss_of(net(x[rows]), y[rows]).backward()
        optimizer.step()
    return images / (time.perf_counter() - start)


def mokume_rate(program, name, images):
    n, kernel, hidden = name.split(",")
    with tempfile.TemporaryDirectory() as out:
        settings = {"search.params.n_conv_layer": f"[{n}]", "search.params.kernel_size": f"[{kernel}]",
                    "search.params.n_hidden_layer": f"[{hidden}]", "model_options.epochs": "1",
                    "validation.share": str(SHARE), "data.limit": str(round(images / (1 - SHARE)))}
        subprocess.run([program, "run", "configs/cnn-study-mnist.toml", "--devices", "pocl", "--out", out, "--set",
                        *(f"{key}={value}" for key, value in settings.items())], check=True, capture_output=True)
        with open(glob.glob(f"{out}/*/*/timeline.csv")[0]) as f:
            fit = next(csv.DictReader(f))
    return images / (float(fit["end_s"]) - float(fit["start_s"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mokume", default="build/release/bin/mokume")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("cases", nargs="*", default=["13,8,227:6000", "100,5,128:3000", "690,10,903:1000"])
    args = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    for case in args.cases:
        name, images = case.split(":")
        rounds = [(mokume_rate(args.mokume, name, int(images)), torch_rate(name, int(images), False),
                   torch_rate(name, int(images), True)) for _ in range(args.rounds)]
        ours, plain, flushed = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:12} mokume {ours:9.1f}  torch {plain:9.1f}, with set_flush_denormal {flushed:9.1f} images/s  "
              f"ratios {statistics.median(a / b for a, b, _ in rounds):.2f} and "
              f"{statistics.median(a / c for a, _, c in rounds):.2f}", flush=True)


if __name__ == "__main__":
    main()
