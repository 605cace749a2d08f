#!/usr/bin/env python3
"""Measures the published networks in PyTorch, alternating with mokume's cnn_bench on the same cores.

    python3 bench/peers/cnn_torch.py [--bench build/release/bin/cnn_bench] [--rounds 5] [--seconds 6] [--out FILE]
                                     [guide:128:train lightning:128:train guide:1:infer 237,10,1350:5:train ...]
                                     [--study nn_params_12x12.csv [--gib 20]]

--study adds the smallest, the median and the largest network of the study that fits both sides, trained at batch 5 and
10. For networks N,KERNEL,HIDDEN, also prints the share of the floor that `cnn_bench ... floor` measures: the counted
streams of weights (forward reads them once; the update reads and writes weights and momentum), alternating with
training.

The work is train, infer, or epochs, which means whole epochs with data loading: PyTorch turns bytes into normalised
images in a DataLoader (with 0, 1 or 2 workers, whichever is fastest), and mokume copies all images to its device again.

Both sides have the same network, batch and generated images, which are otherwise resident. PyTorch uses all cores and
its fused optimizers where there are any. Figures are medians of the rounds and of the rounds' ratios. Needs torch.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import time

import torch
from torch import nn

IMAGES = 4096
DEFAULT_CASES = ["guide:128:train", "lightning:128:train", "guide:1:infer", "guide:1000:infer", "lightning:1:infer",
                 "lightning:1000:infer"]


class Residual(nn.Module):
    """The block of ResNet-8 in configs/cnn-resnet8.toml, with a convolution on the shortcut."""

    def __init__(self, before, channels, stride):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels),
                                  nn.ReLU(), nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
                                  nn.BatchNorm2d(channels))
        self.shortcut = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return nn.functional.relu(self.main(x) + self.shortcut(x))


def network(name):
    if name == "resnet8":
        net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                            Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2), nn.AdaptiveAvgPool2d(1),
                            nn.Flatten(), nn.Linear(64, 10))
        return net, lambda p: torch.optim.Adam(p, lr=1e-3, fused=True)
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
    if n == 0:
        net = nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        return net, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.1, fused=True)
    side = 29 - kernel
    net = nn.Sequential(nn.Conv2d(1, n, kernel), nn.ReLU(), nn.Flatten(), nn.Linear(n * side * side, hidden), nn.ReLU(),
                        nn.Linear(hidden, 10))
    return net, lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.1, fused=True)


def weights_of(name):
    """Returns the number of weights of a network of the study."""
    n, kernel, hidden = map(int, name.split(","))
    if n == 0:
        return 785 * hidden + (hidden + 1) * 10
    side = 29 - kernel
    return n * (kernel * kernel + 1) + (n * side * side + 1) * hidden + (hidden + 1) * 10


def study_cases(path, gib):
    """Returns cases that fit into memory, in which PyTorch stores weights, gradients and momentum."""
    with open(path) as f:
        names = {f"{r['n_conv_layer']},{r['kernel_size']},{r['n_hidden_layer']}" for r in csv.DictReader(f)}
    floor_bytes = 2e9  # memory of cnn_bench itself, in addition to the network
    fitting = sorted((name for name in names if 12 * weights_of(name) + floor_bytes <= gib * 2**30), key=weights_of)
    every = sorted(names, key=weights_of)
    chosen = [fitting[0], every[len(every) // 2], fitting[-1]]
    return [f"{name}:{batch}:train" for name in chosen for batch in (5, 10)]


def run_bench(bench, *arguments):
    # By default, PoCL rejects a network larger than a third of the memory.
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    environment = {"POCL_MEMORY_LIMIT": str(total), **os.environ}
    out = subprocess.run([bench, *arguments], check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(out)


class Bytes(torch.utils.data.Dataset):
    """Holds images as in a file, and normalises them one by one, like torchvision's transforms."""

    def __init__(self):
        self.images = torch.randint(0, 256, (IMAGES, 28, 28), dtype=torch.uint8)

    def __len__(self):
        return IMAGES

    def __getitem__(self, i):
        return self.images[i].unsqueeze(0).float().div(255).sub(0.1307).div(0.3081), i % 10


def torch_epochs(name, batch, seconds, workers):
    torch.manual_seed(1)
    net, optimizer_of = network(name)
    optimizer, loss_of = optimizer_of(net.parameters()), nn.CrossEntropyLoss()
    loader = torch.utils.data.DataLoader(Bytes(), batch, shuffle=True, num_workers=workers,
                                         persistent_workers=workers > 0)
    done, start, turn = 0, 0.0, 0
    while turn < 2 or time.perf_counter() - start < seconds:
        if turn == 1:
            done, start = 0, time.perf_counter()
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss_of(net(x), y).backward()
            optimizer.step()
            done += len(x)
        turn += 1
    return done / (time.perf_counter() - start)


def torch_rate(name, batch, what, seconds):
    if what == "epochs":
        return max(torch_epochs(name, batch, seconds, workers) for workers in (0, 1, 2))
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
    parser.add_argument("--study", help="nn_params_12x12.csv")
    parser.add_argument("--gib", type=float, default=20, help="memory of one side")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    cases = args.cases + (study_cases(args.study, args.gib) if args.study else [])
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    results = []
    for case in cases or DEFAULT_CASES:
        name, batch, what = case.split(":")
        counted = "," in name and what == "train"
        ours, theirs, floors = [], [], []
        for _ in range(args.rounds):
            ours.append(run_bench(args.bench, name, batch, what, str(args.seconds))["images_per_s"])
            if counted:
                floors.append(run_bench(args.bench, name, batch, "floor", str(args.seconds)))
            theirs.append(torch_rate(name, int(batch), what, args.seconds))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        result = {"case": case, "mokume": statistics.median(ours), "torch": statistics.median(theirs), "ratio": ratio,
                  "mokume_all": ours, "torch_all": theirs}
        share = ""
        if counted:
            shares = statistics.median(f["share"] for f in floors)
            result |= {"weights": weights_of(name), "share_of_floor": shares, "floors": floors}
            share = (f"  {shares:.0%} of the floor of {weights_of(name):,} weights at "
                     f"{statistics.median(f['read_gb_s'] for f in floors)} and "
                     f"{statistics.median(f['update_gb_s'] for f in floors)} GB/s")
        results.append(result)
        print(f"{case:28} mokume {statistics.median(ours):9.2f}  torch {torch.__version__} "
              f"{statistics.median(theirs):9.2f} images/s  ratio {ratio:.2f}{share}", flush=True)
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "results": results}, f, indent=1)


if __name__ == "__main__":
    main()
