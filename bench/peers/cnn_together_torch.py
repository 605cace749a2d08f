#!/usr/bin/env python3
"""Compares many small networks side by side in mokume with mokume and PyTorch one by one and torch.func's vmap.

    python3 bench/peers/cnn_together_torch.py [--bench build/release/bin/cnn_bench] [--rounds 5] [--seconds 4] [--out FILE]
                                              [--counts 8,32] [--batch 10] [0,0,100 4,5,32 ...]

The networks are those of cnn_torch.py, and the sides alternate. Rates count the images of all networks, or of one if
they run one by one. vmap takes the gradients of all networks' losses at once and updates stacked parameters in place;
each network has its own rows. Figures are medians of the rounds and of the rounds' ratios. Needs torch.
"""
import argparse
import json
import os
import statistics
import time

import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from cnn_torch import IMAGES, network, run_bench, torch_rate, weights_of

DEFAULT_NETWORKS = ["0,0,32", "0,0,100", "4,5,32", "8,7,20"]


def vmap_rate(name, batch, count, seconds):
    torch.manual_seed(1)
    nets = [network(name)[0] for _ in range(count)]
    stacked, _ = stack_module_state(nets)
    parameters = {key: value.detach().clone() for key, value in stacked.items()}
    momenta = {key: torch.zeros_like(value) for key, value in parameters.items()}
    x, y = torch.randn(IMAGES, 1, 28, 28), torch.arange(IMAGES) % 10

    def loss(own, images, labels):
        return torch.nn.functional.cross_entropy(functional_call(nets[0], own, (images,)), labels)

    gradients = vmap(grad(loss))

    def batches():
        while True:
            orders = torch.stack([torch.randperm(IMAGES) for _ in range(count)])
            for first in range(0, IMAGES - batch, batch):
                yield orders[:, first:first + batch]

    stream = batches()

    def step():
        rows = next(stream)
        found = gradients(parameters, x[rows], y[rows])
        torch._foreach_mul_(list(momenta.values()), 0.1)
        torch._foreach_add_(list(momenta.values()), [found[key] for key in momenta])
        torch._foreach_add_(list(parameters.values()), list(momenta.values()), alpha=-0.001)

    for _ in range(4):
        step()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        step()
        done += batch * count
    return done / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/bin/cnn_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--counts", default="8,32")
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--out")
    parser.add_argument("networks", nargs="*", default=DEFAULT_NETWORKS)
    args = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    counts = [int(c) for c in args.counts.split(",")]
    results = []
    for name in args.networks:
        rates = {}
        for _ in range(args.rounds):
            def add(key, rate):
                rates.setdefault(key, []).append(rate)
            def ours(what):
                return run_bench(args.bench, name, str(args.batch), what, str(args.seconds))["images_per_s"]
            add("one by one", ours("train"))
            add("torch one by one", torch_rate(name, args.batch, "train", args.seconds))
            for count in counts:
                add(f"together {count}", ours(f"together:{count}"))
                add(f"torch vmap {count}", vmap_rate(name, args.batch, count, args.seconds))
        def ratio(count, peer):
            return statistics.median(a / b for a, b in zip(rates[f"together {count}"], rates[peer]))
        result = {"network": name, "weights": weights_of(name), "batch": args.batch,
                  "images_per_s": {key: statistics.median(values) for key, values in rates.items()}, "all": rates}
        for count in counts:
            result[f"ratios {count}"] = {peer: ratio(count, peer)
                                         for peer in ("one by one", "torch one by one", f"torch vmap {count}")}
            print(f"{name:10} {weights_of(name):8,} weights, {count:2} together "
                  f"{result['images_per_s'][f'together {count}']:9.0f} images/s: "
                  + ", ".join(f"{value:.2f} x {peer} ({result['images_per_s'][peer]:.0f})"
                              for peer, value in result[f"ratios {count}"].items()), flush=True)
        results.append(result)
    if args.out:
        with open(args.out, "w") as f:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "results": results}, f, indent=1)


if __name__ == "__main__":
    main()
