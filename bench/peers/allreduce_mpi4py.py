#!/usr/bin/env python3
"""Measures MPI_Allreduce of floats, for bench/sums/sums.py. Rank 0 prints the median time as a JSON line.

    mpirun -n RANKS bench/peers/allreduce_mpi4py.py FLOATS ROUNDS        (needs mpi4py and numpy)
"""
import json
import statistics
import sys
import time

import numpy
from mpi4py import MPI

floats, rounds = int(sys.argv[1]), int(sys.argv[2])
world = MPI.COMM_WORLD
values = numpy.full(floats, world.rank + 1, numpy.float32)
sums = numpy.empty_like(values)
times = []
for _ in range(rounds + 1):
    start = time.perf_counter()
    world.Allreduce(values, sums)
    times.append(time.perf_counter() - start)
if world.rank == 0:
    print(json.dumps({"what": "allreduce", "ranks": world.size, "floats": floats, "ms": 1e3 * statistics.median(times[1:])}))
