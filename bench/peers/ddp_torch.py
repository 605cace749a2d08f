#!/usr/bin/env python3
"""Measures a training step of a fully connected network with PyTorch's DistributedDataParallel over gloo.

    python3 bench/peers/ddp_torch.py HIDDEN RANKS SECONDS

Trains 784 - HIDDEN - 10 with Adam at batch 16 for each rank, on one thread each, with resident data. Rank 0 prints one
JSON line. bench/parallel/parallel.py calls this script.
"""
import json
import sys

import torch
from torch import nn

import torch_ranks


def train(rank, ranks, hidden, seconds, port):
    torch_ranks.join(rank, ranks, port)
    net = nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    if ranks > 1:
        net = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)
    x, y = torch.randn(64, 16, 784), torch.randint(0, 10, (64, 16))

    def step(k):
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(x[k % 64]), y[k % 64]).backward()
        optimizer.step()

    each = torch_ranks.seconds_per_step(step, ranks, seconds, 10, 20)
    if rank == 0:
        print(json.dumps({"hidden": hidden, "ranks": ranks, "step_s": each}), flush=True)
    torch_ranks.leave(ranks)


if __name__ == "__main__":
    torch_ranks.start(train, int(sys.argv[2]), int(sys.argv[1]), float(sys.argv[3]))
