#!/usr/bin/env python3
"""Measures a training step of a fully connected network with PyTorch's DistributedDataParallel over gloo.

    python3 bench/peers/ddp_torch.py HIDDEN RANKS SECONDS

Trains 784 - HIDDEN - 10 with Adam at batch 16 for each rank, on one thread each, with resident data. Rank 0 prints one
JSON line. bench/parallel/parallel.py calls this script.
"""
import json
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank, ranks, hidden, seconds, port):
    torch.set_num_threads(1)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
        net = nn.parallel.DistributedDataParallel(net)
    step = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)
    x, y = torch.randn(64, 16, 784), torch.randint(0, 10, (64, 16))

    def run(steps):
        start = time.perf_counter()
        for k in range(steps):
            step.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(net(x[k % 64]), y[k % 64]).backward()
            step.step()
        return (time.perf_counter() - start) / steps

    run(10)
    each = run(20)
    # Every rank must run the same number of steps.
    steps = torch.tensor([max(20, int(seconds / each))])
    if ranks > 1:
        dist.broadcast(steps, 0)
    each = run(int(steps))
    if rank == 0:
        print(json.dumps({"hidden": hidden, "ranks": ranks, "step_s": each}), flush=True)
    if ranks > 1:
        dist.barrier()
        os._exit(0)  # gloo's threads sometimes abort the process while it shuts down


def main():
    hidden, ranks, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    if ranks == 1:
        train(0, 1, hidden, seconds, port)
    else:
        mp.spawn(train, (ranks, hidden, seconds, port), nprocs=ranks)


if __name__ == "__main__":
    main()
