#!/usr/bin/env python3
"""Images a second of the published networks with PyTorch, by turns with mokume's cnn_bench on the same cores.

    python3 bench/peers/cnn_torch.py [--bench build/release/bin/cnn_bench] [--rounds 5] [--seconds 6] [--out FILE]
                                     [guide:128:train lightning:128:train guide:1:infer 237,10,1350:5:train ...]

Same network, batch and made images on both sides, data resident; PyTorch with all cores and its fused optimizers where
there are any; medians of the rounds and of the rounds' ratios. Needs torch.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
from torch import nn

IMAGES = 4096


def network(name):
    if name == "guide":
        net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5),
                            nn.Linear(128, 10))
        return net, lambda p: torch.optim.Adadelta(p, lr=1.0, foreach=True)
    if name == "lightning":
        net = nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                            nn.MaxPool2d(2), nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(),
                            nn.Conv2d(128, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Dropout(0.5),
                            nn.Flatten(), nn.Linear(128, 10))
        return net, lambda p: torch.optim.Adam(p, lr=1e-3, fused=True)
    n, kernel, hidden = map(int, name.split(","))
    side = 29 - kernel
    net = nn.Sequential(nn.Conv2d(1, n, kernel), nn.ReLU(), nn.Flatten(), nn.Linear(n * side * side, hidden), nn.ReLU(),
                        nn.Linear(hidden, 10))
    return net, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.1, fused=True)


def torch_rate(name, batch, what, seconds):
    torch.manual_seed(1)
    net, optimizer_of = network(name)
    x = torch.randn(IMAGES, 1, 28, 28)
    y = torch.arange(IMAGES) % 10
    if what == "infer":
        net.eval()
        with torch.inference_mode():
            done, start = 0, 0.0
            turn = 0
            while turn < 4 or time.perf_counter() - start < seconds:
                if turn == 3:
                    done, start = 0, time.perf_counter()
                net(x[:batch])
                done += batch
                turn += 1
            return done / (time.perf_counter() - start)
    optimizer = optimizer_of(net.parameters())
    loss_of = nn.CrossEntropyLoss()

    def epoch():
        order = torch.randperm(IMAGES)
        for first in range(0, IMAGES, batch):
            rows = order[first:first + batch]
            optimizer.zero_grad(set_to_none=True)
            loss_of(net(x[rows]), y[rows]).backward()
            optimizer.step()
            yield len(rows)

    def batches():
        while True:
            yield from epoch()

    stream = batches()
    for _ in range(4):
        next(stream)
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        done += next(stream)
    return done / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/bin/cnn_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--out")
    parser.add_argument("cases", nargs="*", default=["guide:128:train", "lightning:128:train", "guide:1:infer",
                                                     "guide:1000:infer", "lightning:1:infer", "lightning:1000:infer"])
    args = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    results = []
    for case in args.cases:
        name, batch, what = case.split(":")
        ours, theirs = [], []
        for _ in range(args.rounds):
            out = subprocess.run([args.bench, name, batch, what, str(args.seconds)], check=True, capture_output=True,
                                 text=True).stdout
            ours.append(json.loads(out)["images_per_s"])
            theirs.append(torch_rate(name, int(batch), what, args.seconds))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        results.append({"case": case, "mokume": statistics.median(ours), "torch": statistics.median(theirs),
                        "ratio": ratio, "mokume_all": ours, "torch_all": theirs})
        print(f"{case:28} mokume {statistics.median(ours):9.1f}  torch {torch.__version__} "
              f"{statistics.median(theirs):9.1f} images/s  ratio {ratio:.2f}", flush=True)
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "results": results}, f, indent=1)


if __name__ == "__main__":
    main()
