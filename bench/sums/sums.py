#!/usr/bin/env python3
"""Measures sums of floats over ranks: by owner slices over MPI, in the star over sockets, MPI_Allreduce, and gloo.

    bench/sums/sums.py [--ranks 2 4 8] [--floats 100000 1000000 10000000] [--rate 1gbit] [--rounds 11]
                       [--alternations 3] [--python PYTHON] [--out bench/results/sums.json]

Without --rate, all ranks share this host. With it, each rank has a host of its own: a network namespace on a bridge, with
links of that rate in both directions (tc-tbf). This needs root. The ways alternate; each figure is the median of the
medians. The build directory needs the targets of the preset `release` with MOKUME_BUILD_BENCH.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WAYS = ["slices", "star", "allreduce", "gloo"]
NET = "10.78.0"


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


@contextlib.contextmanager
def hosts(n, rate):
    """Creates n network namespaces on a bridge, and returns their names."""
    names = [f"sums{n}-{k + 1}" for k in range(n)]  # the kernel removes old ones late
    limit = ["root", "tbf", "rate", rate, "burst", "256kb", "latency", "300ms"]
    try:
        run("ip", "link", "add", f"sums{n}", "type", "bridge")
        run("ip", "link", "set", f"sums{n}", "up")
        for k, name in enumerate(names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"p{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"p{name}", "master", f"sums{n}", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "addr", "add", f"{NET}.{k + 1}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("tc", "qdisc", "add", "dev", f"p{name}", *limit)
            run("tc", "-n", name, "qdisc", "add", "dev", "eth0", *limit)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", f"sums{n}"], capture_output=True)


def mpi_command(names, n, folder):
    command = ["mpirun", "-n", str(n), "--oversubscribe", "--bind-to", "none"]
    if not names:
        return command
    agent = pathlib.Path(folder, "agent")
    # Each host has a place of its own for the files of its daemon, whose names would clash.
    agent.write_text(f'#!/bin/sh\nhost=${{1##*.}}; shift\nmkdir -p {folder}/$host; export TMPDIR={folder}/$host\n'
                     f'exec ip netns exec sums{n}-$host sh -c "$*"\n')
    agent.chmod(0o755)
    return (["ip", "netns", "exec", names[0]] + command +
            ["--host", ",".join(f"{NET}.{k + 1}" for k in range(n)), "--mca", "plm_rsh_agent", str(agent), "--mca", "btl",
             "self,tcp", "--mca", "btl_tcp_if_include", f"{NET}.0/24", "--mca", "oob_tcp_if_include", f"{NET}.0/24"])


GLOO = """
import os, sys, time, torch, torch.distributed as dist
rank, ranks, floats, rounds = map(int, sys.argv[1:5])
torch.set_num_threads(1)
dist.init_process_group("gloo", rank=rank, world_size=ranks)
x = torch.full((floats,), float(rank + 1))
times = []
for k in range(rounds + 1):
    start = time.perf_counter()
    dist.all_reduce(x)
    times.append(time.perf_counter() - start)
if rank == 0:
    import json, statistics
    print(json.dumps({"ms": 1e3 * statistics.median(times[1:])}))
dist.destroy_process_group()
"""


def gloo(args, names, n, floats, folder):
    script = pathlib.Path(folder, "gloo.py")
    script.write_text(GLOO)
    address = f"{NET}.1" if names else "127.0.0.1"
    environment = dict(os.environ, MASTER_ADDR=address, MASTER_PORT="29511",
                       GLOO_SOCKET_IFNAME="eth0" if names else "lo", OMP_NUM_THREADS="1")
    children = []
    for k in range(n):
        inside = ["ip", "netns", "exec", names[k]] if names else []
        children.append(subprocess.Popen(inside + [args.python, str(script), str(k), str(n), str(floats), str(args.rounds)],
                                         env=environment, stdout=subprocess.PIPE, text=True))
    out = [child.communicate(timeout=600)[0] for child in children]
    return json.loads(out[0].strip().splitlines()[-1])["ms"]


def mpi(args, names, n, way, floats, folder):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    program = [str(pathlib.Path(args.build, "bin", "sums_bench").resolve()), way]
    if way == "allreduce":
        program = [args.python, str(ROOT / "bench/peers/allreduce_mpi4py.py")]
    out = subprocess.run(mpi_command(names, n, folder) + program + [str(floats), str(args.rounds)], env=environment,
                         stdout=subprocess.PIPE, text=True, timeout=600, check=True).stdout
    return json.loads(out.strip().splitlines()[-1])["ms"]


def measure(args, names, n, folder):
    rows = []
    for floats in args.floats:
        times = {way: [] for way in args.ways}
        for _ in range(args.alternations):
            for way in args.ways:
                times[way].append(gloo(args, names, n, floats, folder) if way == "gloo" else
                                  mpi(args, names, n, way, floats, folder))
        row = {"ranks": n, "floats": floats, "rate": args.rate or "one host",
               "ms": {way: statistics.median(t) for way, t in times.items()}}
        rows.append(row)
        print(f"{row['rate']:9} {n} ranks {floats:9} floats  " +
              "  ".join(f"{way} {ms:9.3f} ms" for way, ms in row["ms"].items()), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--floats", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--rate")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--alternations", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="a Python with mpi4py, numpy and PyTorch, for the peers")
    parser.add_argument("--out")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in args.ranks:
            with hosts(n, args.rate) if args.rate else contextlib.nullcontext([]) as names:
                rows += measure(args, names, n, folder)
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"sums": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
