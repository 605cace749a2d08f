"""Starts PyTorch processes on this machine that train together over gloo, and measures their steps."""
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def start(train, ranks, *arguments):
    """Calls train(rank, ranks, *arguments, port) in a process for each rank, or here for a single one."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    if ranks == 1:
        train(0, 1, *arguments, port)
    else:
        mp.spawn(train, (ranks, *arguments, port), nprocs=ranks)


def join(rank, ranks, port):
    """Gives the rank one thread on a core, and connects it with the others."""
    torch.set_num_threads(1)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.manual_seed(1)
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=ranks)


def seconds_per_step(step, ranks, seconds, warm, least):
    """Calls step(k) for k from 0, first `warm` and `least` times and then for about `seconds`, which count."""
    def run(steps):
        began = time.perf_counter()
        for k in range(steps):
            step(k)
        return (time.perf_counter() - began) / steps

    run(warm)
    # Every rank must run the same number of steps.
    steps = torch.tensor([max(least, int(seconds / run(least)))])
    if ranks > 1:
        dist.broadcast(steps, 0)
    return run(int(steps))


def leave(ranks):
    if ranks > 1:
        dist.barrier()
        os._exit(0)  # gloo's threads sometimes abort the process while it shuts down
