#!/usr/bin/env python3
"""Measures training with PyTorch's pipeline parallelism (torch.distributed.pipelining, 1F1B) over gloo.

    python3 bench/peers/pipeline_torch.py NETWORK RANKS SECONDS

NETWORK is "lightning" (configs/cnn-lightning-mnist.toml) or "wide" (784 - 2000 - 2000 - 2000 - 10). Trains with Adam at
batch 128 in 8 micro-batches, on one thread for each rank, with resident data. With one rank, accumulates the gradients
of the micro-batches. Rank 0 prints one JSON line. bench/parallel/parallel.py calls this script.
"""
import json
import sys

import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import torch_ranks

BATCH, SHARDS = 128, 8


def layers_of(network):
    """Returns the halves of the network, which mokume's rule for cuts chooses for two equal devices."""
    if network == "wide":
        return [[nn.Flatten(), nn.Linear(784, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU()],
                [nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 10)]]
    return [[nn.Conv2d(1, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)],
            [nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.Conv2d(128, 128, 3, padding=1), nn.ReLU(),
             nn.AdaptiveAvgPool2d(1), nn.Dropout(0.5), nn.Flatten(), nn.Linear(128, 10)]]


def train(rank, ranks, network, seconds, port):
    torch_ranks.join(rank, ranks, port)
    halves = layers_of(network)
    x, y = torch.randn(8, BATCH, 1, 28, 28), torch.randint(0, 10, (8, BATCH))
    net = nn.Sequential(*(halves[0] + halves[1] if ranks == 1 else halves[rank]))
    if ranks > 1:
        stage = PipelineStage(net, rank, ranks, torch.device("cpu"))
        schedule = Schedule1F1B(stage, SHARDS, nn.functional.cross_entropy)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)

    def accumulate(k):
        for images, labels in zip(x[k % 8].chunk(SHARDS), y[k % 8].chunk(SHARDS)):
            (nn.functional.cross_entropy(net(images), labels) / SHARDS).backward()

    def step(k):
        optimizer.zero_grad(set_to_none=True)
        if ranks == 1:
            accumulate(k)
        elif rank == 0:
            schedule.step(x[k % 8])
        else:
            schedule.step(target=y[k % 8])
        optimizer.step()

    each = torch_ranks.seconds_per_step(step, ranks, seconds, 3, 5)
    if rank == 0:
        print(json.dumps({"network": network, "ranks": ranks, "images_per_s": BATCH / each}), flush=True)
    torch_ranks.leave(ranks)


if __name__ == "__main__":
    torch_ranks.start(train, int(sys.argv[2]), sys.argv[1], float(sys.argv[3]))
