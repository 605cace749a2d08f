#!/usr/bin/env python3
"""Simulates how far data-parallel training of the published networks pays, from measured step and reduction times.

    python3 bench/parallel/simulate.py [--results bench/results/parallel.json] [--gigabytes-per-s 0.125 1.25 12.5]
                                       [--message-us 2] [--out bench/results/parallel-simulated.json]

A device is two cores of this machine, and its step at batch 128 takes the time that cnn_bench measured. A sum among n
ranks takes

    sockets  a + 2 (n - 1) bytes / bandwidth, through rank 0
    mpi      a + 2 (n - 1) / n bytes / bandwidth + messages * time of a message, by owner slices

A line through the sums over sockets that parallel.py measured gives a. The bandwidth is that of a rank's link; the network
itself has no limit. Messages are those of the busiest rank in core/team/slices.cpp, with sums of 65,536 floats and slices
of 4,096 at least. Nothing overlaps, which is the worst case. Averages carry the optimizer's states, too.
"""
import argparse
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Maps each network to its number of parameters and its number of optimizer states.
NETWORKS = {"guide": (1_199_882, 2), "lightning": (260_298, 2)}
DEVICES = [2, 4, 8, 16, 32, 64, 256, 1000]
BUCKET, LEAST_SLICE = 65_536, 4096



def fit(rows):
    """Returns latency (s) and bytes per second of the reductions measured with 2 ranks."""
    points = [(2 * 4 * r["parameters"], r["mokume_reduction_ms"] / 1e3) for r in rows if r["ranks"] == 2]
    (x0, y0), (x1, y1) = min(points), max(points)
    per_byte = (y1 - y0) / (x1 - x0)
    return max(0.0, y0 - per_byte * x0), 1 / per_byte


def messages(n, parameters):
    """Returns the messages that the busiest of n ranks sends and receives for one sum of all parameters."""
    busiest = [0] * n
    for number in range(math.ceil(parameters / BUCKET)):
        count = min(BUCKET, parameters - number * BUCKET)
        owners = max(1, min(count // LEAST_SLICE, n))
        for k in range(n):
            owns = (k + n - number * owners % n) % n < owners
            others = owners - owns
            busiest[k] += 3 * others + 3 * (n - 1) * owns  # heads, parts and slices
    return max(busiest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=str(ROOT / "bench/results/parallel.json"))
    parser.add_argument("--rates", default="guide=3348,lightning=952", help="images a second at batch 128, measured")
    parser.add_argument("--gigabytes-per-s", type=float, nargs="*", default=[0.125, 1.25, 12.5])
    parser.add_argument("--message-us", type=float, default=2)
    parser.add_argument("--out")
    args = parser.parse_args()
    latency, _ = fit(json.loads(pathlib.Path(args.results).read_text())["reduce"])
    rates = dict(item.split("=") for item in args.rates.split(","))
    rows = []
    for bandwidth in [1e9 * g for g in args.gigabytes_per_s]:
        for name, (parameters, states) in NETWORKS.items():
            step = 128 / float(rates[name])
            for mode, period in [("synchronous", 1), ("averaged every 16", 16)]:
                floats = parameters * (1 if period == 1 else 1 + states)
                for road in ["sockets", "mpi"]:
                    speeds = []
                    for n in DEVICES:
                        if road == "sockets":
                            sums = latency + 2 * (n - 1) * 4 * floats / bandwidth
                        else:
                            sums = (latency + 2 * (n - 1) / n * 4 * floats / bandwidth +
                                    1e-6 * args.message_us * messages(n, floats))
                        speeds.append(n * period * step / (period * step + sums))
                    rows.append({"network": name, "mode": mode, "sums": road, "gb_per_s": bandwidth / 1e9,
                                 "speed": dict(zip(DEVICES, speeds))})
                    print(f"{name:10} {mode:18} {road:8} {bandwidth / 1e9:6.3f} GB/s  " +
                          "  ".join(f"{n}: {s:5.1f}" for n, s in zip(DEVICES, speeds)))
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"simulated": rows, "latency_s": latency}, indent=1) + "\n")


if __name__ == "__main__":
    main()
