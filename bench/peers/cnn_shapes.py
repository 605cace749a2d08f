#!/usr/bin/env python3
"""Measures training speed on convolutions of random shapes, alternating with PyTorch's best on the same cores.

    python3 bench/peers/cnn_shapes.py [--bench build/release/bin/cnn_bench] [--shapes 200] [--seed 1] [--first 0]
                                      [--seconds 1] [--rounds 1] [--out FILE] [--chart FILE.svg]

A network has a convolution of the drawn shape and a second one of the same window with stride 1, each with a relu, and
then the mean of the image and a linear layer. PyTorch runs eagerly with contiguous images and with channels last; the
faster one counts. The ratio of a shape is the median over the rounds. Only one side runs at a time. Needs torch; the
chart needs nothing more.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import tempfile
import time

import torch
from torch import nn

IMAGES = 512


def draw(generator):
    """Returns a shape whose step is neither trivial nor longer than the time of a case."""
    while True:
        s = {"channels": generator.choice([1, 3, 8, 16, 24, 32, 37, 48, 64, 75, 96, 128]),
             "filters": generator.choice([8, 16, 20, 24, 32, 37, 48, 64, 75, 96, 128]),
             "window": generator.choice([1, 2, 3, 3, 4, 5, 7]), "stride": generator.choice([1, 1, 2]),
             "side": generator.choice([7, 8, 12, 14, 16, 20, 28, 32, 48, 56, 64]),
             "batch": generator.choice([8, 16, 32, 64, 128])}
        s["padding"] = generator.choice([0, s["window"] // 2])
        out = (s["side"] + 2 * s["padding"] - s["window"]) // s["stride"] + 1
        again = out + 2 * s["padding"] - s["window"] + 1
        if out < 1 or again < 1:
            continue
        window = s["window"] ** 2
        products = s["batch"] * window * s["filters"] * (out ** 2 * s["channels"] + again ** 2 * s["filters"])
        if 1e7 < products < 3e9:
            return s | {"products": products}


def name_of(s):
    return (f"{s['channels']}x{s['side']}x{s['side']} {s['window']}x{s['window']}"
            f"{'' if s['stride'] == 1 else '/2'}{'p' if s['padding'] else ''} {s['filters']}, batch {s['batch']}")


def layers_of(s):
    def conv(stride):
        return [{"type": "conv2d", "out_channels": s["filters"], "kernel_size": s["window"], "stride": stride,
                 "padding": s["padding"], "bias": True}, {"type": "relu"}]
    return conv(s["stride"]) + conv(1) + [{"type": "adaptive_avg_pool2d", "output_size": 1}, {"type": "flatten"},
                                          {"type": "linear", "out_features": 10, "bias": True}]


def our_rate(bench, s, seconds):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"input": [s["side"], s["side"], s["channels"]], "layers": layers_of(s),
                   "optimizer": {"type": "sgd", "lr": 0.001, "momentum": 0.9, "weight_decay": 0.0}}, f)
        f.flush()
        out = subprocess.run([bench, f.name, str(s["batch"]), "train", str(seconds)], check=True, capture_output=True,
                             text=True).stdout
    return json.loads(out)["images_per_s"]


def torch_rate(s, seconds, channels_last):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(s["channels"], s["filters"], s["window"], s["stride"], s["padding"]), nn.ReLU(),
                        nn.Conv2d(s["filters"], s["filters"], s["window"], 1, s["padding"]), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(s["filters"], 10))
    x = torch.randn(IMAGES, s["channels"], s["side"], s["side"])
    if channels_last:
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    y = torch.arange(IMAGES) % 10
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9, fused=True)
    loss_of = nn.CrossEntropyLoss()
    done, start, warm = 0, time.perf_counter(), seconds / 2
    warming = True
    while True:
        rows = torch.randint(0, IMAGES, (s["batch"],))
        optimizer.zero_grad(set_to_none=True)
        loss_of(net(x[rows]), y[rows]).backward()
        optimizer.step()
        done += s["batch"]
        now = time.perf_counter()
        if warming and now - start > warm:
            warming, done, start = False, 0, now
        elif not warming and now - start > seconds:
            return done / (now - start)


def chart(results):
    """Draws the ratios in ascending order, on a logarithmic scale."""
    ratios = sorted(r["ratio"] for r in results)
    width, height, left, top = 720, 300, 60, 20
    low, high = math.log2(min(0.5, ratios[0])), math.log2(max(4, ratios[-1]))

    def y(ratio):
        return top + height * (high - math.log2(ratio)) / (high - low)
    lines = []
    for tick in (0.25, 0.5, 1, 1.5, 2, 4, 8, 16):
        if low <= math.log2(tick) <= high:
            lines.append(f'<line x1="{left}" x2="{left + width}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
                         f'stroke="{"#444" if tick == 1 else "#ccc"}"/>'
                         f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, ratio in enumerate(ratios):
        x = left + width * (i + 0.5) / len(ratios)
        lines.append(f'<circle cx="{x:.1f}" cy="{y(ratio):.1f}" r="2.5" fill="{"#2a6f97" if ratio >= 1 else "#c44536"}"/>')
    share = sum(r >= 1 for r in ratios) / len(ratios)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {top + height + 50}" '
            f'font-family="sans-serif" font-size="12">{"".join(lines)}'
            f'<text x="{left}" y="{top + height + 32}">{len(ratios)} random convolutions, in ascending order: times '
            f'PyTorch\'s best; median {statistics.median(ratios):.2f}, {share:.0%} at 1 or above</text></svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/bin/cnn_bench")
    parser.add_argument("--shapes", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="skip the shapes before this one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--out")
    parser.add_argument("--chart")
    args = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    generator = random.Random(args.seed)
    shapes = [draw(generator) for _ in range(args.shapes)][args.first:]
    results = []
    for s in shapes:
        ours, theirs, ratios = [], [], []
        for _ in range(args.rounds):
            ours.append(our_rate(args.bench, s, args.seconds))
            theirs.append(max(torch_rate(s, args.seconds, last) for last in (False, True)))
            ratios.append(ours[-1] / theirs[-1])
        results.append({"shape": name_of(s), **s, "mokume": statistics.median(ours),
                        "torch": statistics.median(theirs), "ratio": statistics.median(ratios)})
        print(f"{results[-1]['ratio']:6.2f}  {name_of(s)}  ({6e-9 * s['products'] * results[-1]['mokume'] / s['batch']:.0f} "
              "GFLOP/s)", flush=True)
    ratios = sorted(r["ratio"] for r in results)
    print(f"median {statistics.median(ratios):.2f}, {sum(r < 1 for r in ratios)} of {len(ratios)} below 1, "
          f"lowest {ratios[0]:.2f}")
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"torch": torch.__version__, "threads": threads, "seed": args.seed, "results": results}, f,
                      indent=1)
    if args.chart:
        with open(args.chart, "w") as f:
            f.write(chart(results))


if __name__ == "__main__":
    main()
