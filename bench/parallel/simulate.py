#!/usr/bin/env python3
"""Simulates how far data-parallel training of the published networks pays, from measured step and reduction times.

    python3 bench/parallel/simulate.py [--results bench/results/parallel.json]
                                       [--gigabytes-per-s 1.25 ...]

A device is two cores of this machine, and its step at batch 128 takes the time that cnn_bench measured. A reduction
among n ranks goes through rank 0 and takes a + 2 (n - 1) bytes / bandwidth. A line through the reductions that
parallel.py measured gives a and the bandwidth of this machine's memory; the bandwidths of networks are given. Nothing
overlaps, which is the worst case. Averages carry the optimizer's states, too.
"""
import argparse
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Maps each network to its number of parameters and its number of optimizer states.
NETWORKS = {"guide": (1_199_882, 2), "lightning": (260_298, 2)}
DEVICES = [2, 4, 8, 16, 32, 64]


def fit(rows):
    """Returns latency (s) and bytes per second of the reductions measured with 2 ranks."""
    points = [(2 * 4 * r["parameters"], r["mokume_reduction_ms"] / 1e3) for r in rows if r["ranks"] == 2]
    (x0, y0), (x1, y1) = min(points), max(points)
    per_byte = (y1 - y0) / (x1 - x0)
    return max(0.0, y0 - per_byte * x0), 1 / per_byte


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=str(ROOT / "bench/results/parallel.json"))
    parser.add_argument("--rates", default="guide=3348,lightning=952", help="images a second at batch 128, measured")
    parser.add_argument("--gigabytes-per-s", type=float, nargs="*", default=[1.25, 12.5])
    parser.add_argument("--out")
    args = parser.parse_args()
    latency, measured = fit(json.loads(pathlib.Path(args.results).read_text())["reduce"])
    rates = dict(item.split("=") for item in args.rates.split(","))
    rows = []
    for bandwidth in [measured] + [1e9 * g for g in args.gigabytes_per_s]:
        for name, (parameters, states) in NETWORKS.items():
            step = 128 / float(rates[name])
            for mode, period in [("synchronous", 1), ("averaged every 16", 16)]:
                vectors = 1 if period == 1 else 1 + states
                speeds = []
                for n in DEVICES:
                    reduction = latency + 2 * (n - 1) * 4 * parameters * vectors / bandwidth
                    speeds.append(n * period * step / (period * step + reduction))
                rows.append({"network": name, "mode": mode, "gb_per_s": bandwidth / 1e9,
                             "speed": dict(zip(DEVICES, speeds))})
                print(f"{name:10} {mode:18} {bandwidth / 1e9:6.2f} GB/s  " +
                      "  ".join(f"{n}: {s:5.1f} ({s / n:4.2f})" for n, s in zip(DEVICES, speeds)))
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"simulated": rows, "latency_s": latency}, indent=1) + "\n")


if __name__ == "__main__":
    main()
