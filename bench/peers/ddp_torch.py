#!/usr/bin/env python3
"""Measures a training step with PyTorch's DistributedDataParallel over gloo.

    python3 bench/peers/ddp_torch.py NETWORK RANKS SECONDS BATCH

Trains a network of cnn_torch.py, or 784 - NETWORK - 10 if it is a number, with Adam at BATCH images for each rank, on one
thread each, with resident data. Rank 0 prints one JSON line. bench/parallel/parallel.py calls this script.
"""
import json
import sys

import torch
from torch import nn

import cnn_torch
import torch_ranks


def train(rank, ranks, name, seconds, batch, port):
    torch_ranks.join(rank, ranks, port)
    net, _ = cnn_torch.network(f"0,0,{name}" if name.isdigit() else name)
    if ranks > 1:
        net = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)
    batches = 64 if batch < 64 else 8
    x, y = torch.randn(batches, batch, 1, 28, 28), torch.randint(0, 10, (batches, batch))

    def step(k):
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(x[k % batches]), y[k % batches]).backward()
        optimizer.step()

    each = torch_ranks.seconds_per_step(step, ranks, seconds, 10 if batch < 64 else 2, 20 if batch < 64 else 4)
    if rank == 0:
        print(json.dumps({"network": name, "ranks": ranks, "step_s": each, "images_per_s": batch * ranks / each}),
              flush=True)
    torch_ranks.leave(ranks)


if __name__ == "__main__":
    torch_ranks.start(train, int(sys.argv[2]), sys.argv[1], float(sys.argv[3]), int(sys.argv[4]))
